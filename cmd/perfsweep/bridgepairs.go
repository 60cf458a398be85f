package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// spareBridgePairs is how many pairs more may be made where some are INVALID.
const spareBridgePairs = 2

// planned is how many pairs with AIPerf follow a campaign, none where none was asked for.
func (f *bridgeFlags) planned() sweep.BridgePlan {
	if f.command == nil {
		return sweep.BridgePlan{}
	}
	return sweep.BridgePlan{Pairs: f.pairs, Spare: spareBridgePairs}
}

// bridged makes the pairs with AIPerf that are still missing at the point of a
// campaign that is over and has one, within what is left of its time.
func (c *campaign) bridged(ctx context.Context, t *target, run *sweep.Campaign, d sweep.Decision) error {
	n := d.Point.ConcurrencyPerGPU
	if c.bridge.command == nil || !confirmable(d) {
		return nil
	}
	within, cancel := run.WithinWall(ctx)
	defer cancel()
	for {
		made, valid := run.Curve.PairsAt(n)
		if len(valid) >= c.bridge.pairs {
			return nil
		}
		if _, most := c.bridge.planned().Left(run.Curve, n); most == 0 {
			c.say("note: only %d of %s with AIPerf at %d per GPU %s valid; no more are made", len(valid), plural.Of(made, "pair"), n, plural.VerbOf(len(valid), made, "is", "are"))
			return nil
		}
		pair, err := c.makePair(within, t, run, n, made)
		if err != nil && ctx.Err() == nil && sweep.OutOfTime(within) {
			c.say("note: the time limit of %s is reached: pair %d of %d with AIPerf at %d per GPU was ended and is not recorded; --resume with more --max-wall makes it",
				run.Curve.Plan.MaxWall, made+1, c.bridge.pairs, n)
			return nil
		}
		if err != nil {
			return fmt.Errorf("pair %d of %d with AIPerf at %d per GPU: %w", made+1, c.bridge.pairs, n, err)
		}
		if err := run.AddPair(pair); err != nil {
			return err
		}
		c.say("%s", pairLine(pair))
	}
}

// pairLine is what a pair comes to, for a progress line.
func pairLine(p sweep.BridgePair) string {
	line := fmt.Sprintf("     AIPerf %.0f tok/s, TTFT p99 %.0f ms; perfsweep %.0f tok/s, TTFT p99 %.0f ms; the server counted %.0f and %.0f tok/s",
		p.AIPerf.TokPerSec, p.AIPerf.TTFTP99MS, p.Perfsweep.TokPerSec, p.Perfsweep.TTFTP99MS, p.AIPerf.ServerTokPerSec(), p.Perfsweep.ServerTokPerSec())
	for _, v := range p.Violations {
		line += fmt.Sprintf("\n     INVALID %s: %s (limit %s); %s", v.Gate, v.Observed, v.Threshold, v.Remedy)
	}
	return line
}

