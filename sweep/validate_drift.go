package sweep

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// V5 (knee.md §18.2): a line through the window throughputs.
const (
	minDriftWindows, maxDriftWindows = 20, 180
	minDriftT                        = 5
	minDriftShare                    = 0.03
)

// checkDrift is V5: the measured part was level. Both bounds must be broken: a
// significant slope may be tiny in a long run, a large one noise in a short one.
func checkDrift(r loadgen.Result) []Violation {
	v := Violation{
		Gate: "V5", Threshold: fmt.Sprintf("|t| < %d or a drift of at most %.0f %%", minDriftT, 100*minDriftShare),
		Remedy: "the server had not settled: let it warm up and run the level again",
	}
	y := rebin(r.Series, maxDriftWindows)
	if len(y) < minDriftWindows {
		v.Observed = fmt.Sprintf("not measured: %s, %d are needed", plural.Of(len(y), "window"), minDriftWindows)
		v.Remedy = "the steady part was too short; raise the run's time limit"
		return []Violation{v}
	}
	t, drift := driftOf(y)
	if math.Abs(t) >= minDriftT && math.Abs(drift) > minDriftShare {
		v.Observed = fmt.Sprintf("throughput drifted by %+.1f %% over the run (t = %.1f)", 100*drift, t)
		return []Violation{v}
	}
	return nil
}

// driftOf fits a line through equidistant values by least squares and returns
// t of its slope and the change over the whole length as a share of the mean.
func driftOf(y []float64) (t, drift float64) {
	n := float64(len(y))
	var mean float64
	for _, v := range y {
		mean += v / n
	}
	mid := float64((n - 1) / 2)
	var sxx, sxy float64
	for i, v := range y {
		sxx += float64((float64(i) - mid) * (float64(i) - mid))
		sxy += float64((float64(i) - mid) * (v - mean))
	}
	slope := sxy / sxx
	var rss float64
	for i, v := range y {
		e := v - mean - float64(slope*(float64(i)-mid))
		rss += float64(e * e)
	}
	drift = slope * n / mean
	se := math.Sqrt(rss / (n - 2) / sxx)
	switch {
	case slope == 0:
		return 0, 0
	case se == 0:
		return math.Copysign(math.Inf(1), slope), drift
	}
	return slope / se, drift
}

// rebin sums neighbouring windows until at most top are left; a last group
// that is not full is dropped.
func rebin(series []float64, top int) []float64 {
	k := (len(series) + top - 1) / top
	return groups(series, k)
}

// groups sums each k neighbouring values.
func groups(series []float64, k int) []float64 {
	if k <= 1 {
		return series
	}
	out := make([]float64, 0, len(series)/k)
	for i := 0; i+k <= len(series); i += k {
		var sum float64
		for _, v := range series[i : i+k] {
			sum += v
		}
		out = append(out, sum)
	}
	return out
}
