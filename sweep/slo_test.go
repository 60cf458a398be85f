package sweep

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// sloRuns are runs with these TTFT p99, two a level on a doubling ladder from 8.
func sloRuns(p99s ...float64) []LatencyRun {
	var out []LatencyRun
	for i, v := range p99s {
		for _, k := range []float64{.97, 1 / .97} {
			out = append(out, LatencyRun{ConcurrencyPerGPU: 8 << i, TTFTP99MS: k * v, ITLP99MS: k * 10 * math.Pow(1.2, float64(i))})
		}
	}
	return out
}

func ttftLimit(ms float64) loadgen.Objective { return loadgen.Objective{TTFTMS: ms} }

func TestSLOStates(t *testing.T) {
	curve := sloRuns(50, 50, 60, 100, 400, 3000)
	for _, c := range []struct {
		name string
		o    loadgen.Objective
		runs []LatencyRun
		want SLO
		tol  float64
	}{
		{"between two levels", ttftLimit(200), curve, SLO{State: SLOCrossed, ConcurrencyPerGPU: 64 * math.Sqrt2, LevelMet: 64, LevelMissed: 128, Binding: "ttft_p99"}, 1e-9},
		{"on a level", ttftLimit(100.0000001), curve, SLO{State: SLOCrossed, ConcurrencyPerGPU: 64, LevelMet: 64, LevelMissed: 128, Binding: "ttft_p99"}, 1e-6},
		{"everywhere", ttftLimit(5000), curve, SLO{State: SLOMet, ConcurrencyPerGPU: 256, HighOpen: true, LevelMet: 256}, 0},
		{"nowhere", ttftLimit(20), curve, SLO{State: SLONotMet, LowOpen: true, LevelMissed: 8, Binding: "ttft_p99"}, 0},
		{"ITL first", loadgen.Objective{TTFTMS: 200, ITLMS: 13}, curve, SLO{State: SLOCrossed, ConcurrencyPerGPU: 8 * math.Pow(2, math.Log(1.3)/math.Log(1.2)), LevelMet: 16, LevelMissed: 32, Binding: "itl_p99"}, 1e-9},
		{"TTFT first", loadgen.Objective{TTFTMS: 200, ITLMS: 1300}, curve, SLO{State: SLOCrossed, ConcurrencyPerGPU: 64 * math.Sqrt2, LevelMet: 64, LevelMissed: 128, Binding: "ttft_p99"}, 1e-9},
		{"one of two nowhere", loadgen.Objective{TTFTMS: 5000, ITLMS: 1}, curve, SLO{State: SLONotMet, LowOpen: true, LevelMissed: 8, Binding: "itl_p99"}, 0},
		{"a dip is noise", ttftLimit(200), sloRuns(50, 100, 300, 100, 300, 900), SLO{State: SLOCrossed, LevelMet: 64, LevelMissed: 128, Binding: "ttft_p99", ConcurrencyPerGPU: 64 * math.Pow(2, math.Log(200/math.Sqrt(3e4))/math.Log(300/math.Sqrt(3e4)))}, 1e-9},
		{"no levels", ttftLimit(200), nil, SLO{State: SLOInsufficient, Reason: "two levels that tell what the objective limits are needed, and there are 0"}, 0},
		{"one level", ttftLimit(200), curve[:2], SLO{State: SLOInsufficient, Reason: "two levels that tell what the objective limits are needed, and there are 1"}, 0},
		{"no objective", loadgen.Objective{}, curve, SLO{State: SLOInsufficient, Reason: "no objective was given"}, 0},
	} {
		got := FindSLO(c.o, c.runs)
		c.want.Objective = c.o
		if c.want.State == SLOCrossed && !(got.Low > 0 && got.Low <= float64(got.LevelMet) && got.High >= float64(got.LevelMissed)) {
			t.Errorf("%s: interval %v to %v does not hold the levels around", c.name, got.Low, got.High)
		}
		if !(math.Abs(got.ConcurrencyPerGPU-c.want.ConcurrencyPerGPU) <= c.tol*c.want.ConcurrencyPerGPU) {
			t.Errorf("%s: %v, want %v", c.name, got.ConcurrencyPerGPU, c.want.ConcurrencyPerGPU)
		}
		if c.want.State != SLOInsufficient && (len(got.Levels) != len(c.runs)/2 || got.Levels[0].TTFTP99MS == 0 || (got.Levels[0].ITLP99MS > 0) != (c.o.ITLMS > 0)) {
			t.Errorf("%s: levels %+v", c.name, got.Levels)
		}
		got.Levels = nil
		got.ConcurrencyPerGPU, got.Low, got.High = c.want.ConcurrencyPerGPU, 0, 0
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestSLOMissing: a level without what is limited is not judged, and told.
func TestSLOMissing(t *testing.T) {
	runs := sloRuns(50, 60, 100, 400)
	for i := range runs {
		if runs[i].ConcurrencyPerGPU == 64 {
			runs[i].ITLP99MS = 0
		}
	}
	got := FindSLO(loadgen.Objective{TTFTMS: 200, ITLMS: 100}, runs)
	if got.State != SLOMet || got.ConcurrencyPerGPU != 32 || !got.HighOpen || len(got.Notes) != 1 {
		t.Errorf("%+v: 64 per GPU has no ITL, so at least 32 is all there is to say", got)
	}
	if got := FindSLO(ttftLimit(200), []LatencyRun{{8, 50, 0}, {16, 400, 0}}); got.State != SLOCrossed || len(got.Notes) != 1 {
		t.Errorf("%+v: without repeats the noise is assumed, and that is told", got)
	}
}

// randomSLO is a noisy curve and an objective near it.
func randomSLO(r *rand.Rand) (loadgen.Objective, []LatencyRun) {
	var runs []LatencyRun
	n, ttft, itl := 1+r.IntN(8), 20+100*r.Float64(), 2+5*r.Float64()
	for range 2 + r.IntN(8) {
		for range 1 + r.IntN(4) {
			noise := func() float64 { return math.Exp(.2 * r.NormFloat64()) }
			runs = append(runs, LatencyRun{n, ttft * noise(), itl * noise()})
		}
		n, ttft, itl = n+1+r.IntN(n+1), ttft*math.Exp(2*r.Float64()*r.Float64()), itl*math.Exp(.5*r.Float64())
	}
	o := loadgen.Objective{TTFTMS: 20 * math.Exp(6*r.Float64())}
	if r.IntN(2) == 0 {
		o.ITLMS = 2 * math.Exp(3*r.Float64())
	}
	return o, runs
}

// TestSLOLaws: scaling n scales the answer, no tighter objective has a higher
// one, neither the order of the runs nor a unit of time matters.
func TestSLOLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	states := map[SLOState]int{}
	for range 300 {
		o, runs := randomSLO(r)
		s := FindSLO(o, runs)
		states[s.State]++

		mixed := slices.Clone(runs)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if got := FindSLO(o, mixed); !reflect.DeepEqual(got, s) {
			t.Fatalf("permuted: %+v, before %+v", got, s)
		}

		k := 2 + r.IntN(9)
		scaled := slices.Clone(runs)
		for i := range scaled {
			scaled[i].ConcurrencyPerGPU *= k
		}
		got := FindSLO(o, scaled)
		for _, v := range [][2]float64{
			{got.ConcurrencyPerGPU, s.ConcurrencyPerGPU}, {got.Low, s.Low}, {got.High, s.High},
			{float64(got.LevelMet), float64(s.LevelMet)}, {float64(got.LevelMissed), float64(s.LevelMissed)},
		} {
			if math.Abs(v[0]-float64(k)*v[1]) > 1e-9*v[0] {
				t.Fatalf("n × %d: %+v, before %+v", k, got, s)
			}
		}

		seconds := slices.Clone(runs)
		for i := range seconds {
			seconds[i].TTFTP99MS /= 1024
			seconds[i].ITLP99MS /= 1024
		}
		got = FindSLO(loadgen.Objective{TTFTMS: o.TTFTMS / 1024, ITLMS: o.ITLMS / 1024}, seconds)
		if got.State != s.State || math.Abs(got.ConcurrencyPerGPU-s.ConcurrencyPerGPU) > 1e-9*s.ConcurrencyPerGPU || math.Abs(got.High-s.High) > 1e-9*s.High {
			t.Fatalf("in another unit: %+v, before %+v", got, s)
		}

		tight := o
		switch r.IntN(3) {
		case 0:
			tight.TTFTMS *= math.Exp(-r.Float64())
		case 1:
			tight.ITLMS *= math.Exp(-r.Float64())
		default:
			tight.TTFTMS *= math.Exp(-1e-15 - 1e-3*r.Float64())
		}
		if o.ITLMS == 0 && r.IntN(2) == 0 {
			tight.ITLMS = 2 * math.Exp(3*r.Float64())
		}
		if got := FindSLO(tight, runs); got.ConcurrencyPerGPU > s.ConcurrencyPerGPU || got.LevelMet > s.LevelMet || got.LevelMissed > 0 && s.LevelMissed > 0 && got.LevelMissed > s.LevelMissed {
			t.Fatalf("%+v has %+v\nand the tighter %+v has %+v", o, s, tight, got)
		}
	}
	for _, s := range []SLOState{SLOCrossed, SLOMet, SLONotMet} {
		if states[s] < 20 {
			t.Errorf("%d of 300 random curves are %s: that tells too little", states[s], s)
		}
	}
}

func TestIsotonic(t *testing.T) {
	for _, c := range []struct{ y, w, want []float64 }{
		{nil, nil, []float64{}},
		{[]float64{1, 2, 3}, []float64{1, 1, 1}, []float64{1, 2, 3}},
		{[]float64{3, 1}, []float64{1, 3}, []float64{1.5, 1.5}},
		{[]float64{1, 5, 4, 3, 6}, []float64{1, 1, 1, 1, 1}, []float64{1, 4, 4, 4, 6}},
		{[]float64{4, 3, 2, 1}, []float64{1, 1, 1, 1}, []float64{2.5, 2.5, 2.5, 2.5}},
	} {
		if got := isotonic(c.y, c.w); !reflect.DeepEqual(got, c.want) {
			t.Errorf("isotonic(%v) = %v, want %v", c.y, got, c.want)
		}
	}
}