// makePair makes one run with each tool; which one begins changes from pair to pair,
// so that what changes meanwhile meets both.
func (c *campaign) makePair(ctx context.Context, t *target, run *sweep.Campaign, n, before int) (sweep.BridgePair, error) {
	f, p := run.Curve.Fingerprint, sweep.BridgePair{ConcurrencyPerGPU: n, First: sweep.ByAIPerf}
	streams := n * f.GPUs
	theirs := aiperfRun{
		command: c.bridge.command, url: t.baseURL, model: f.Model, workload: f.Workload, streams: streams,
		requests: run.Curve.Plan.Effort.Limits(sweep.Step{ConcurrencyPerGPU: n, Kind: loadgen.Gate}, streams, 0).MinRequests,
	}
	byAIPerf := func() (err error) {
		out, began, err := theirs.do(ctx)
		p.Version, p.AIPerf = out.Version, theirs.reading(out, began)
		return err
	}
	byPerfsweep := func() error {
		r, err := run.Beside(ctx, n)
		w := r.Result.WholeRun
		p.Violations, p.NextRequest = r.Violations, r.Result.NextRequest
		p.Perfsweep = sweep.BridgeReading{
			Started: r.Started, Seconds: w.Seconds, Requests: w.Requests, OutputTokens: w.OutputTokens, TokPerSec: w.OutputTokPerSec, TTFTP99MS: w.TTFTP99MS,
			AllOutputTokens: float64(r.Result.TotalOutputTokens),
		}
		return err
	}
	runs := []struct {
		by string
		do func() error
		of *sweep.BridgeReading
	}{{"AIPerf", byAIPerf, &p.AIPerf}, {"perfsweep", byPerfsweep, &p.Perfsweep}}
	if before%2 == 1 {
		slices.Reverse(runs)
		p.First = sweep.ByPerfsweep
	}
	c.say("pair %d with AIPerf at %d per GPU (%s, %s each): first %s, then %s", before+1, n, plural.Of(streams, "stream"), plural.Of(theirs.requests, "request"), runs[0].by, runs[1].by)
	for _, r := range runs {
		from, err := c.ears.countedTokens(ctx)
		if err != nil {
			return p, err
		}
		if err := r.do(); err != nil {
			return p, err
		}
		to, err := c.ears.settledTokens(ctx)
		if err != nil {
			return p, err
		}
		if r.of.ServerOutputTokens = to - from; to <= from {
			return p, fmt.Errorf("the server's counter of output tokens went from %.0f to %.0f during the run of %s: did it restart, or are its pages another server's?", from, to, r.by)
		}
	}
	return p, nil
}

// refereed refuses, before anything is measured, a bridge without a referee.
func (c *campaign) refereed(ctx context.Context) error {
	if c.bridge.command == nil {
		return nil
	}
	_, err := c.ears.countedTokens(ctx)
	if none := (*noRefereeError)(nil); errors.As(err, &none) {
		return badInputf("--bridge: %w", err)
	}
	if err != nil { // the world's: a page that does not answer, or an interruption
		return fmt.Errorf("--bridge: %w", err)
	}
	return nil
}

// noRefereeError says that no page that is watched tells of output tokens.
type noRefereeError struct{ remedy string }

func (e *noRefereeError) Error() string {
	return "the server's own count of output tokens is the referee, and " + e.remedy
}

// countedTokens is how many output tokens the servers have counted so far: the
// frontends, or the engines where no frontend tells.
func (e ears) countedTokens(ctx context.Context) (float64, error) {
	if len(e.watch.Sources) == 0 {
		return 0, &noRefereeError{"no page of its metrics is watched; name the pages with --metrics"}
	}
	pages, err := e.watch.Read(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the server's count of output tokens: %w", err)
	}
	front, engines := 0.0, map[string]float64{}
	told := false
	for _, s := range pages {
		if s.Err != nil {
			return 0, fmt.Errorf("reading the server's count of output tokens: %s: %w", s.Source, s.Err)
		}
		if n, ok := s.Frontend[observe.FrontendTokens]; ok {
			front, told = front+n, true
		}
		for id, r := range s.Engines {
			if n, ok := r[observe.OutputTokens]; ok {
				engines[id] = n
			}
		}
	}
	switch {
	case told:
		return front, nil
	case len(engines) == 0:
		return 0, &noRefereeError{"none of its pages tells it; name its frontend's or all of its workers' pages with --metrics"}
	}
	sum := 0.0
	for _, id := range slices.Sorted(maps.Keys(engines)) {
		sum += engines[id]
	}
	return sum, nil
}

// settledTokens is the count after a run: a server may add to it after its last
// answer has gone out.
func (e ears) settledTokens(ctx context.Context) (float64, error) {
	const tries, apart = 50, 100 * time.Millisecond
	last, err := e.countedTokens(ctx)
	for range tries {
		if err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(apart):
		}
		var now float64
		if now, err = e.countedTokens(ctx); err == nil && now == last {
			return now, nil
		}
		last = now
	}
	return last, err
}
