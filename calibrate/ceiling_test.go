package calibrate

import (
	"math"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
)

func TestCeiling(t *testing.T) {
	for _, c := range []struct {
		name string
		p99  []float64
		want float64
	}{
		// The GB300 record: 677 ms.
		{"GB300", []float64{677, 677, 677, 677, 677}, 1400},
		{"twice the median", []float64{100, 101, 99, 100, 100}, 200},
		// The logs lie at −ln 2, 0, 0, 0, ln 2 around ln 200: s = ln 2/√2.
		{"upper limit", []float64{100, 200, 400, 200, 200}, ceilSig(200*math.Exp(4.20268*math.Ln2/math.Sqrt2)/1.1, 2)},
		{"a spread below 10 % is luck", []float64{301, 301}, ceilSig(301*math.Exp(26.2597*0.10)/1.1, 2)},
		{"one run", []float64{677}, 0},
		{"none", nil, 0},
		{"missing", []float64{677, 0, 677}, 0},
		{"NaN", []float64{677, math.NaN(), 677}, 0},
	} {
		if got := ceiling(c.p99, nil); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSeparable(t *testing.T) {
	fit := knee.Fit{Noise: 0.02, Levels: []knee.Level{level(64, 13500, 350), level(128, 21200, 640), level(192, 24000, 1200), level(256, 5192, 33320)}}
	for _, c := range []struct {
		name   string
		c, slo float64
		bend   func(*knee.Fit)
		want   bool
	}{
		{"GB300", 1400, 2000, nil, true},
		{"just at the limit", 1000, 1100, func(f *knee.Fit) { f.Levels[2].TTFTP99MS = 1000 }, true},
		{"over the limit", 1900, 2000, nil, false},
		{"just under half of the sick level", 1000, 2000, func(f *knee.Fit) { f.Levels[3].TTFTP99MS = 2201 }, true},
		{"over half of the sick level", 1000, 2000, func(f *knee.Fit) { f.Levels[3].TTFTP99MS = 2199 }, false},
		// A level that only loses throughput is sick, too.
		{"slow without latency", 1000, 2000, func(f *knee.Fit) { f.Levels[2].TokPerSecPerGPU = 19000 }, false},
		// 2·1.25·.02·√(1/2+1/2) = .05: 4 % less is noise.
		{"noise", 1000, 2000, func(f *knee.Fit) { f.Levels[2].TokPerSecPerGPU = 21200 * 0.96 }, true},
		{"split above says nothing", 1000, 2000, func(f *knee.Fit) { f.Levels[2].Flags = []string{"split"} }, true},
		{"sick level without TTFT", 1000, 2000, func(f *knee.Fit) { f.Levels[3].TTFTP99MS = 0 }, false},
		{"nothing above", 1000, 2000, func(f *knee.Fit) { f.Levels = f.Levels[:2] }, true},
		{"no ceiling", 0, 2000, nil, false},
		{"NaN", math.NaN(), 2000, nil, false},
	} {
		f := fit
		f.Levels = append([]knee.Level(nil), fit.Levels...)
		if c.bend != nil {
			c.bend(&f)
		}
		if why, ok := separable(c.c, c.slo, f, 128); ok != c.want || ok == (why != "") {
			t.Errorf("%s: %v %q", c.name, ok, why)
		}
	}
}

// Where only the ceiling cannot be told from sickness, every gate is met and
// nothing is written all the same.
func TestCeilingAloneRefuses(t *testing.T) {
	f := newFixture().simulated()
	f.level(256).TTFTP99MS = 3079 // half is 1539.5, the effective ceiling 1540
	p := f.propose()
	if ids := unmetOf(p.Gates); len(ids) != 0 || p.Outcome != OutcomeDegraded || p.Writable || !p.Gate.Empty() {
		t.Errorf("unmet %v, %s, writable %v, gate %+v", ids, p.Outcome, p.Writable, p.Gate)
	}
	f.level(256).TTFTP99MS = 3081
	if p := f.propose(); !p.Writable || p.CeilingMS != 1400 {
		t.Errorf("%s, ceiling %v: %q", p.Outcome, p.CeilingMS, p.Reasons)
	}
}
