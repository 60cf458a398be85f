package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
)

func hyperbola(n float64) (float64, bool) { return n * 250 / (n + 250), n > 0 }

// Reference values of a hyperbola with h = 250 at n = 128.
func TestLossFormulas(t *testing.T) {
	for _, c := range []struct {
		w, k int
		want float64
	}{{8, 1, .9539}, {8, 2, .8986}, {8, 3, .8311}, {4, 1, .8986}, {2, 1, .7470}, {16, 1, .9779}} {
		got, ok := lostWorkers(hyperbola, 128, c.w, c.k)
		if !ok {
			t.Fatalf("%d of %d: no answer", c.k, c.w)
		}
		near(t, "lost", got, c.want, 5e-5)
	}
	for _, c := range [][3]float64{{.8, .9662, .9750}, {.5, .8393, .9375}, {.25, .5310, .9062}} {
		rr, ok := sickRoundRobin(hyperbola, 128, 8, c[0])
		if !ok {
			t.Fatal("no answer")
		}
		near(t, "round-robin", rr, c[1], 5e-5)
		near(t, "least-loaded", sickLeastLoaded(8, c[0]), c[2], 5.1e-5)
	}
}

func TestLossesWithoutAnswer(t *testing.T) {
	nowhere := func(float64) (float64, bool) { return 0, false }
	if _, ok := lostWorkers(hyperbola, 128, 8, 8); ok {
		t.Error("all workers lost leave nothing to predict")
	}
	if _, ok := lostWorkers(hyperbola, 128, 1, 1); ok {
		t.Error("the only worker lost")
	}
	if _, ok := lostWorkers(nowhere, 128, 8, 1); ok {
		t.Error("no curve")
	}
	if _, ok := sickRoundRobin(nowhere, 128, 8, .5); ok {
		t.Error("no curve")
	}
	if _, ok := sickRoundRobin(hyperbola, 128, 1, .5); ok {
		t.Error("one worker has no others")
	}
}

// Half of a batch cap shows only where the point lies above that half.
func TestHalfCap(t *testing.T) {
	capped := func(n float64) (float64, bool) { return 100 * math.Min(n, 16), n > 0 }
	if r, ok := halfCap(capped, 12, 16); !ok || math.Abs(r-8.0/12) > 1e-12 {
		t.Errorf("12 of 16: %v %v", r, ok)
	}
	if _, ok := halfCap(capped, 8, 16); ok {
		t.Error("8 per GPU fit under half of 16")
	}
	if _, ok := halfCap(capped, 12, 0); ok {
		t.Error("no cap known")
	}
}

func TestBatchCapSources(t *testing.T) {
	f := newFixture()
	cap0 := func() float64 { return gather(f.curve, f.fit, f.point, f.policy).batchCap() }
	if got := cap0(); got != 0 {
		t.Errorf("unknown cap: %v", got)
	}
	f.fit.Model, f.fit.Params = "HCAP", map[string]float64{"k": 150}
	if got := cap0(); got != 150 {
		t.Errorf("fitted cap: %v", got)
	}
	f.curve.Fingerprint.Labels = map[string]string{"max_num_seqs": "256", "workers": "4"}
	if got := cap0(); got != 128 { // 4 workers × 256 on 8 GPUs
		t.Errorf("stated cap: %v", got)
	}
}

func TestSensitivityLines(t *testing.T) {
	f := newFixture()
	p := f.propose()
	ratio := map[string]float64{}
	for _, s := range p.Sensitivity {
		ratio[s.Loss] = s.Ratio
		if !(s.Ratio > 0 && s.Ratio <= 1 && s.Caught >= 0 && s.Caught <= 1) {
			t.Errorf("%+v", s)
		}
		if strings.HasPrefix(s.Loss, "standstill") { // hits one run of three
			s.Caught *= 3
		}
		want := p.Limits.FailProbability(0.9*p.Gate.FloorPerGPU, s.Ratio)
		near(t, s.Loss, s.Caught, want, 1e-12)
		near(t, s.Loss, s.Caught, phi((math.Log(0.9*18000/s.Ratio)-p.Limits.LogMean)/(p.Limits.S*math.Sqrt(1+1/p.Limits.NPrime))), 1e-9)
	}
	for _, loss := range []string{"1 of 8 workers lost", "3 of 8 workers lost", "1 of 8 workers at half speed, least-loaded router",
		"1 of 8 workers at half speed, round-robin router", "everything 20 % slower", "everything 30 % slower"} {
		if _, ok := ratio[loss]; !ok {
			t.Errorf("no line for %q in %v", loss, ratio)
		}
	}
	// Log-log between the levels: 128·8/7 lies between 128 and 192.
	at := math.Exp(math.Log(21200) + math.Log(24000.0/21200)*math.Log(8.0/7)/math.Log(1.5))
	near(t, "one lost", ratio["1 of 8 workers lost"], 7.0/8*at/21200, 1e-9)
	if !strings.Contains(gate(p, "C10").Observed, "8 workers") || strings.Contains(gate(p, "C10").Observed, "assumed") {
		t.Errorf("C10: %+v", gate(p, "C10"))
	}
	f.curve.Fingerprint.Labels = nil
	if g := gate(f.propose(), "C10"); !strings.Contains(g.Observed, "8 workers (assumed: one a GPU)") {
		t.Errorf("C10: %+v", g)
	}
}

// Without a floor no loss is caught, and the prediction says so.
func TestSensitivityWithoutFloor(t *testing.T) {
	f := newFixture()
	f.policy.TTFTOnly = true
	for _, s := range f.propose().Sensitivity {
		if s.Caught != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// Beyond the last level the curve goes on with its last slope; with fewer than
// two levels there is none.
func TestCurveWithoutFit(t *testing.T) {
	at := curveOf(knee.Fit{Levels: []knee.Level{level(8, 100, 1), level(16, 200, 1), level(32, 300, 1)}})
	for _, c := range [][2]float64{{4, 50}, {8, 100}, {16, 200}, {32, 300}, {64, 450}} {
		if x, ok := at(c[0]); !ok || math.Abs(x-c[1]) > 1e-9 {
			t.Errorf("X(%v) = %v %v, want %v", c[0], x, ok, c[1])
		}
	}
	for _, fit := range []knee.Fit{{}, {Levels: []knee.Level{level(8, 100, 1)}}, {Levels: []knee.Level{level(8, 0, 1), level(16, 100, 1)}}} {
		if x, ok := curveOf(fit)(8); ok {
			t.Errorf("a curve from nothing: %v", x)
		}
	}
}
