package main

import (
	"context"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/internal/plural"
)

type discoverFlags struct {
	kubeFlags
	namespace string
	all       bool
	leftovers leftoverFlags
}

func (a *app) discoverCmd() *cobra.Command {
	var f discoverFlags
	c := &cobra.Command{
		Use:   "discover [-n NAMESPACE | -A]",
		Short: "List the Dynamo deployments of a cluster: GPUs, model, readiness",
		Long: `discover reads the DynamoGraphDeployments of a namespace, in both versions of
their API, and says of each where it serves, which model, on how many GPUs of
which product and by whose word, which images run, and whether it is ready: the
operator's verdict is for this generation, and every replica and pod is up. What
would spoil a measurement is named: autoscalers, mixed GPUs, disaggregation, an
operator or a chart of it that is of another release than the images.

It only reads, and only in the namespace that was asked for, except for nodes and
the operator. It needs to get and list dynamographdeployments.nvidia.com there;
without the rights to list pods, services and autoscalers, and to get nodes and
claim templates, what they tell is unknown, and a note says which rule is missing;
without that to list deployments.apps in all namespaces nothing is said of the
operator. The line that begins with k8s: is what --target of the other commands
takes.

It ends with 0 when it could look, whatever it found, with 1 when it could not
(no permission, no such API, no connection), and with 2 for a wrong context or
kubeconfig.

` + leftoversHelp,
		Example: "  perfsweep discover -n inference\n  perfsweep discover -A --context prod -o json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(a.output, c.Flags().Changed); err != nil {
				return err
			}
			if f.leftovers.asked() {
				return a.runLeftovers(c.Context(), &f)
			}
			return a.runDiscover(c.Context(), &f)
		},
	}
	fl := c.Flags()
	f.bind(fl)
	f.leftovers.bind(fl)
	fl.StringVarP(&f.namespace, "namespace", "n", "", "namespace to look in (default: that of the context, or of the pod)")
	fl.BoolVarP(&f.all, "all-namespaces", "A", false, "look in all namespaces")
	return c
}

// kubeName is what Kubernetes takes for the name of an object. It becomes a part
// of a URL's path.
var kubeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

func (f *discoverFlags) check(output string, changed func(string) bool) error {
	switch {
	case output == "csv":
		return badInputf("-o csv: discover prints text or json")
	case f.all && changed("namespace"):
		return badInputf("-n names one namespace and -A means all: give one of them")
	case changed("namespace") && !kubeName.MatchString(f.namespace):
		return badInputf("-n %.80q: no namespace has such a name", f.namespace)
	}
	return nil
}

func (a *app) runDiscover(ctx context.Context, f *discoverFlags) error {
	cluster, err := f.open()
	if err != nil {
		return err
	}
	d := report.Discovery{Namespace: f.namespace}
	if d.Namespace == "" && !f.all {
		d.Namespace = cluster.Namespace()
	}
	if d.Deployments, err = cluster.Discover(ctx, d.Namespace); err != nil {
		return kubeError(err)
	}
	switch where := "in namespace " + d.Namespace; {
	case len(d.Deployments) > 1:
		a.say("%s; name one with --target k8s:NAMESPACE/NAME", plural.Of(len(d.Deployments), "deployment"))
	case len(d.Deployments) == 0 && f.all:
		a.say("no DynamoGraphDeployment in any namespace of %s", cluster.Server())
	case len(d.Deployments) == 0:
		a.say("no DynamoGraphDeployment %s of %s; -A looks in all namespaces", where, cluster.Server())
	}
	if a.output == "json" {
		return report.DiscoveryJSON(a.out, d)
	}
	return report.DiscoveryText(a.out, d)
}
