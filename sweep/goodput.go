package sweep

import (
	"github.com/perfsweep/perfsweep/loadgen"
)

// GoodputLevel is what one concurrency served within an objective: medians over
// its valid steady runs in all windows, rates per GPU.
type GoodputLevel struct {
	ConcurrencyPerGPU    int     `json:"concurrency_per_gpu"`
	Runs                 int     `json:"runs"`
	RequestsPerSecPerGPU float64 `json:"good_requests_per_s_per_gpu"`
	TokPerSecPerGPU      float64 `json:"good_output_tok_per_s_per_gpu"`
	// Share is of all measured requests, failed ones included.
	Share float64 `json:"good_share"`
	// Windows are those that measured the level, where there were several, and
	// LowestShare is the smallest share of one: what one deployment fails to
	// serve is not made good by another.
	Windows     int     `json:"windows,omitempty"`
	LowestShare float64 `json:"good_share_lowest_window,omitempty"`
	// LowestWindow is the one of LowestShare, which may be 0.
	LowestWindow int `json:"lowest_window,omitempty"`
	// WithoutITL counts answers of one token in all of the runs: with no ITL,
	// they were judged by TTFT alone.
	WithoutITL int64 `json:"without_itl,omitempty"`
}

// GoodputLevels lists the levels of the first window, with the runs of all
// windows that counted goodput by this very objective: percentiles can be judged
// by another one later, single requests cannot.
func GoodputLevels(o loadgen.Objective, runs []Run, gpus int) []GoodputLevel {
	by := map[int][]Run{}
	for _, r := range runs {
		if countsGoodput(o, r) {
			by[r.Step.ConcurrencyPerGPU] = append(by[r.Step.ConcurrencyPerGPU], r)
		}
	}
	var out []GoodputLevel
	for _, n := range viewOf(inWindow(runs, 1)).levels() {
		if len(by[n]) > 0 {
			out = append(out, goodputLevel(n, by[n], gpus))
		}
	}
	return out
}

// countsGoodput: a run without the objective, or with another one, says nothing
// of it.
func countsGoodput(o loadgen.Objective, r Run) bool {
	g := r.Result.Goodput
	return isPoint(r) && g != nil && g.Objective == o
}

func goodputLevel(n int, runs []Run, gpus int) GoodputLevel {
	l := GoodputLevel{ConcurrencyPerGPU: n, Runs: len(runs)}
	shares := func(runs []Run) (out []float64) {
		for _, r := range runs {
			out = append(out, r.Result.Goodput.Share)
		}
		return out
	}
	var requests, tokens []float64
	last := 1
	for _, r := range runs {
		g := r.Result.Goodput
		requests = append(requests, g.RequestsPerSec/float64(max(gpus, 1)))
		tokens = append(tokens, g.OutputTokPerSec/float64(max(gpus, 1)))
		l.WithoutITL += g.WithoutITL
		last = max(last, r.window())
	}
	l.RequestsPerSecPerGPU, l.TokPerSecPerGPU, l.Share = Median(requests), Median(tokens), Median(shares(runs))
	for w := 1; w <= last && last > 1; w++ {
		in := inWindow(runs, w)
		if len(in) == 0 {
			continue
		}
		share := Median(shares(in))
		if l.Windows++; l.Windows == 1 || share < l.LowestShare {
			l.LowestShare, l.LowestWindow = share, w
		}
	}
	return l
}

// GoodRun is what one run served within an objective, per GPU.
type GoodRun struct {
	ConcurrencyPerGPU int
	// TokPerSecPerGPU is 0 where it was not counted. Where no request was good
	// it is what half a good one would have made: less than what one would, and
	// a number that has a ratio to others. None tells the two apart.
	TokPerSecPerGPU float64
	None            bool
}

// GoodRuns are the runs of Points, in their order.
func (c Curve) GoodRuns(o loadgen.Objective) []GoodRun {
	var out []GoodRun
	gpus := float64(max(c.Fingerprint.GPUs, 1))
	for _, r := range inWindow(c.Runs, 1) {
		if !isPoint(r) {
			continue
		}
		g := GoodRun{ConcurrencyPerGPU: r.Step.ConcurrencyPerGPU}
		if countsGoodput(o, r) {
			is := r.Result.Goodput
			g.TokPerSecPerGPU = is.OutputTokPerSec / gpus
			if g.None = !(is.OutputTokPerSec > 0); g.None {
				g.TokPerSecPerGPU = r.Result.Window.OutputTokPerSec / gpus / 2 / float64(max(is.Requests, 1))
			}
		}
		out = append(out, g)
	}
	return out
}
