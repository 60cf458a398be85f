package knee

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// cleaningSteps tells what was left out before the fit.
func (j *judged) cleaningSteps(f *Fit) []Step {
	noise := Step{
		Rule:     "run-to-run noise",
		Seen:     fmt.Sprintf("%.2f %% on %s of freedom, pooled within levels", 100*f.Noise, plural.Of(f.NoiseDF, "degree")),
		Decision: "a gap wider than the noise explains splits a level, and only its upper runs count",
	}
	if j.pool.df <= 0 {
		noise.Seen, noise.Decision = "no level was repeated", fmt.Sprintf("%.0f %% is assumed", 100*assumedNoise)
	}
	left := Step{Rule: "levels left out", Seen: "none", Decision: plural.Of(len(j.fitted), "level") + plural.Verb(len(j.fitted), " is", " are") + " fitted"}
	var out []string
	for _, l := range j.measure {
		if l.valley {
			out = append(out, fmt.Sprintf("%d per GPU lies below both a lower and a higher level", l.n))
		}
	}
	if j.trimmed {
		out = append(out, fmt.Sprintf("everything above %d per GPU lies deep inside a collapse", j.measure[len(j.measure)-1].n))
	}
	if len(out) > 0 {
		left.Seen = strings.Join(out, "; ")
	}
	return []Step{noise, left}
}

// statusSteps tells decide's decisions, in its order, with its numbers.
func (j *judged) statusSteps(f *Fit) []Step {
	steps := []Step{j.tiltStep(), j.modelStep()}
	switch {
	case j.top == 0:
	case j.top == j.last():
		steps = append(steps, j.endStep(), j.agreementStep())
	default:
		steps = append(steps, j.misfitStep(), j.agreementStep())
	}
	steps = append(steps, j.latencyStep(), j.climbStep())
	if f.Status == Knee {
		steps = append(steps, j.challengeStep())
	}
	return append(steps, j.answerStep(f))
}

func (j *judged) tiltStep() Step {
	top, lowest, highest := j.n(j.top), j.y[0], j.y[0]
	for _, y := range j.y {
		highest = max(highest, y)
	}
	gain := exact.Exp(highest - lowest)
	s := Step{Rule: "tilted argmax", Seen: fmt.Sprintf("ln X − %.2f·ln n is largest at %.0f per GPU; throughput gains ×%.3g over the lowest level", j.e, top, gain)}
	switch {
	case gain < leastGain:
		s.Decision = fmt.Sprintf("less than ×%.2f: saturated at the lowest level", leastGain)
	case j.top == 0:
		s.Decision = "that is the lowest level: saturated there"
	case j.top == j.last():
		s.Decision = "that is the highest level: a knee needs a model that bends before it"
	default:
		s.Decision = "the knee is looked for around it"
	}
	return s
}

func (j *judged) modelStep() Step {
	s := Step{Rule: "model by AICc", Seen: j.model.name()}
	switch {
	case j.knee == 0:
		s.Decision = "it has no rise above e*, so no knee"
	case math.IsInf(j.knee, 1):
		s.Decision = "it rises for ever, so no knee"
	default:
		s.Decision = fmt.Sprintf("its elasticity falls below %.2f at %.4g per GPU", j.e, j.knee)
	}
	return s
}

// endStep is asked where the highest level is the best one.
func (j *judged) endStep() Step {
	limit := j.n(j.last()) / endMargin
	s := Step{Rule: "knee before the end", Seen: fmt.Sprintf("the model's knee must not lie above %.4g, the highest level / %.2f", limit, endMargin), Decision: "it does not"}
	if !(j.knee <= limit*slack) {
		s.Decision = "it does: not saturated, unless latency decides"
	}
	return s
}

func (j *judged) misfitStep() Step {
	rms, limit := j.misfit()
	s := Step{Rule: "lack of fit", Seen: fmt.Sprintf("the levels lie %.1f %% from the model (rms), %.1f %% is allowed", 100*rms, 100*limit), Decision: "the model may speak"}
	if rms > limit {
		s.Decision = "no model describes these levels"
	}
	return s
}

