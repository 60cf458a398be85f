package sweep

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/loadgen"
)

// sloLevel is the runs of one concurrency.
type sloLevel struct {
	n    int
	runs []LatencyRun
}

func sloLevels(runs []LatencyRun) (levels []sloLevel) {
	by := map[int][]LatencyRun{}
	for _, r := range runs {
		if r.ConcurrencyPerGPU > 0 {
			by[r.ConcurrencyPerGPU] = append(by[r.ConcurrencyPerGPU], r)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(by)) {
		levels = append(levels, sloLevel{n, by[n]})
	}
	return levels
}

// sloLimit is one side of an objective.
type sloLimit struct {
	name, what string
	limit      float64 // ln ms
	value      func(LatencyRun) float64
	told       func(*SLOLevel) *float64
	// Over the levels: median ln p99, its standard error by that of a run, and
	// the pooled noise of a run on so many degrees of freedom.
	center, se []float64
	noise      float64
	df         int
	floor      float64 // of noise
}

// limitsOf lists the sides that an objective has.
func limitsOf(o loadgen.Objective) []sloLimit {
	all := []sloLimit{
		{
			name: "ttft_p99", what: "TTFT p99", limit: o.TTFTMS, noise: ttftNoise, floor: ttftNoiseFloor,
			value: func(r LatencyRun) float64 { return r.TTFTP99MS }, told: func(l *SLOLevel) *float64 { return &l.TTFTP99MS },
		},
		{
			name: "itl_p99", what: "ITL p99", limit: o.ITLMS, noise: itlNoise, floor: itlNoiseFloor,
			value: func(r LatencyRun) float64 { return r.ITLP99MS }, told: func(l *SLOLevel) *float64 { return &l.ITLP99MS },
		},
	}
	all = slices.DeleteFunc(all, func(m sloLimit) bool { return m.limit == 0 })
	for i := range all {
		all[i].limit = exact.Log(all[i].limit)
	}
	return all
}

// logs are the level's values in order: what is added up must not depend on
// the order of the runs.
func (m *sloLimit) logs(l sloLevel) []float64 {
	var out []float64
	for _, r := range l.runs {
		if v := m.value(r); v > 0 && !math.IsInf(v, 1) {
			out = append(out, exact.Log(v))
		}
	}
	slices.Sort(out)
	return out
}

// described is what the answer tells of its levels.
func described(levels []sloLevel, limits []sloLimit) []SLOLevel {
	var out []SLOLevel
	for _, l := range levels {
		d := SLOLevel{ConcurrencyPerGPU: l.n, Runs: len(l.runs)}
		for _, m := range limits {
			var values []float64
			for _, r := range l.runs {
				if v := m.value(r); v > 0 {
					values = append(values, v)
				}
			}
			*m.told(&d) = Median(values)
		}
		out = append(out, d)
	}
	return out
}

// crossing is where limits are crossed on levels.
type crossing struct {
	n      []float64
	limits []sloLimit
	weight []float64
}

func newCrossing(levels []sloLevel, limits []sloLimit) *crossing {
	c := &crossing{limits: limits}
	for _, l := range levels {
		c.n, c.weight = append(c.n, float64(l.n)), append(c.weight, float64(len(l.runs)))
	}
	for i := range limits {
		m := &limits[i]
		ss := 0.0
		for _, l := range levels {
			logs := m.logs(l)
			r := float64(len(logs))
			mean := 0.0
			for _, v := range logs {
				mean += v / r
			}
			for _, v := range logs {
				ss += float64((v - mean) * (v - mean))
			}
			m.df += len(logs) - 1
			m.center = append(m.center, Median(logs))
			se := 1 / math.Sqrt(r)
			if r > 2 {
				se *= medianSE
			}
			m.se = append(m.se, se)
		}
		if m.df > 0 {
			m.noise = max(math.Sqrt(ss/float64(m.df)), m.floor)
		}
	}
	return c
}

// estimate is the crossing, the last level at or below it (−1: none), and the
// limit that is crossed.
func (c *crossing) estimate() (n float64, at int, binding string) {
	n, at = math.Inf(1), len(c.n)-1
	for _, m := range c.limits {
		k, i := c.cross(m.center, m.limit)
		if k < n {
			n, at, binding = k, i, m.name
		}
	}
	return n, at, binding
}

// interval is the 90 % bootstrap interval, 0 below and +Inf above the levels.
func (c *crossing) interval() (lo, hi float64) {
	rng := rand.New(rand.NewPCG(1, 0x736c6f)) // "slo"
	found := make([]float64, sloReplicates)
	y := make([]float64, len(c.n))
	for b := range found {
		found[b] = math.Inf(1)
		for _, m := range c.limits {
			s := m.noise * studentScale(rng, m.df)
			for i, center := range m.center {
				y[i] = center + float64(s*m.se[i]*rng.NormFloat64())
			}
			n, _ := c.cross(y, m.limit)
			found[b] = min(found[b], n)
		}
	}
	slices.Sort(found)
	k := int(sloTail * sloReplicates)
	return found[k], found[sloReplicates-1-k]
}

// studentScale draws what a standard deviation on so many degrees of freedom
// may really be, as a multiple of it; an assumed one is taken as it is.
func studentScale(rng *rand.Rand, df int) float64 {
	if df < 1 {
		return 1
	}
	chi2 := 0.0
	for range df {
		z := rng.NormFloat64()
		chi2 += float64(z * z)
	}
	return math.Sqrt(float64(df) / chi2)
}

// cross is where ln p99 of the levels reaches a limit: 0 if the lowest level is
// above it, +Inf if none is.
func (c *crossing) cross(y []float64, limit float64) (n float64, at int) {
	fit := isotonic(y, c.weight)
	for at = len(fit) - 1; at >= 0 && fit[at] > limit; at-- {
	}
	switch {
	case at < 0:
		return 0, at
	case at == len(fit)-1:
		return math.Inf(1), at
	}
	a, b := c.n[at], c.n[at+1]
	part := (limit - fit[at]) / (fit[at+1] - fit[at])
	return min(max(a*exact.Pow(b/a, part), a), b), at
}
