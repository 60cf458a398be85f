package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// runGate names a gate that every run passes, or is INVALID and not used. The
// runs carry the observed values; this is what a reader is told of all of them.
type runGate struct {
	id, name, remedy string
	// blind says why nothing in a journal shows it, "" where runs are judged.
	blind string
	// shown, where not nil, reports whether a run shows it; blind then says why
	// none does.
	shown func(sweep.Run) bool
	// part says what a run that passes was not asked, "" if nothing.
	part string
	// steady: gate runs start and drain in the open and are not asked.
	steady bool
}

func allRunGates() []runGate {
	return []runGate{
		{id: "V1", name: "every worker and frontend is ready, before and after",
			shown: func(r sweep.Run) bool { return r.Workers != nil }, blind: "worker counts are not in the journal: the server listed none",
			part: "frontends are not counted", remedy: "count them beside the run: /health of the frontend, or the pods"},
		{id: "V2", name: "requests succeed", remedy: "look at the example errors of the runs"},
		{id: "V3", name: "the load is real (Little's law)", steady: true, remedy: "this tool did not hold the load: use a larger or less busy machine"},
		{id: "V4", name: "answers have their length", remedy: "find out what changed model, template or sampling"},
		{id: "V5", name: "throughput does not drift", steady: true, remedy: "warm up longer, and look for a cause that grows"},
		{id: "V6", name: "the server does not stand still", remedy: "look for preemption, a stuck worker or a noisy neighbour"},
		{id: "V7", name: "workers share the load",
			shown: func(r sweep.Run) bool { return r.Servers != nil && len(r.Servers.Shares) > 0 }, blind: "shares of the workers are not in the journal: the servers' metrics were not watched, or do not tell", remedy: "compare the workers' own metrics while a run lasts"},
		{id: "V8", name: "this tool is not the bottleneck", remedy: "use a larger or less busy machine"},
	}
}

// runGates sums up V1 to V9 over the runs of a campaign.
func runGates(c sweep.Curve) []GateResult {
	var out []GateResult
	for _, r := range allRunGates() {
		out = append(out, r.judge(c))
	}
	v9 := GateResult{ID: "V9", Name: "one fingerprint", State: Met, Threshold: "equal in every run, exactly",
		Observed: "a journal has one; what is not stated in it is not compared"}
	return append(out, v9)
}

func (r runGate) judge(c sweep.Curve) GateResult {
	g := GateResult{ID: r.id, Name: r.name, Threshold: sweep.RunGateLimit(r.id), Remedy: r.remedy}
	failed, unjudged, asked := 0, 0, 0
	var first string
	for _, run := range c.Runs {
		if r.steady && run.Step.Kind != loadgen.Steady && run.Valid() {
			continue
		}
		asked++
		if i := slices.IndexFunc(run.Violations, func(v sweep.Violation) bool { return v.Gate == r.id }); i >= 0 {
			failed++
			if v := run.Violations[i]; first == "" {
				first = fmt.Sprintf("; the first, run %d: %s (limit %s)", run.Seq, inSigns(v.Observed), inSigns(v.Threshold))
			}
		}
		if r.shown != nil && !r.shown(run) {
			unjudged++
			continue
		}
		for _, w := range run.Result.Warnings {
			if strings.HasPrefix(w, r.id+" ") && strings.Contains(w, "not judged") {
				unjudged++
				break
			}
		}
	}
	switch {
	case failed > 0:
		g.State = Unmet
		g.Observed = fmt.Sprintf("%d of %s failed it and %s not used%s", failed, plural.Of(asked, "run"), plural.Verb(failed, "was", "were"), first)
	case r.blind != "" && (r.shown == nil || unjudged == asked):
		g.State, g.Observed = Unobserved, r.blind
	case asked == 0:
		g.State, g.Observed = Unobserved, "no run"
	case unjudged == asked:
		g.State, g.Observed = Unobserved, "not judged in any of "+plural.Of(asked, "run")
	default:
		g.State, g.Observed = Met, fmt.Sprintf("0 of %s failed it", plural.Of(asked, "run"))
		if r.part != "" {
			g.Observed += "; " + r.part
		}
	}
	if unjudged > 0 && g.State != Unobserved {
		g.Observed += fmt.Sprintf("; not fully judged in %d", unjudged)
	}
	return result(g)
}

// unobserved is the sentence on run gates that nothing showed, whatever the
// outcome.
func unobserved(c sweep.Curve) string {
	var out []string
	for _, g := range runGates(c) {
		if g.State == Unobserved {
			out = append(out, fmt.Sprintf("%s (%s)", g.ID, g.Name))
		}
	}
	s := "V9 holds because a journal has one fingerprint"
	if len(out) > 0 {
		s = "not observed: " + strings.Join(out, ", ") + "; " + s
	}
	return s
}
