package knee

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// Reasoning is how a fit came to its answer, with every number that decided.
type Reasoning struct {
	// Candidates are the models, the winner first and then by AICc; those
	// that were not in the running come last.
	Candidates []Candidate `json:"candidates"`
	// Levels are those that were fitted.
	Levels []LevelReasoning `json:"levels"`
	// Steps are the decisions in the order in which they were made.
	Steps []Step `json:"steps"`
	// Spans are what the interval is the union of.
	Spans []Span `json:"interval,omitempty"`
}

// Candidate is one model on its best parameters.
type Candidate struct {
	Model      string             `json:"model"`
	Parameters int                `json:"parameters"`
	Params     map[string]float64 `json:"model_params,omitempty"`
	// ErrorPct is the rms distance of the levels from the model, in percent.
	ErrorPct float64 `json:"rms_error_pct"`
	// DeltaAICc is how much worse than the winner's its AICc is.
	DeltaAICc float64 `json:"delta_aicc"`
	// Knee is where its elasticity falls below e*; 0 where it does not within
	// twice the highest level, or lies below e* from the start.
	Knee float64 `json:"knee,omitempty"`
	// Rejected says why the model was not in the running.
	Rejected string `json:"rejected,omitempty"`
}

// LevelReasoning is a fitted level as the decisions saw it.
type LevelReasoning struct {
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu"`
	TokPerSecPerGPU   float64 `json:"output_tok_per_s_per_gpu"`
	// ModelPct is how far the level lies above the winner, in percent.
	ModelPct float64 `json:"off_model_pct"`
	// TiltPct is how far ln X − e*·ln n lies below its largest value, in
	// percent of throughput.
	TiltPct   float64 `json:"tilt_below_best_pct"`
	TTFTP99MS float64 `json:"ttft_p99_ms,omitempty"`
}

// Step is one decision: the rule, what was seen, and what follows.
type Step struct {
	Rule     string `json:"rule"`
	Seen     string `json:"seen"`
	Decision string `json:"decision"`
}

// Span is a part of the interval.
type Span struct {
	From string  `json:"from"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// reasoning tells how judge came to f.
func (j *judged) reasoning(g *grid, f *Fit) *Reasoning {
	r := &Reasoning{Candidates: j.candidates(g), Spans: j.spansOf}
	winner := j.final
	g.level(&winner, j.y)
	for i, l := range j.fitted {
		x := exact.Log(float64(l.n))
		r.Levels = append(r.Levels, LevelReasoning{
			ConcurrencyPerGPU: l.n,
			TokPerSecPerGPU:   exact.Exp(l.y),
			ModelPct:          100 * exact.Expm1(l.y-winner.at(x)),
			TiltPct:           lossPct(j.tilt[j.top] - j.tilt[i]),
			TTFTP99MS:         l.t99,
		})
	}
	r.Steps = append(j.cleaningSteps(f), j.statusSteps(f)...)
	return r
}

// lossPct turns a distance below something, of logarithms, into percent.
func lossPct(d float64) float64 { return max(-100*exact.Expm1(-d), 0) }

func (j *judged) candidates(g *grid) []Candidate {
	picks := g.fitAll(j.y, g.newDots())
	type scored struct {
		Candidate
		score float64
	}
	var all []scored
	least := math.Inf(1)
	add := func(o challenge) {
		c := scored{Candidate{Model: o.name(), Parameters: freeParams(o.family), Rejected: o.why}, math.Inf(1)}
		if o.why == "" {
			c.score, least = o.aicc, min(least, o.aicc)
		}
		if !math.IsInf(o.rss, 1) {
			g.level(&o.model, j.y)
			c.Params = o.params()
			c.ErrorPct = 100 * math.Sqrt(max(o.rss, 0)/g.sumW)
			if k := o.knee(j.e); k <= 2*j.n(j.last()) {
				c.Knee = k
			}
		}
		all = append(all, c)
	}
	refined := map[int]challenge{}
	found := j.decide().status == Knee
	if found {
		w := challenge{model: g.refine(j.model, j.y, j.pool.ss, j.e)}
		w.rss = g.profile(&w.model, j.y)
		w.aicc, w.why = g.score(w.family, w.rss, j.pool.ss)
		for _, c := range append(j.refined(g), w) {
			refined[c.family] = c
		}
	}
	for f := range families {
		c, isRefined := refined[f]
		if !isRefined {
			c.rss = picks[f].rss
			c.aicc, c.why = g.score(f, c.rss, j.pool.ss)
			if !math.IsInf(c.rss, 1) {
				c.model = g.model(f, picks[f])
			}
			if f == two && len(j.fitted) < minTwoStageLevels {
				c.why = fmt.Sprintf("needs %d levels", minTwoStageLevels)
			}
		}
		c.family = f
		add(c)
	}
	for _, c := range j.challengers(g) {
		if !found {
			c.why = "asked only where the others give a knee"
		}
		add(c)
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	out := make([]Candidate, len(all))
	for i, c := range all {
		if c.Rejected == "" {
			c.DeltaAICc = c.score - least
		}
		out[i] = c.Candidate
	}
	return out
}
