package knee

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// thresholds are the rules in which the reference implementation of §16
// differs; a test swaps them to prove where a difference comes from.
type thresholds struct {
	gap      gapRule
	ttftStep float64
	tenOnly  bool // without the challengers
}

// Find fits the runs. Runs must already have passed the run gates.
//
// Nothing in the input makes it panic: runs that cannot be measurements are
// left out with a warning, and options that Validate refuses or more levels
// than a fit can carry give Insufficient with a warning.
func Find(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{GapThreshold, edgeStep, false})
}

func find(runs []Run, opt Options, th thresholds) Fit {
	if err := opt.Validate(); err != nil {
		return Fit{Status: Insufficient, EStar: opt.EStar, Warnings: []string{err.Error()}}
	}
	opt = opt.withDefaults()
	fit := Fit{Status: Insufficient, EStar: opt.EStar}
	levels, warnings := groupLevels(runs)
	fit.Warnings = warnings
	if len(levels) > maxLevels {
		fit.warn("%s are more than the %d that a fit can carry; keep the half-octave ladder", plural.Of(len(levels), "level"), maxLevels)
		return fit
	}
	fit.Noise, fit.NoiseDF = cleanLevels(levels, th.gap)
	if len(levels) < minLevels {
		fit.warn("too few levels: %d, and a fit needs at least %d; measure more concurrencies", len(levels), minLevels)
		fit.describe(levels, levels)
		fit.Refine = suggest(levels, nil, answer{status: Insufficient})
		return fit
	}
	j := &judged{e: opt.EStar, measure: trimCollapse(levels)}
	j.trimmed = len(j.measure) < len(levels)
	j.fitted = dropValleys(j.measure)
	fit.judge(j, opt, th)
	fit.describe(levels, j.fitted)
	if j.trimmed {
		fit.warn("levels above %d per GPU lie deep inside a collapse and are left out of the fit", j.measure[len(j.measure)-1].n)
	}
	return fit
}

// judge fits the models, decides, and fills in the answer.
func (f *Fit) judge(j *judged, opt Options, th thresholds) {
	j.pool = poolOf(j.fitted)
	for _, l := range j.fitted {
		j.y = append(j.y, l.y)
		j.tilt = append(j.tilt, l.y-float64(j.e*exact.Log(float64(l.n))))
	}
	j.top = j.tiltedArgmax(j.y)
	j.edge = latencyEdge(j.fitted, th.ttftStep)

	g := newGrid(j.fitted)
	family, p := g.best(j.y, j.pool.ss, g.newDots())
	m := g.model(family, p)
	g.centerRidge(&m, j.y)
	j.model, j.knee, j.rss = m, m.knee(j.e), p.rss
	a := j.decide()
	m = g.refine(m, j.y, j.pool.ss, j.e)
	if !th.tenOnly && a.model {
		if j.better = j.challenge(g, m); j.better != nil {
			m = j.better.model
		}
	}
	j.final = m

	f.Status, f.GridKnee, f.Knee = a.status, a.knee, a.knee
	if a.model {
		f.Knee = j.bounded(m.knee(j.e))
	}
	f.Model, f.Params, f.curve = m.name(), m.params(), m.curve()
	f.TiltLevel, f.LatencyEdge = j.fitted[j.top].n, j.edge
	if f.Knee > 0 {
		lo, hi := resample(g, j, opt, f.Status)
		f.KneeLow, f.KneeHigh, j.spansOf = j.interval(lo, hi, f.Knee, f.Status)
	}
	f.Refine = suggest(j.fitted, j, answer{status: f.Status, knee: f.Knee})
	f.LastElasticity = lastElasticity(j.fitted)
	f.caveats(j)
	if opt.Explain {
		f.Reasoning = j.reasoning(g, f)
	}
}

// bounded keeps a refined knee where decide accepted the grid's: within the
// levels and not past the level after a latency edge.
func (j *judged) bounded(knee float64) float64 {
	top := j.n(j.last())
	if j.edge > 0 {
		top = min(top, float64(j.after(j.edge)))
	}
	return min(max(knee, j.n(0)), top)
}

// caveats says what the status leaves open.
func (f *Fit) caveats(j *judged) {
	last := j.fitted[j.last()].n
	switch f.Status {
	case NotSaturated:
		f.warn("throughput still rises at %d per GPU (elasticity %.2f over the last octave); the knee is higher, measure further up", last, f.LastElasticity)
	case SaturatedAtMin:
		f.warn("throughput hardly rises above %d per GPU; measure lower concurrencies", j.fitted[0].n)
	case Ambiguous:
		f.warn("the models and the measured levels disagree about the knee; measure between the levels around %d per GPU", f.TiltLevel)
	}
	if j.pool.df <= 0 {
		f.warn("no level was repeated; run-to-run noise is assumed to be %.0f %%", 100*assumedNoise)
	}
	missing := 0
	for _, l := range j.fitted {
		if l.t99 == 0 {
			missing++
		}
	}
	if missing > 0 {
		f.warn("%d of %s %s no TTFT p99; a latency edge there cannot be seen", missing, plural.Of(len(j.fitted), "level"), plural.Verb(missing, "has", "have"))
	}
}

// describe reports the levels and what was seen of them.
func (f *Fit) describe(levels, fitted []*level) {
	for _, l := range levels {
		f.Levels = append(f.Levels, l.report())
		if (l.split || l.ttft || l.valley) && len(f.Flags) == 0 {
			f.Flags = []string{flagUnstable}
		}
	}
	f.NStar = saturationBound(fitted)
	f.Warnings = append(f.Warnings, flagWarnings(levels)...)
}

func (f *Fit) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}
