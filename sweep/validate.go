package sweep

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// The thresholds of the run gates (knee.md §8, §17, §18.2).
const (
	maxBadShare     = 0.001
	maxLittle       = 0.10
	maxLengthDrift  = 0.02
	maxCPUShare     = 0.70
	lagFloorMS      = 1
	lagShareOfSLO   = 0.01
	minForeignRatio = 3 // runs before the campaign's own output length is known
)

// Validate applies run gates V2–V6 and V8 to a result; medianRatio is the
// campaign's own median of got/requested output tokens (see LengthRatio; 0 =
// not yet known). A run that fails one is INVALID, never slow.
//
// Missing evidence fails a gate wherever the generator can always have it:
// requests, tokens, Little's law in a steady run, the throughput series. Two
// kinds cannot always be had and are left unjudged, which NotJudged says: V4
// before the campaign's own length is known, and V8 without CPU accounting or
// kernel timestamps (in-memory connections, other systems).
//
// V3 and V5 look at steady runs only: a gate run starts and drains in the open,
// so neither Little's law nor a level throughput can be asked of it.
//
// A run that lost a part of its generator, or whose generator did not run for a
// while, says nothing of the server: it fails V8, which is about this tool, and
// nothing else is looked at.
func Validate(r loadgen.Result, w loadgen.WorkloadSpec, medianRatio, sloMaxTTFTMS float64) []Violation {
	if v := cmp.Or(checkPods(r), checkSuspended(r)); v != nil {
		return []Violation{*v}
	}
	out := checkOutcomes(r)
	if r.Measured.Total() == 0 {
		return out // there is nothing else to look at
	}
	if v := checkLength(r, w, medianRatio); v != nil {
		out = append(out, *v)
	}
	if tokens(r) > 0 {
		if r.Kind == loadgen.Steady {
			out = append(out, checkLittle(r)...)
			out = append(out, checkDrift(r)...)
		}
		out = append(out, checkStall(r)...)
	}
	return append(out, checkGenerator(r, sloMaxTTFTMS)...)
}

// NotJudged lists the run gates that had no evidence to look at, with the
// reason, so that a run which passes them does not look as if it had been
// examined.
func NotJudged(r loadgen.Result, w loadgen.WorkloadSpec, medianRatio float64) []string {
	var out []string
	if !w.IgnoreEOS && medianRatio <= 0 {
		out = append(out, fmt.Sprintf("V4 not judged: fewer than %d runs tell the usual output length", minForeignRatio))
	}
	if r.Health.CPUShare <= 0 {
		out = append(out, "V8 not judged: no CPU accounting")
	}
	if !r.Health.KernelTime {
		out = append(out, "V8 lag not judged: no kernel receive timestamps")
	}
	return out
}

// tokens are the output tokens of the part of a run that its kind is about.
func tokens(r loadgen.Result) float64 {
	if r.Kind == loadgen.Gate {
		return r.WholeRun.OutputTokens
	}
	return r.Window.OutputTokens
}

// checkOutcomes is V2. Requests outside the measured part count as well: a
// warm-up that fails is no sign of health.
func checkOutcomes(r loadgen.Result) []Violation {
	const remedy = "look at the example errors of the run; the server fails requests, so its latency and throughput describe the survivors"
	limit := fmt.Sprintf("≤ %.1f %% errors, timeouts and cancellations", 100*maxBadShare)
	for _, part := range []struct {
		name string
		o    loadgen.Outcomes
	}{{"measured", r.Measured}, {"sent", r.All}} {
		if bad, total := part.o.Bad(), part.o.Total(); float64(bad) > maxBadShare*float64(total) {
			return []Violation{{
				Gate: "V2", Threshold: limit, Remedy: remedy,
				Observed: fmt.Sprintf("%d of %s (%.2f %%)", bad, plural.Of(total, part.name+" request"), 100*float64(bad)/float64(total)),
			}}
		}
	}
	switch {
	case r.All.Total() < r.Measured.Total():
		return []Violation{{
			Gate: "V2", Observed: fmt.Sprintf("%s measured of %d sent", plural.Of(r.Measured.Total(), "request"), r.All.Total()), Threshold: limit,
			Remedy: "what became of all requests, the warm-up's among them, is not told: measure again",
		}}
	case r.Measured.Total() == 0:
		return []Violation{{
			Gate: "V2", Observed: "no measured request", Threshold: "at least one",
			Remedy: "raise the run's time limit, or lower the concurrency until a request fits into it",
		}}
	case r.Stopped == "cancelled":
		return []Violation{{Gate: "V2", Observed: "the run was cancelled", Threshold: limit, Remedy: "run it again"}}
	case r.Kind == loadgen.Gate && r.Capped:
		return []Violation{{
			Gate: "V2", Observed: "cut off by its time limit after " + plural.Of(r.Measured.Total(), "request"),
			Threshold: "the whole number of requests of the protocol",
			Remedy:    "the evaluator's job would not end in time either; lower the concurrency or the output length",
		}}
	}
	return nil
}

// LengthRatio is the output length of a run relative to what was asked for, or
// the bare length where nothing was asked for; 0 if unknown.
func LengthRatio(r loadgen.Result) float64 {
	if r.RequestedOutputTokens > 0 {
		return r.OutputTokensPerRequest / r.RequestedOutputTokens
	}
	return r.OutputTokensPerRequest
}

