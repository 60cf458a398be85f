package sweep

import (
	"strconv"

	"github.com/perfsweep/perfsweep/loadgen"
)

// measurement tells a run from every other one by all that it measured.
type measurement struct {
	kind                        loadgen.RunKind
	seconds, rate               float64
	ttftMean, ttftP99, e2eMean  float64
	windowSeconds, windowTokens float64
}

// measurement of a run; known is false where too little was recorded to tell it
// from another.
func (r Run) measurement() (m measurement, known bool) {
	w, v := r.Result.WholeRun, r.Result.Window
	return measurement{
		r.Step.Kind, w.Seconds, w.OutputTokPerSec, w.TTFTMeanMS, w.TTFTP99MS, w.E2EMeanMS, v.Seconds, v.OutputTokens,
	}, w.Seconds > 0 && w.OutputTokPerSec > 0 && w.TTFTMeanMS > 0 && w.E2EMeanMS > 0
}

// markDigits is how many significant digits a number may have at most that says
// nothing of whose it is: times that a person or another tool wrote down, in whole
// milliseconds say, repeat by themselves.
const markDigits = 6

// marks are the numbers that tell a run from every other one, 0 for one that does
// not, or is absent.
func (r Run) marks() [6]float64 {
	w := r.Result.WholeRun
	m := [...]float64{w.Seconds, w.OutputTokPerSec, w.TTFTMeanMS, w.TTFTP99MS, w.ITLMeanMS, w.E2EMeanMS}
	for i, v := range m {
		m[i] = mark(v)
	}
	return m
}

// mark is a number that tells whose it is, 0 for one that does not.
func mark(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', markDigits, 64), 64)
	if err != nil || short == v {
		return 0
	}
	return v
}

// threeMarks are three marks of a run: which they are, and their values.
type threeMarks struct {
	which  [3]int8
	values [3]float64
}

// threes are all that a run has.
func (r Run) threes() []threeMarks {
	var out []threeMarks
	m := r.marks()
	for i := range m {
		for j := range i {
			for k := range j {
				if m[i] != 0 && m[j] != 0 && m[k] != 0 {
					out = append(out, threeMarks{[3]int8{int8(i), int8(j), int8(k)}, [3]float64{m[i], m[j], m[k]}})
				}
			}
		}
	}
	return out
}

// Measured holds runs, to find their copies. Times are measured to the nanosecond
// over hundreds of requests: runs that have three of six such numbers in common, to
// the last bit, are one and the same, whenever and wherever a copy claims to be
// made, and whatever was altered beside these.
type Measured struct {
	whole  map[measurement]int
	threes map[threeMarks]int
}

// NewMeasured holds the runs that are given.
func NewMeasured(runs ...Run) *Measured {
	s := &Measured{map[measurement]int{}, map[threeMarks]int{}}
	for _, r := range runs {
		s.add(r)
	}
	return s
}

func (s *Measured) add(r Run) {
	if m, known := r.measurement(); known {
		s.whole[m] = r.Seq
	}
	for _, m := range r.threes() {
		s.threes[m] = r.Seq
	}
}

// Copied is the number of the run that a further one repeats.
func (s *Measured) Copied(r Run) (seq int, is bool) {
	if m, known := r.measurement(); known {
		if seq, is = s.whole[m]; is {
			return seq, true
		}
	}
	for _, m := range r.threes() {
		if seq, is = s.threes[m]; is {
			return seq, true
		}
	}
	return 0, false
}
