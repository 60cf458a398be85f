package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/selftest"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/pacer"
)

type selftestFlags struct {
	streams  int
	duration time.Duration
	itl      time.Duration
	tokens   int
}

func (a *app) selftestCmd() *cobra.Command {
	var f selftestFlags
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Measure what this machine can drive",
		Long: `selftest drives a paced server, which runs as a process of its own on this
machine and knows its own send times to the microsecond. It finds the highest
rate of chunks that is read with a lag p99 below 1 ms (arrival in this program
minus the kernel's receive time), the error of TTFT against the server's own
times, whether concurrency is exact as the server sees it, chunks a CPU-second
and memory a stream. Later sweeps, calibrations and checks by this version on
this machine warn before they ask for more than the ceiling found here; it is
kept only where others used no more than a tenth of the CPU meanwhile.

With --itl one load is held instead: --streams streams, a chunk each --itl, for
--duration; nothing is kept of it.

It ends with 0 when there is a ceiling (with --itl: when the load was not
client-bound), and with 9 when there is none.`,
		Example: "  perfsweep selftest\n  perfsweep selftest --streams 4096 --itl 200ms --duration 60s -o json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if a.output == "csv" {
				return badInputf("-o csv: selftest prints text or json")
			}
			if err := f.check(); err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding this program's own file, to start the paced server from: %w", err)
			}
			cmd := selftest.Command{Path: self, Name: os.Args[0]}
			if c.Flags().Changed("itl") {
				return a.runHold(c.Context(), cmd, &f)
			}
			return a.runSelftest(c.Context(), cmd, &f)
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.streams, "streams", 1024, "streams of the part about memory and exact concurrency, or of --itl")
	fl.DurationVar(&f.duration, "duration", selftest.DefaultBudget, "time for the whole; shorter ones measure less well (with --itl: the measured time)")
	fl.DurationVar(&f.itl, "itl", 0, "hold one load only, with a chunk a stream each ITL")
	fl.IntVar(&f.tokens, "tokens", 128, "chunks an answer, with --itl")
	c.AddCommand(a.selftestServeCmd())
	return c
}

func (f *selftestFlags) check() error {
	const mostStreams = 65536
	switch {
	case f.streams < 1 || f.streams > mostStreams:
		return badInputf("--streams %d: must be between 1 and %d", f.streams, mostStreams)
	case f.duration < time.Second || f.duration > time.Hour:
		return badInputf("--duration %s: must be between 1s and 1h", f.duration)
	case f.itl < 0 || f.itl > time.Minute:
		return badInputf("--itl %s: must be between 0 and 1m", f.itl)
	case f.tokens < 2 || f.tokens > 1<<16:
		return badInputf("--tokens %d: must be between 2 and %d", f.tokens, 1<<16)
	}
	return loadgen.CheckStreams(f.streams)
}

func (a *app) runHold(ctx context.Context, cmd selftest.Command, f *selftestFlags) error {
	m, err := cmd.Measure(ctx, selftest.Point{
		Streams: f.streams, TTFT: 50 * time.Millisecond, ITL: f.itl, Tokens: f.tokens, Length: f.duration,
	})
	if err != nil {
		return err
	}
	show := report.PointText
	if a.output == "json" {
		show = report.PointJSON
	}
	if err := show(a.out, m); err != nil {
		return err
	}
	if len(m.ClientBound) > 0 || m.Failed > 0 {
		return verdict{exitInconclusive}
	}
	return nil
}

func (a *app) runSelftest(ctx context.Context, cmd selftest.Command, f *selftestFlags) error {
	r, err := selftest.Run(ctx, selftest.Options{
		Command: cmd, Version: version, Streams: f.streams, Budget: f.duration,
		Notify: func(part string, m selftest.Measured) {
			a.say("%s: %s x %g ms: %.0f chunks/s, lag p99 %.2g ms", part, plural.Of(m.Streams, "stream"), m.ITLMS, m.TokPerSec, m.LagP99MS)
		},
	})
	if err != nil {
		return err
	}
	show := report.SelftestText
	if a.output == "json" {
		show = report.SelftestJSON
	}
	if err := show(a.out, r); err != nil {
		return err
	}
	if r.Ceiling == nil {
		return verdict{exitInconclusive}
	}
	if !r.Quiet() {
		a.say("note: the ceiling is not kept for later sweeps: others used the machine")
		return nil
	}
	if path, err := keepCeiling(r); err != nil {
		a.say("note: the ceiling is not kept for later sweeps: %v", err)
	} else {
		a.say("kept in %s", path)
	}
	return nil
}

func (a *app) selftestServeCmd() *cobra.Command {
	var p pacer.Params
	var listen string
	var skip int
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the paced server for any client",
		Long: `serve is the server that selftest measures against: each request gets its first
token --ttft after the kernel received it and a further one each --itl, whatever
the load. It prints its URL, serves until Ctrl-C or the end of its standard
input, and then prints what it saw as JSON: tokens, rate, TTFT, requests in
flight, and its own lateness.`,
		Example: "  perfsweep selftest serve --listen 127.0.0.1:8000 --ttft 50ms --itl 20ms",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if p.TTFT < 0 || p.ITL < 0 || skip < 0 {
				return badInputf("--ttft, --itl and --skip must not be negative")
			}
			return selftest.Serve(c.Context(), listen, p, skip, a.in, a.out)
		},
	}
	p.KernelSleep = true
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8000", "address to serve on; port 0 takes a free one")
	f.DurationVar(&p.TTFT, "ttft", 50*time.Millisecond, "from the receipt of a request to its first token")
	f.DurationVar(&p.ITL, "itl", 20*time.Millisecond, "from one token to the next; 0 writes as fast as the socket takes them")
	f.StringVar(&p.Model, "model", "paced", "model that /v1/models lists")
	f.IntVar(&skip, "skip", 0, "leave the first requests out of what is printed, such as a warm-up")
	return c
}
