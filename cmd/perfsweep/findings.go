package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

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
		l, ok := levelOf(typical(byLevel[n]), gpus)
		levels, heard = append(levels, l), heard || ok
	}
	if !heard {
		return nil // of a journal that never watched there is nothing to say
	}
	return observe.Attribute(levels)
}

// levelOf joins what both sides say of a run; heard is false where the servers
// were not.
func levelOf(r sweep.Run, gpus int) (l observe.Level, heard bool) {
	l = observe.Level{ConcurrencyPerGPU: r.Step.ConcurrencyPerGPU, GPUs: gpus, Client: bothsides.Client(r.Result, r.Violations)}
	if r.Workers != nil {
		l.Workers = r.Workers.Expected
	}
	l.Span, heard = saidOf(r.Servers)
	return l, heard
}

// attributeRuns judges each run by itself, whatever its kind: those of a check
// are no curve, and a capacity pulse is no neighbour of a gate run.
func attributeRuns(runs []sweep.Run, gpus int) []report.RunFinding {
	var out []report.RunFinding
	for _, r := range runs {
		if l, heard := levelOf(r, gpus); heard {
			out = append(out, report.RunFinding{Seq: r.Seq, Kind: r.Step.Kind, Valid: r.Valid(), Finding: observe.Attribute([]observe.Level{l})[0]})
		}
	}
	return out
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

// events are what stood still in a run: as the servers and this tool saw it, or
// this tool alone.
func events(r sweep.Run) []observe.Event {
	if span, heard := saidOf(r.Servers); heard {
		return span.Events
	}
	return observe.Events(r.Result.Started, nil, observe.Span{}, bothsides.Client(r.Result, nil))
}

// stalls are the events of all runs.
func stalls(runs []sweep.Run) []report.Stall {
	var out []report.Stall
	for _, r := range runs {
		for _, e := range events(r) {
			out = append(out, report.Stall{Seq: r.Seq, ConcurrencyPerGPU: r.Step.ConcurrencyPerGPU, Kind: r.Step.Kind, Event: e})
		}
	}
	return out
}

// frontendBound says whether the frontends end a curve, and how many they are:
// the finding that decides is that at the knee.
func frontendBound(findings []observe.Finding, c sweep.Curve) (bool, int) {
	if len(findings) == 0 || report.Decisive(findings, c.Fit().Knee).Bottleneck != observe.FrontendBound {
		return false, 0
	}
	most, _ := strconv.Atoi(c.Fingerprint.Labels[labelFrontends]) // 0 where it is not stated
	for _, r := range c.Runs {
		if span, ok := saidOf(r.Servers); ok {
			most = max(most, span.Frontends)
		}
	}
	return true, most
}
