package sweep

import "github.com/perfsweep/perfsweep/loadgen"

// GoodputLevel is what one concurrency served within an objective: medians over
// its valid steady runs, rates per GPU.
type GoodputLevel struct {
	ConcurrencyPerGPU    int     `json:"concurrency_per_gpu"`
	Runs                 int     `json:"runs"`
	RequestsPerSecPerGPU float64 `json:"good_requests_per_s_per_gpu"`
	TokPerSecPerGPU      float64 `json:"good_output_tok_per_s_per_gpu"`
	// Share is of all measured requests, failed ones included.
	Share float64 `json:"good_share"`
	// WithoutITL counts answers of one token in all of the runs: with no ITL,
	// they were judged by TTFT alone.
	WithoutITL int64 `json:"without_itl,omitempty"`
}

// GoodputLevels lists the levels of the first window whose runs counted
// goodput by this very objective: percentiles can be judged by another one
// later, single requests cannot.
func GoodputLevels(o loadgen.Objective, runs []Run, gpus int) []GoodputLevel {
	by := map[int][]loadgen.Goodput{}
	for _, r := range inWindow(runs, 1) {
		g := r.Result.Goodput
		if r.Step.Kind == loadgen.Steady && r.Valid() && g != nil && g.Objective == o {
			by[r.Step.ConcurrencyPerGPU] = append(by[r.Step.ConcurrencyPerGPU], *g)
		}
	}
	var out []GoodputLevel
	for _, n := range viewOf(inWindow(runs, 1)).levels() {
		if len(by[n]) == 0 {
			continue
		}
		l := GoodputLevel{ConcurrencyPerGPU: n, Runs: len(by[n])}
		var requests, tokens, shares []float64
		for _, g := range by[n] {
			requests = append(requests, g.RequestsPerSec/float64(max(gpus, 1)))
			tokens = append(tokens, g.OutputTokPerSec/float64(max(gpus, 1)))
			shares = append(shares, g.Share)
			l.WithoutITL += g.WithoutITL
		}
		l.RequestsPerSecPerGPU, l.TokPerSecPerGPU, l.Share = Median(requests), Median(tokens), Median(shares)
		out = append(out, l)
	}
	return out
}