func (j *judged) agreementStep() Step {
	s := Step{Rule: "agreement of model and levels"}
	if j.knee == 0 || j.knee > j.n(j.last())*slack || j.knee*slack < j.n(0) {
		s.Seen, s.Decision = "the model has no knee within the measured levels", "the model is not accepted"
		return s
	}
	between, near, loss, allowed := j.agreement(j.knee)
	lower, upper := j.n(max(j.top-1, 0)), j.n(min(j.top+1, j.last()))
	s.Seen = fmt.Sprintf("the neighbours of the tilted argmax are %.0f and %.0f; the level nearest to the model's knee, %.0f, loses %.1f %% of the tilt, two standard errors are %.1f %%",
		lower, upper, j.n(near), lossPct(loss), lossPct(allowed))
	switch {
	case between:
		s.Decision = "the model's knee lies between the neighbours: accepted"
	case j.agrees(j.knee):
		s.Decision = "the model's knee lies outside, but the levels do not contradict it: accepted"
	default:
		s.Decision = "the levels contradict the model: not accepted"
	}
	return s
}

func (j *judged) latencyStep() Step {
	s := Step{Rule: "latency edge", Seen: fmt.Sprintf("no TTFT p99 step of ×%.0f or more that every higher level sustains", edgeStep), Decision: "latency does not overrule throughput"}
	if j.edge == 0 {
		return s
	}
	next := j.after(j.edge)
	s.Seen = fmt.Sprintf("after %d per GPU TTFT p99 steps up by ×%.0f or more, and stays up", j.edge, edgeStep)
	if a := j.decide(); a.status == LatencyLimited {
		s.Decision = fmt.Sprintf("the knee may not lie above %d: latency limits the load", next)
	} else {
		s.Decision = fmt.Sprintf("the knee does not lie above %d anyway", next)
	}
	return s
}

func (j *judged) climbStep() Step {
	one, two, behind, allowed := j.climb()
	s := Step{Rule: "still rising at the end", Decision: "not overruled"}
	s.Seen = fmt.Sprintf("slope %.2f over the last octave and %.2f over the last two; the last level's tilt is %.1f %% below the best, %.1f %% is noise",
		finite(one), finite(two), lossPct(behind), lossPct(allowed))
	if a := j.fromModel(); a.knee > 0 && j.stillRising(a.knee) {
		s.Decision = "a knee in the last octave is overruled: not saturated"
	}
	return s
}

// finite replaces the slope of a single level.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return 0
	}
	return v
}

func (j *judged) challengeStep() Step {
	s := Step{Rule: "challengers", Seen: "once refined, no other model has a lower AICc, and none for a cliff or a slow bend", Decision: "the knee stays where " + j.model.name() + " has it"}
	if j.better != nil {
		s.Seen = fmt.Sprintf("once both are refined, %s has a lower AICc than %s", j.better.name(), j.model.name())
		s.Decision = fmt.Sprintf("the knee is not %.4g but %.4g", j.knee, j.better.knee(j.e))
	}
	return s
}

func (j *judged) answerStep(f *Fit) Step {
	s := Step{Rule: "answer", Seen: string(f.Status), Decision: "no knee"}
	switch {
	case f.Status == LatencyLimited:
		s.Decision = fmt.Sprintf("the knee is the middle of the step after the edge: √(%d·%d) = %.4g", j.edge, j.after(j.edge), f.Knee)
	case f.Status == Ambiguous:
		s.Decision = fmt.Sprintf("the tilted argmax, %.0f, stands in for a knee", f.Knee)
	case f.Knee > 0 && f.Knee != f.GridKnee:
		s.Decision = fmt.Sprintf("the model's knee, %.4g on the grid of candidates, %.4g after refinement", f.GridKnee, f.Knee)
	case f.Knee > 0:
		s.Decision = fmt.Sprintf("the model's knee, %.4g", f.Knee)
	}
	return s
}
