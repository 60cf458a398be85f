package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/fleet"
)

// The environment of a worker; the values come from Secrets.
const (
	workerTokenEnv = "PERFSWEEP_WORKER_TOKEN"
	workerKeyEnv   = "PERFSWEEP_API_KEY"
)

// workerCmd is what the pods of a k8s: target run.
func (a *app) workerCmd() *cobra.Command {
	var o fleet.WorkerOptions
	c := &cobra.Command{
		Use:    "worker",
		Hidden: true,
		Short:  "Make load as another perfsweep orders",
		Long: `worker is what the pods run that a k8s: target is measured from. It takes orders
from the perfsweep that started it, guarded by the token in ` + workerTokenEnv + `,
reaches nothing but what --allow lists, prints what it recorded, and ends
itself once nobody has called it for --alone.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Token = os.Getenv(workerTokenEnv); o.Token == "" {
				return badInputf("%s is not set: a worker is started by perfsweep, for a target k8s:NAMESPACE/NAME", workerTokenEnv)
			}
			o.APIKey, o.Out, o.Say = os.Getenv(workerKeyEnv), a.out, a.say
			if err := fleet.Serve(c.Context(), o); err != nil {
				return err
			}
			// One that was told to end has not done its work: its Job replaces what
			// fails, and only that.
			return c.Context().Err()
		},
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", fmt.Sprintf(":%d", fleet.DefaultPort), "address of the control server")
	f.StringSliceVar(&o.Allow, "allow", nil, "HOST or HOST:PORT that may be reached, separated by commas")
	f.DurationVar(&o.Alone, "alone", aloneFor, "end after so much time without a call")
	return c
}
