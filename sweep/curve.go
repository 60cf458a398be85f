package sweep

import (
	"slices"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
)

// Points are the valid steady runs of a curve as the estimator wants them. They
// are those of the first window: a level measured on two deployments would be
// held against neighbours measured on one.
func (c Curve) Points() []knee.Run {
	return points(inWindow(c.Runs, 1), c.Fingerprint.GPUs, c.Plan.Effort)
}

// Fit is knee.Find over Points.
func (c Curve) Fit() knee.Fit {
	return knee.Find(c.Points(), knee.Options{EStar: c.Plan.EStar})
}

// OutputTokens is the number of output tokens of every request that the
// recorded campaign sent, preflight and warm-ups included, to be compared with
// the server's own counter.
func (c Curve) OutputTokens() int64 {
	total := c.Preflight.OutputTokens
	for _, r := range c.Runs {
		total += r.Result.TotalOutputTokens
	}
	return total
}

// FromPoints makes runs of points that came without a journal, such as a CSV,
// so that ChoosePoint can be asked about them. They are taken to be of one GPU
// and valid: their source has already judged them.
func FromPoints(points []knee.Run) []Run {
	runs := make([]Run, len(points))
	for i, p := range points {
		runs[i] = Run{
			Seq:  i + 1,
			Step: Step{ConcurrencyPerGPU: p.ConcurrencyPerGPU, Kind: loadgen.Steady},
			Result: loadgen.Result{
				Kind: loadgen.Steady, Concurrency: p.ConcurrencyPerGPU,
				Window: loadgen.Estimate{
					OutputTokPerSec: p.TokPerSecPerGPU,
					TTFTP50MS:       p.TTFTP50MS, TTFTP99MS: p.TTFTP99MS, ITLP50MS: p.ITLMS, ITLP99MS: p.ITLP99MS,
				},
			},
		}
	}
	return runs
}

// isPoint reports whether a run is a point of the curve.
func isPoint(r Run) bool {
	return r.Step.Kind == loadgen.Steady && r.Step.Purpose != Pulse && r.Valid()
}

// points turns valid steady runs into estimator input: the window estimator,
// per GPU.
func points(runs []Run, gpus int, e Effort) []knee.Run {
	var out []knee.Run
	for _, r := range runs {
		if !isPoint(r) {
			continue
		}
		w := r.Result.Window
		p := knee.Run{
			ConcurrencyPerGPU: r.Step.ConcurrencyPerGPU,
			TokPerSecPerGPU:   w.OutputTokPerSec / float64(max(gpus, 1)),
			TTFTP50MS:         w.TTFTP50MS,
			ITLMS:             w.ITLP50MS,
		}
		if e.usesP99(w.Requests) {
			p.TTFTP99MS, p.ITLP99MS = w.TTFTP99MS, w.ITLP99MS
		}
		out = append(out, p)
	}
	return out
}

// gpusOf derives the number of GPUs from the runs: a step is per GPU, a result
// counts all streams.
func gpusOf(runs []Run) int {
	for _, r := range runs {
		if n := r.Step.ConcurrencyPerGPU; n > 0 && r.Result.Concurrency >= n {
			return r.Result.Concurrency / n
		}
	}
	return 1
}

// Differences are all x − y of an x of a and a y of b; their median is the
// Hodges–Lehmann estimate of the shift from b to a.
func Differences(a, b []float64) []float64 {
	out := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x-y)
		}
	}
	return out
}

// Median of unsorted values, 0 of none.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	h := len(s) / 2
	if len(s)%2 == 1 {
		return s[h]
	}
	return float64(s[h-1]/2) + float64(s[h]/2) // the sum of two huge values is no number
}
