package calibrate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// Past a batch cap of 64, one more residence time for each further batch
// (knee.md §3.2: 440, 881 and 1,761 ms at 80, 96 and 128).
func TestQueueWait(t *testing.T) {
	const residence = 1.761 // seconds of an answer of 100 tokens among 64
	at := func(n float64) (float64, bool) { return n * 100 / residence, n > 0 }
	for n, want := range map[float64]float64{32: 0, 64: 0, 80: 440.25, 96: 880.5, 128: 1761} {
		near(t, "wait", queueWaitMS(at, n, 64, 100), want, 1e-9)
	}
	if w := queueWaitMS(at, 128, 0, 100); w != 0 {
		t.Errorf("no batch cap is known, and %v ms are waited", w)
	}
}

// One stalled attempt is allowed, two are not.
func TestStallsCaught(t *testing.T) {
	near(t, "no stalls", stallsCaught(0), 0, 1e-12)
	near(t, "nothing but stalls", stallsCaught(1), 1, 1e-12)
	rng := rand.New(rand.NewPCG(1, 18))
	caught, trials := 0, 20000
	for range trials {
		valid, stalled := 0, 0
		for valid < checkValid && stalled <= sweep.MaxStalls {
			if rng.Float64() < stallRuns {
				stalled++
			} else {
				valid++
			}
		}
		if stalled > sweep.MaxStalls {
			caught++
		}
	}
	near(t, "one run of three", stallsCaught(stallRuns), float64(caught)/float64(trials), 0.015)
}

// The probability of a check against draws of the deployment's factor, three
// gate runs and the pulse.
func TestPowerOfACheck(t *testing.T) {
	limits, err := FloorLimits([][]float64{{100, 103, 98, 101, 99, 104, 97, 102}})
	if err != nil {
		t.Fatal(err)
	}
	p := power{limits: limits, effective: 0.9 * limits.Portable, pulse: 96, runs: 1, baseRuns: 3, sw: limits.SW, ttftMS: 100}
	rng := rand.New(rand.NewPCG(2, 18))
	deployments := math.Sqrt(limits.SB*limits.SB + limits.S*limits.S/limits.NPrime)
	for _, c := range []struct{ ratio, atPulse float64 }{{1, 1}, {0.954, 0.9}, {0.83, 0.83}, {0.8, 0.8}, {0.78, 0.9}, {0.7, 0.7}} {
		l := loss{ratio: func(float64) (float64, bool) { return c.atPulse, true }}
		pulseRatio, got := p.check(l, c.ratio)
		const trials = 20000
		caught := 0
		for range trials {
			d := deployments * rng.NormFloat64()
			var x []float64
			for range 3 {
				x = append(x, c.ratio*math.Exp(limits.LogMean+d+limits.SW*rng.NormFloat64()))
			}
			pulse := c.atPulse * math.Exp(d+limits.SW*rng.NormFloat64()-limits.SW/math.Sqrt(3)*rng.NormFloat64())
			if sweep.Median(x) < p.effective || pulse < pulseThreshold(sbPrior, limits.SW, 1, 3) {
				caught++
			}
		}
		if pulseRatio != c.atPulse {
			t.Errorf("x%v at the pulse, want x%v", pulseRatio, c.atPulse)
		}
		near(t, "caught", got, float64(caught)/trials, 0.012)
	}
	without, floorless := p, p
	without.pulse, floorless.effective = 0, 0
	l := loss{ratio: func(float64) (float64, bool) { return 0.8, true }}
	both := func(p power) float64 { _, caught := p.check(l, 0.8); return caught }
	if a, b, c := both(without), both(floorless), both(p); !(a < c && b <= c && a > 0 && b > 0) {
		t.Errorf("caught by the gate %v, by the pulse %v, by both %v", a, b, c)
	}
	l.waitMS = func(float64) float64 { return 100 } // the median TTFT doubles
	near(t, "late", both(p), 1, 1e-12)
	l.waitMS = func(float64) float64 { return 99 }
	if c := both(p); !(c < 1) {
		t.Errorf("TTFT nearly doubles: caught %v", c)
	}
}

// A frontend ceiling shows only where more would be served.
func TestFrontendCeiling(t *testing.T) {
	if r, ok := ceilingRatio(hyperbola, 128, 100); !ok || r != 1 {
		t.Errorf("84.7 tok/s below 100: %v %v", r, ok)
	}
	if r, ok := ceilingRatio(hyperbola, 250, 100); !ok || math.Abs(r-0.8) > 1e-12 {
		t.Errorf("125 tok/s below 100: %v %v", r, ok)
	}
	if _, ok := ceilingRatio(hyperbola, 128, 0); ok {
		t.Error("no ceiling, and an answer")
	}
}

// A check that passes says what it would not have seen; one without a baseline
// of this point cannot.
func TestCheckTellsBlindSpots(t *testing.T) {
	d := draw(5, 0, 0.03, 0.03)
	p, base := d.calibrated(t)
	if !p.Writable {
		t.Fatalf("%s: %q", p.Outcome, p.Reasons)
	}
	r := d.check(t, p.Gate, base)
	told := strings.Join(r.Reasons, "\n")
	if r.Verdict != Pass || len(r.Sensitivity) < 6 || !strings.Contains(told, "would probably pass") || !strings.Contains(told, "1 of 8 workers lost") {
		t.Errorf("%s, %d lines, %q", r.Verdict, len(r.Sensitivity), r.Reasons)
	}
	if r := d.check(t, p.Gate, nil); len(r.Sensitivity) > 0 {
		t.Errorf("without a baseline: %+v", r.Sensitivity)
	}
}
