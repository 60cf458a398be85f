package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// measurer makes one run of a step.
func (c *campaign) measurer(cfg loadgen.Config, gpus int, pre loadgen.Preflight, run func(context.Context, loadgen.Config) (loadgen.Result, error), away *absence) func(context.Context, sweep.Step, uint64) (loadgen.Result, error) {
	e2e := time.Duration(pre.E2EMS * float64(time.Millisecond))
	guard := newCeilingGuard(knownCeiling(), pre.ChunkGapMS)
	return func(ctx context.Context, s sweep.Step, first uint64) (loadgen.Result, error) {
		cfg := cfg
		cfg.Concurrency = s.ConcurrencyPerGPU * gpus
		cfg.Kind, cfg.Objective = s.Kind, c.plan.Objective
		cfg.FirstRequest = first
		cfg.Limits = c.plan.Effort.Limits(s, cfg.Concurrency, e2e)
		if err := c.flags.net.limit(&cfg.Limits); err != nil {
			return loadgen.Result{}, err
		}
		if w := guard.before(cfg.Concurrency); w != "" {
			c.say("note: %s", w)
		}
		r, err := run(ctx, cfg)
		if err == nil {
			err = away.judge(ctx, &r)
		}
		guard.after(r.Window.GapP50MS)
		if err == nil && r.Window.E2EMeanMS > 0 {
			e2e = time.Duration(r.Window.E2EMeanMS * float64(time.Millisecond))
		}
		return r, err
	}
}

// notify prints a line a run.
func (c *campaign) notify(gpus int) func(sweep.Event) {
	var heard remarks
	var jit sweep.Warming
	view := c.viewOf(gpus)
	return func(e sweep.Event) {
		number := e.Done
		if e.Run == nil {
			number++
		}
		step := fmt.Sprintf("[%d] %d per GPU (%s), %s: %s", number, e.Step.ConcurrencyPerGPU, plural.Of(e.Step.ConcurrencyPerGPU*gpus, "stream"), e.Step.Kind, e.Step.Why)
		line := ""
		switch {
		case e.Run == nil && view != nil:
			view.begins(e)
			return
		case e.Run == nil:
			c.say("%s; %s", step, e.Outlook)
			return
		case view != nil: // the line before a run has not been printed
			view.ended(*e.Run)
			line = step + "\n"
		}
		est := e.Run.Result.Estimate()
		line += fmt.Sprintf("     %.0f tok/s per GPU, TTFT p50 %.0f ms, p99 %.0f ms%s", est.OutputTokPerSec/float64(gpus), est.TTFTP50MS, est.TTFTP99MS, goodShare(e.Run.Result)+cachedShare(e.Run.Result))
		causes, following := e.Run.Causes()
		for _, v := range causes {
			line += fmt.Sprintf("\n     INVALID %s: %s (limit %s); %s", v.Gate, v.Observed, v.Threshold, v.Remedy)
		}
		if len(following) > 0 {
			line += "\n     " + report.Following(following)
		}
		for _, o := range slices.Sorted(maps.Keys(e.Run.Result.Errors)) {
			if texts := e.Run.Result.Errors[o]; len(texts) > 0 {
				line += fmt.Sprintf("\n     example of %s: %s", o, texts[0])
			}
		}
		for _, stood := range events(*e.Run) {
			line += "\n     stall: " + stood.String()
		}
		for _, w := range heard.fresh(e.Run.Result.Warnings) {
			line += "\n     note: " + w
		}
		if w := jit.Hear(*e.Run); w != "" {
			line += "\n     note: " + w
		}
		c.say("%s", line)
	}
}
