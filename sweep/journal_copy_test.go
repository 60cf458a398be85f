package sweep

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// measuredRuns is a journal with gate runs whose times have all their digits, each
// another measurement of one thing.
func measuredRuns(n int) Curve {
	c := recorded(1)
	for i := range n {
		gate := recorded(2).Runs[1]
		gate.Seq, gate.Started = i+2, gate.Started.Add(time.Duration(i)*time.Minute)
		fresh := 1 + 0.00123*float64(i)
		e := &gate.Result.WholeRun
		e.Seconds = 30.123456789 * fresh
		e.OutputTokPerSec, e.RequestsPerSec = e.OutputTokens/e.Seconds, float64(e.Requests)/e.Seconds
		e.TTFTMeanMS, e.TTFTP50MS, e.TTFTP90MS, e.TTFTP99MS, e.TTFTMaxMS = 45.1234567*fresh, 40.2345671*fresh, 90.3456712*fresh, 200.4567123*fresh, 400.5671234*fresh
		e.TTFTP99LowMS, e.TTFTP99HighMS = 180.6712345*fresh, 300.7123456*fresh
		e.TTFOMeanMS, e.TTFOP50MS, e.TTFOP99MS = 46.1234571*fresh, 41.2345712*fresh, 201.3457123*fresh
		e.TTSTMeanMS, e.TTSTP50MS, e.TTSTP99MS = 9.4571234*fresh, 8.5712345*fresh, 19.7123457*fresh
		e.ITLMeanMS, e.ITLP50MS, e.ITLP99MS = 11.1234579*fresh, 10.2345791*fresh, 20.3457912*fresh
		e.GapP50MS, e.GapP99MS = 10.4579123*fresh, 21.5791234*fresh
		e.E2EMeanMS, e.E2EP50MS, e.E2EP99MS = 367.7912345*fresh, 350.9123457*fresh, 710.1234579*fresh
		gate.Result.SeriesSeconds = e.Seconds / float64(len(gate.Result.Series))
		gate.Result.Window = *e
		c.Runs = append(c.Runs, gate)
	}
	return c
}

// later is a run under another time, in the place of the next one.
func later(c Curve, r Run) Run {
	r.Seq, r.Started = len(c.Runs)+1, r.Started.AddDate(0, 0, 1)
	return r
}

const aBit = 1 + 1e-7

// A copy of a run that is shifted in time stays one, whichever number of it is
// altered so little that it contradicts no other.
func TestAlteredCopy(t *testing.T) {
	c := measuredRuns(3)
	all := NewMeasured(c.Runs...)
	fields := reflect.TypeFor[loadgen.Estimate]()
	for i := range fields.NumField() {
		for _, of := range []func(*Run) *loadgen.Estimate{
			func(r *Run) *loadgen.Estimate { return &r.Result.WholeRun },
			func(r *Run) *loadgen.Estimate { return &r.Result.Window },
		} {
			r := later(c, c.Runs[2])
			f := reflect.ValueOf(of(&r)).Elem().Field(i)
			if !f.CanFloat() { // a number of requests is whole
				f.SetInt(f.Int() + 1)
			} else {
				f.SetFloat(f.Float() * aBit)
			}
			if seq, is := all.Copied(r); !is || seq != c.Runs[2].Seq {
				t.Errorf("%s altered: %v, run %d", fields.Field(i).Name, is, seq)
			}
		}
	}
	// As a reader finds it, in a window of its own.
	r := later(c, c.Runs[2])
	r.Result.WholeRun.E2EMeanMS *= aBit
	r.Window, r.Deployment = 2, "another"
	copied := c
	copied.Runs = append(slices.Clone(c.Runs), r)
	if _, err := ReadJournal(kept(t, copied)); err == nil || !strings.Contains(err.Error(), ":6: run 5 is a copy of run 3: their numbers") {
		t.Errorf("read: %v", err)
	}
	if _, err := ReadJournal(kept(t, c)); err != nil {
		t.Errorf("as it was measured: %v", err)
	}
}

// Three marks in common are a copy, whichever; two are chance.
func TestSharedMarks(t *testing.T) {
	c := measuredRuns(1)
	all := NewMeasured(c.Runs...)
	for mask := range 1 << 6 {
		r, shared := later(c, c.Runs[1]), 6
		w := &r.Result.WholeRun
		for i, v := range []*float64{&w.Seconds, &w.OutputTokPerSec, &w.TTFTMeanMS, &w.TTFTP99MS, &w.ITLMeanMS, &w.E2EMeanMS} {
			if mask>>i&1 == 1 {
				*v *= aBit
				shared--
			}
		}
		if _, is := all.Copied(r); is != (shared >= 3) {
			t.Errorf("%06b altered, %d shared: a copy: %v", mask, shared, is)
		}
	}
}

// Neither leaving runs out nor another order hides that the others are copies; and
// of two journals that measured one thing no run is one of the other.
func TestCopiesAmongRuns(t *testing.T) {
	a, b := measuredRuns(6), measuredRuns(12)
	all := NewMeasured(a.Runs...)
	b.Runs = b.Runs[7:]
	for i, r := range b.Runs {
		if seq, is := all.Copied(r); is {
			t.Errorf("another measurement, %d, is told to be run %d", i, seq)
		}
	}
	slices.Reverse(a.Runs)
	for drop := range a.Runs {
		left := slices.Delete(slices.Clone(a.Runs), drop, drop+1)
		for _, r := range left {
			if r.Step.Kind != loadgen.Gate {
				continue // it has few numbers, all of them round
			}
			if seq, is := all.Copied(later(b, r)); !is || seq != r.Seq {
				t.Errorf("without run %d: run %d: %v, %d", drop, r.Seq, is, seq)
			}
		}
	}
}

// What was written down in six digits or fewer repeats by itself.
func TestRoundedIsNoCopy(t *testing.T) {
	for ms, copied := range map[float64]bool{45: false, 45.1: false, 45.1234: false, 45.1234567: true} {
		c := measuredRuns(1)
		w := &c.Runs[1].Result.WholeRun
		w.Seconds, w.OutputTokPerSec = 12.345, w.OutputTokens/12.345 // whole milliseconds
		w.TTFTMeanMS, w.TTFTP99MS, w.ITLMeanMS, w.E2EMeanMS = ms, 2*ms, 11.5, 2*ms
		r := later(c, c.Runs[1])
		r.Result.Window.OutputTokens++
		if _, is := NewMeasured(c.Runs...).Copied(r); is != copied {
			t.Errorf("TTFT of %v ms: a copy: %v", ms, is)
		}
	}
}