// checkLength is V4: with ignore_eos the server owes the requested length,
// without it the campaign's own.
func checkLength(r loadgen.Result, w loadgen.WorkloadSpec, medianRatio float64) *Violation {
	v := Violation{Gate: "V4", Threshold: fmt.Sprintf("±%.0f %%", 100*maxLengthDrift)}
	ratio := LengthRatio(r)
	switch {
	case !(tokens(r) > 0 && ratio > 0):
		v.Observed, v.Threshold = "no output tokens in usage", "usage with every request"
		v.Remedy = "the server must report usage in streams (stream_options.include_usage)"
	case r.RepeatedPrompts > 0:
		v.Observed, v.Threshold = plural.Of(r.RepeatedPrompts, "request")+" repeated prompts of the campaign", "only new prompts"
		v.Remedy = "the file of prompts came to its end, and a prefix cache answers repeated ones: add prompts, or allow it with --reuse-prompts"
	case w.IgnoreEOS && r.RequestedOutputTokens <= 0:
		v.Observed, v.Remedy = "the requested output length is unknown", "give the workload an output length"
	case w.IgnoreEOS && math.Abs(ratio-1) > maxLengthDrift:
		v.Observed = fmt.Sprintf("%.2f output tokens a request, %.2f requested", r.OutputTokensPerRequest, r.RequestedOutputTokens)
		v.Threshold += " of the request"
		v.Remedy = "the server does not honour ignore_eos or max_tokens; answers of another length are another workload"
	case !w.IgnoreEOS && medianRatio > 0 && math.Abs(ratio/medianRatio-1) > maxLengthDrift:
		v.Observed = fmt.Sprintf("output length is %+.1f %% of the campaign's median", 100*(ratio/medianRatio-1))
		v.Threshold += " of the campaign's median"
		v.Remedy = "answers became longer or shorter: was the model, its template or the sampling changed meanwhile?"
	default:
		return nil
	}
	return &v
}

// checkLittle is V3, a self-test of the generator.
func checkLittle(r loadgen.Result) []Violation {
	h := r.Health
	if h.LittleMeasured && h.LittleResidual <= maxLittle && h.LittleResidual >= 0 {
		return nil
	}
	v := Violation{
		Gate: "V3", Observed: "not measured", Threshold: fmt.Sprintf("|X·R/N − 1| ≤ %.0f %%", 100*maxLittle),
		Remedy: "the generator did not hold its concurrency in the steady window: run it longer or on a less busy machine, and see that the server keeps connections alive",
	}
	if h.LittleMeasured {
		v.Observed = fmt.Sprintf("%.1f %%", 100*h.LittleResidual)
	}
	return []Violation{v}
}

// checkPods is V8 for a run that several generators made: all were there until
// its end, and began together.
func checkPods(r loadgen.Result) *Violation {
	v := Violation{
		Gate: "V8", Threshold: "every generator until the end",
		Remedy: "it is repeated; if it happens again, look at the events of the generator pods: memory limits, evictions, preemption",
	}
	switch {
	case len(r.LostPods) > 0:
		v.Observed = fmt.Sprintf("lost %s: ended or restarted during the run", strings.Join(r.LostPods, ", "))
	case r.Stopped == "peers":
		v.Observed = "a generator waited for the others in vain"
	default:
		return nil
	}
	return &v
}

// checkSuspended is V8 for a run in which this tool itself stood still: the
// silence that it saw would else be the server's stall.
func checkSuspended(r loadgen.Result) *Violation {
	if len(r.Suspended) == 0 {
		return nil
	}
	v := Violation{
		Gate: "V8", Observed: r.Suspended[0].String(), Threshold: "never for 0.5 s",
		Remedy: "it is repeated; keep the process running (no Ctrl-Z, no debugger), its container unfrozen and its machine awake",
	}
	if more := len(r.Suspended) - 1; more > 0 {
		v.Observed += "; and " + plural.Of(more, "more time")
	}
	return &v
}

// checkGenerator is V8: this tool was not the bottleneck. Its own CPU share and
// the time for which tokens waited for it in the kernel are what decides
// (knee.md §17). The other health numbers are evidence: events per read, because
// a short answer's tail shares a read on a healthy server; the run queue,
// collector pauses and late starts, because what they cost is in the lag or in
// the concurrency that V3 judges; slow connects, because no connect is in a
// latency.
func checkGenerator(r loadgen.Result, sloMaxTTFTMS float64) []Violation {
	var out []Violation
	const remedy = "the generator is the bottleneck: use a larger machine or fewer streams; this level says nothing about the server"
	if r.Health.CPUShare > maxCPUShare {
		out = append(out, Violation{
			Gate: "V8", Observed: fmt.Sprintf("client-bound: %.0f %% of the generator's CPU", 100*r.Health.CPUShare),
			Threshold: fmt.Sprintf("≤ %.0f %%", 100*maxCPUShare), Remedy: remedy,
		})
	}
	limit := max(lagFloorMS, lagShareOfSLO*sloMaxTTFTMS)
	if r.Health.KernelTime && r.Health.LagP99MS > limit {
		out = append(out, Violation{
			Gate: "V8", Observed: fmt.Sprintf("client-bound: this tool read tokens %.2f ms late (p99)", r.Health.LagP99MS),
			Threshold: fmt.Sprintf("≤ %.2f ms", limit), Remedy: remedy,
		})
	}
	return out
}
