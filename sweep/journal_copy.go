package sweep

import "github.com/perfsweep/perfsweep/loadgen"

// Measurement tells a run from every other one by what it measured. Times are
// measured to the nanosecond over hundreds of requests: no two runs share all of
// these, whenever and wherever they were made.
type Measurement struct {
	kind                        loadgen.RunKind
	seconds, rate               float64
	ttftMean, ttftP99, e2eMean  float64
	windowSeconds, windowTokens float64
}

// Measurement of a run; known is false where too little was recorded to tell it
// from another.
func (r Run) Measurement() (m Measurement, known bool) {
	w, v := r.Result.WholeRun, r.Result.Window
	return Measurement{
		r.Step.Kind, w.Seconds, w.OutputTokPerSec, w.TTFTMeanMS, w.TTFTP99MS, w.E2EMeanMS, v.Seconds, v.OutputTokens,
	}, w.Seconds > 0 && w.OutputTokPerSec > 0 && w.TTFTMeanMS > 0 && w.E2EMeanMS > 0
}

// measuredRuns are the runs of a journal by what they measured.
type measuredRuns map[Measurement]int

// copied reports which run a further one repeats, and notes it if none.
func (s measuredRuns) copied(r Run) (seq int, known bool) {
	m, told := r.Measurement()
	if !told {
		return 0, false
	}
	if seq, known = s[m]; !known {
		s[m] = r.Seq
	}
	return seq, known
}
