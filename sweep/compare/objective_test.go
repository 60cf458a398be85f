package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// withGood adds goodput: all of the throughput up to met per GPU, none above.
func withGood(s Side, met int) Side {
	s.SLO.State = sweep.SLOInsufficient
	for _, r := range s.Runs {
		g := sweep.GoodRun{ConcurrencyPerGPU: r.ConcurrencyPerGPU, TokPerSecPerGPU: r.TokPerSecPerGPU}
		if g.None = r.ConcurrencyPerGPU > met; g.None {
			g.TokPerSecPerGPU /= 2 * 1000
		}
		s.Good = append(s.Good, g)
	}
	return s
}

// TestGoodputVerdict: what throughput does not see, an objective does.
func TestGoodputVerdict(t *testing.T) {
	for _, paired := range []bool{false, true} {
		o := options
		o.Paired = paired
		for _, c := range []struct {
			name       string
			metA, metB int
			speed      float64
			want       Verdict
		}{
			{"equal", 256, 256, 1, Same},
			{"a tenth slower", 256, 256, 0.9, Worse},
			{"equal where either meets it", 32, 32, 1, Same},
			{"B meets it up to half of A", 64, 32, 1, CannotTell},
			{"B meets it nowhere", 64, 0, 1.1, Worse},
			{"A meets it nowhere", 0, 64, 0.9, Better},
			{"neither meets it", 0, 0, 1, Absent},
		} {
			r, err := Curves(withGood(side(1, 3, 1, 0.005), c.metA), withGood(side(2, 3, c.speed, 0.005), c.metB), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Goodput == nil || r.Goodput.Verdict != c.want || math.IsInf(r.Goodput.Ratio, 0) || r.Paired != paired {
				t.Errorf("%s, paired %v: %+v, want %s", c.name, paired, r.Goodput, c.want)
			}
			if text := strings.Join(r.Warnings, "\n"); (c.metB < c.metA) != strings.Contains(text, "B has runs without a good request at ") {
				t.Errorf("%s: %q", c.name, text)
			}
		}
	}
}

// TestGoodputNotCounted: what one side did not count is told, and compared with
// nothing.
func TestGoodputNotCounted(t *testing.T) {
	r, err := Curves(withGood(side(1, 3, 1, 0.005), 64), side(2, 3, 1, 0.005), options)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(r.Warnings, "\n"); r.Goodput != nil || !strings.Contains(text, "B counted no goodput") || strings.Contains(text, "A counted") {
		t.Errorf("%+v: %q", r.Goodput, text)
	}
	bare, err := Curves(side(1, 3, 1, 0.005), side(2, 3, 1, 0.005), options)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(bare.Warnings, "\n"); bare.Goodput != nil || strings.Contains(text, "goodput") {
		t.Errorf("%+v without an objective: %q", bare.Goodput, text)
	}
}

// TestCrossings: only two located crossings have a ratio.
func TestCrossings(t *testing.T) {
	crossed := func(n float64) sweep.SLO {
		return sweep.SLO{State: sweep.SLOCrossed, ConcurrencyPerGPU: n, Low: n / 1.25, High: n * 1.25}
	}
	for _, c := range []struct {
		a, b             sweep.SLO
		ratio, low, high float64
	}{
		{crossed(32), crossed(64), 2, 1.28, 3.125},
		{crossed(64), crossed(32), 0.5, 0.32, 0.78125},
		{crossed(32), sweep.SLO{State: sweep.SLOMet, ConcurrencyPerGPU: 256, Low: 200, High: 256}, 0, 0, 0},
		{sweep.SLO{State: sweep.SLONotMet, Low: 8, High: 9}, crossed(64), 0, 0, 0},
		{sweep.SLO{}, sweep.SLO{}, 0, 0, 0},
	} {
		var r Report
		if r.compareSLO(c.a, c.b); math.Abs(r.SLORatio-c.ratio)+math.Abs(r.SLOLow-c.low)+math.Abs(r.SLOHigh-c.high) > 1e-9 {
			t.Errorf("%+v", r)
		}
	}
	a, b := crossed(32), crossed(64)
	for _, open := range []*bool{&a.LowOpen, &a.HighOpen, &b.LowOpen, &b.HighOpen} {
		*open = true
		var r Report
		r.compareSLO(a, b)
		low := open == &a.HighOpen || open == &b.LowOpen
		if r.SLOLowOpen != low || r.SLOHighOpen == low {
			t.Errorf("%+v and %+v: %+v", a, b, r)
		}
		*open = false
	}
}
