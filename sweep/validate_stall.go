package sweep

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// V6 (knee.md §8, §17).
const (
	stallShare      = 0.5 // of the median window
	stallWindowS    = 1.0
	stallTokens     = 20
	stallPauses     = 4
	silenceFloorMS  = 2000
	silenceTTFT99s  = 3
	silenceITL99s   = 20
	minStallWindows = 2
)

// checkStall is V6: the server never stood still. p99 cannot see a stall that
// touches one request in a hundred, so the throughput of windows is looked at.
func checkStall(r loadgen.Result) []Violation {
	const remedy = "the server stood still for a while: look for preemption, a stuck worker or a noisy neighbour; a level that stalls is not slow, it is unknown"
	v := Violation{Gate: "V6", Remedy: remedy}
	if r.Stopped == "silence" {
		v.Observed, v.Threshold = "no token arrived any more", "tokens until the end"
		return []Violation{v}
	}
	if len(r.Series) == 0 || !(r.SeriesSeconds > 0) {
		v.Observed, v.Threshold = "not measured: no throughput series", "a series of windows"
		v.Remedy = "the measured part was too short; raise the run's time limit"
		return []Violation{v}
	}
	e := r.Estimate()
	silence := max(silenceFloorMS, silenceTTFT99s*e.TTFTP99MS, silenceITL99s*e.ITLP99MS)
	if r.LongestSilenceMS > silence {
		v.Observed = fmt.Sprintf("no token on any stream for %.0f ms", r.LongestSilenceMS)
		v.Threshold = fmt.Sprintf("%.0f ms", silence)
		return []Violation{v}
	}
	windows, seconds := stallWindows(r, e)
	if len(windows) < minStallWindows {
		return nil // too short to compare windows; the silence above was looked at
	}
	typical, low := Median(positive(windows)), math.Inf(1)
	below := 0
	for _, w := range windows {
		low = min(low, w)
		if w < stallShare*typical {
			below++
		}
	}
	if below == 0 {
		return nil
	}
	v.Observed = fmt.Sprintf("%d of %s of %.1f s below %.0f %% of the median, the lowest at %.0f %%", below, plural.Of(len(windows), "window"), seconds, 100*stallShare, 100*low/typical)
	v.Threshold = "0 windows"
	return []Violation{v}
}

// stallWindows regroups the series into windows long enough to be compared:
// 1 s, or 20 tokens, or several times the longest regular pause of a stream,
// before its first token or between its chunks (a few streams, or streams in
// step, pause together and are not stalled; a proxy that buffers makes chunks of
// whole answers). A gate run begins with nothing in flight and drains at its end; both are cut.
func stallWindows(r loadgen.Result, e loadgen.Estimate) (windows []float64, seconds float64) {
	step, series := r.SeriesSeconds, r.Series
	if r.Kind == loadgen.Gate {
		head := math.Ceil(e.TTFTP50MS / 1000 / step)
		tail := math.Ceil(e.E2EP50MS / 1000 / step)
		if !(head >= 0 && tail >= 0 && head+tail < float64(len(series))) {
			return nil, 0
		}
		series = series[int(head) : len(series)-int(tail)]
	}
	seconds = max(stallWindowS, stallPauses*max(e.TTFTP50MS, e.GapP50MS)/1000)
	if perSecond := Median(positive(series)) / step; perSecond > 0 {
		seconds = max(seconds, stallTokens/perSecond)
	}
	k := math.Ceil(seconds/step - 1e-9)
	if k > float64(len(series)) {
		return nil, 0
	}
	return groups(series, int(max(k, 1))), max(k, 1) * step
}

// positive drops the windows without a token: the median that stalls are
// measured by must not be one of theirs, however many there are.
func positive(v []float64) []float64 {
	var out []float64
	for _, x := range v {
		if x > 0 {
			out = append(out, x)
		}
	}
	return out
}
