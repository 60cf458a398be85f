package main

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

func (a *app) simulateCmd() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "simulate PRESET[?key=value&…]",
		Short: "Serve the simulator for any client",
		Long: `simulate serves an OpenAI-compatible engine whose throughput law, and so its knee,
is known in closed form. Stop it with Ctrl-C.

Presets:
` + presetTable() + `
Keys, as in 'gb300?gpus=4&speed=0.7'; --target sim:PRESET?key=value takes the same.
From speed on they are faults, which no fingerprint shows:
` + enginesim.KeyHelp(),
		Example: "  perfsweep simulate gb300 --listen 127.0.0.1:8000\n  perfsweep simulate 'kneed?gpus=2&speed=0.7'",
		Args:    exactly(1, "one PRESET"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := enginesim.ParseTarget(strings.TrimPrefix(args[0], "sim:"))
			if err != nil {
				return badInput(err)
			}
			sim := enginesim.New(p)
			defer func() { _ = sim.Close() }() // it keeps nothing
			url, err := sim.Listen(listen)
			var address *net.AddrError
			if errors.As(err, &address) {
				return badInputf("--listen %q: write HOST:PORT, with a port of 0 to 65535", listen)
			}
			if err != nil {
				return fmt.Errorf("listening on %s: %w; choose another --listen", listen, err)
			}
			if _, err := fmt.Fprintf(a.out, "%s\n", url); err != nil {
				return fmt.Errorf("printing the URL: %w", err)
			}
			if n, ok := p.Knee(0.20); ok {
				a.say("sim:%s serves %s on %s; closed-form knee %.1f per GPU at %.0f tok/s per GPU", p.Public(), p.Model, url, n, p.Throughput(n))
			} else {
				a.say("sim:%s serves %s on %s; its curve has no knee", p.Public(), p.Model, url)
			}
			<-c.Context().Done()
			n := sim.Counters()
			a.say("served %s, %s, %s", plural.Of(n.Requests, "request"), plural.Of(n.PromptTokens, "prompt token"), plural.Of(n.OutputTokens, "output token"))
			return nil
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8000", "address to serve on; port 0 takes a free one")
	return c
}

func presetTable() string {
	var b strings.Builder
	for _, p := range enginesim.PresetInfos() {
		fmt.Fprintf(&b, "  %-15s %s\n", p.Name, p.What)
	}
	return b.String()
}
