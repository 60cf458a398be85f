package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
	"github.com/perfsweep/perfsweep/sweep/observe/bothsides"
)

// attribute says of each level what holds it back, by the run of median
// throughput among its valid steady ones; a level that has none is judged by
// its last run, whose fault is a finding too.
func attribute(runs []sweep.Run, gpus int) []observe.Finding {
	byLevel := map[int][]sweep.Run{}
	for _, r := range runs {
		if r.Step.Kind == loadgen.Steady {
			byLevel[r.Step.ConcurrencyPerGPU] = append(byLevel[r.Step.ConcurrencyPerGPU], r)
		}
	}
	var levels []observe.Level
	heard := false
	for _, n := range slices.Sorted(maps.Keys(byLevel)) {
		r := typical(byLevel[n])
		l := observe.Level{ConcurrencyPerGPU: n, GPUs: gpus, Client: bothsides.Client(r.Result, r.Violations)}
		if r.Workers != nil {
			l.Workers = r.Workers.Expected
		}
		if span, ok := saidOf(r.Servers); ok {
			l.Span, heard = span, true
		}
		levels = append(levels, l)
	}
	if !heard {
		return nil // of a journal that never watched there is nothing to say
	}
	return observe.Attribute(levels)
}

// saidOf reads what a journal keeps of the servers' own words; ok is false where
// it keeps none, or none that can be read.
func saidOf(s *sweep.Servers) (span observe.Span, ok bool) {
	if s == nil || json.Unmarshal(s.Said, &span) != nil {
		return observe.Span{}, false
	}
	return span, true
}

func typical(runs []sweep.Run) sweep.Run {
	var valid []sweep.Run
	for _, r := range runs {
		if r.Valid() {
			valid = append(valid, r)
		}
	}
	if len(valid) == 0 {
		return runs[len(runs)-1]
	}
	slices.SortStableFunc(valid, func(a, b sweep.Run) int {
		return cmp.Compare(a.Result.Window.OutputTokPerSec, b.Result.Window.OutputTokPerSec)
	})
	return valid[len(valid)/2]
}

// events are the stalls of a run, a line each.
func events(s *sweep.Servers) []string {
	span, _ := saidOf(s)
	var out []string
	for _, e := range span.Events {
		out = append(out, "stall: "+e.String())
	}
	return out
}

// frontendBound says whether the frontends end a curve, and how many they are:
// the finding that decides is that at the knee.
func frontendBound(findings []observe.Finding, c sweep.Curve) (bool, int) {
	if len(findings) == 0 || report.Decisive(findings, c.Fit().Knee).Bottleneck != observe.FrontendBound {
		return false, 0
	}
	most := 0
	for _, r := range c.Runs {
		if span, ok := saidOf(r.Servers); ok {
			most = max(most, span.Frontends)
		}
	}
	return true, most
}
