package sweep

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// TestObjectiveOnlyLowers: whatever the objective, the point is at most the
// knee's, and the knee's where the objective allows it; it relaxes neither
// the healthy TTFT nor what is asked of the next level.
func TestObjectiveOnlyLowers(t *testing.T) {
	levels := []int{8, 16, 32, 48, 64, 96, 128, 192, 256}
	ttft := func(n int, e *loadgen.Estimate) { e.TTFTP99MS, e.ITLP99MS = 50+2*float64(n), 5+float64(n)/16 }
	fit := knee.Fit{Status: knee.Knee, Knee: 160, KneeLow: 128, Noise: 0.03, NoiseDF: 12}
	choose := func(o loadgen.Objective, change func(int, *loadgen.Estimate)) OperatingPoint {
		p := DefaultPlan(Standard)
		p.Objective = o
		return ChoosePoint(p, fit, pairs(levels, change))
	}
	free := choose(loadgen.Objective{}, ttft)
	for _, c := range []struct {
		name   string
		o      loadgen.Objective
		change func(int, *loadgen.Estimate)
		n      int
		bound  string
		reason string // of an unhealthy one
	}{
		{"allows more", loadgen.Objective{TTFTMS: 1500}, ttft, 128, "0.8_knee", ""},
		{"allows just the point", loadgen.Objective{TTFTMS: 306}, ttft, 128, "0.8_knee", ""},
		{"allows less", loadgen.Objective{TTFTMS: 305}, ttft, 96, "objective", ""},
		{"by its ITL", loadgen.Objective{TTFTMS: 1500, ITLMS: 9}, ttft, 64, "objective", ""},
		{"nowhere met", loadgen.Objective{TTFTMS: 10}, ttft, 0, "", "not met even at 8 per GPU"},
		{"no ITL known", loadgen.Objective{ITLMS: 10}, func(n int, e *loadgen.Estimate) {}, 128, "0.8_knee", "cannot be judged"},
		{"an unhealthy level above is not forgiven", loadgen.Objective{TTFTMS: 5000}, func(n int, e *loadgen.Estimate) {
			if ttft(n, e); n == 192 {
				e.TTFTP99MS = 2500
			}
		}, 96, "next_level_unhealthy", ""},
	} {
		got := choose(c.o, c.change)
		if got.ConcurrencyPerGPU != c.n || got.Bound != c.bound || got.Healthy != (c.reason == "") || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		o := loadgen.Objective{TTFTMS: 40 * math.Exp(4*r.Float64()), ITLMS: 4 * math.Exp(3*r.Float64())}
		if got := choose(o, ttft); got.ConcurrencyPerGPU > free.ConcurrencyPerGPU || got.ConcurrencyPerGPU < free.ConcurrencyPerGPU && got.Bound != "objective" && got.ConcurrencyPerGPU > 0 {
			t.Errorf("%+v: %+v, without it %+v", o, got, free)
		}
	}
}

func TestObjectiveOfAGivenPoint(t *testing.T) {
	change := func(n int, e *loadgen.Estimate) { e.TTFTP99MS, e.ITLP99MS = 50+2*float64(n), 0 }
	for _, c := range []struct {
		o       loadgen.Objective
		healthy bool
		reason  string
	}{
		{loadgen.Objective{}, true, ""},
		{loadgen.Objective{TTFTMS: 200}, true, ""},
		{loadgen.Objective{TTFTMS: 170}, false, "is met up to 59.6 per GPU"},
		{loadgen.Objective{TTFTMS: 20}, false, "not met even at 32 per GPU"},
		{loadgen.Objective{TTFTMS: 200, ITLMS: 10}, false, "cannot be judged"},
	} {
		p := DefaultPlan(Standard)
		p.Point, p.Objective = 64, c.o
		got := ChoosePoint(p, knee.Fit{Status: knee.Insufficient}, append(pairs([]int{32, 64, 96}, change), append(pairs([]int{64}, change), pairs([]int{64}, change)...)...))
		if got.Healthy != c.healthy || !strings.Contains(got.Reason, c.reason) || !c.healthy && got.Bound != "objective" {
			t.Errorf("%+v: %+v", c.o, got)
		}
	}
}

// withTTFT is a world whose TTFT p99 is 50 ms + 2 ms a stream, with noise.
func withTTFT(seed uint64) *world {
	w := newWorld(kneetest.GB300(210), 0.03, seed)
	rng := rand.New(rand.NewPCG(seed, 99))
	w.judge = func(r *Run) {
		r.Result.Window.TTFTP99MS = (50 + 2*float64(r.Step.ConcurrencyPerGPU)) * math.Exp(.1*rng.NormFloat64())
		r.Result.Window.ITLP99MS = 10
	}
	return w
}

// TestPlannerLocatesObjective: the levels around the crossing end up within
// half an octave, the point is confirmed below it, and the journal replays.
func TestPlannerLocatesObjective(t *testing.T) {
	healthy := 0
	for seed := range uint64(6) {
		p := confirmPlan()
		p.Objective = loadgen.Objective{TTFTMS: 50 + 2*float64(20+10*seed), ITLMS: 50}
		runs, d := withTTFT(seed).play(t, p)
		s := JudgeSLO(p.Objective, runs)
		if s.State != SLOCrossed || float64(s.LevelMissed) > closeEnough*float64(s.LevelMet) {
			t.Errorf("seed %d: %+v after %d runs", seed, s, len(runs))
		}
		if truth := float64(20 + 10*seed); truth < s.Low || truth > s.High {
			t.Errorf("seed %d: %v to %v, the truth is %v", seed, s.Low, s.High, truth)
		}
		if d.Point.Healthy {
			healthy++
		}
		if n := d.Point.ConcurrencyPerGPU; float64(n) > s.ConcurrencyPerGPU || d.Point.Healthy && d.Point.Bound != "objective" && d.Point.Bound != "confirmed" {
			t.Errorf("seed %d: %+v of %+v: %s", seed, d.Point, s, d.Reason)
		}
		find := remember(knee.Find)
		for i := range runs {
			if next := nextStep(p, runs[:i], find); next.Done || next.Step != runs[i].Step {
				t.Fatalf("seed %d: after %d runs the planner wants %+v, live it was %+v", seed, i, next, runs[i].Step)
			}
		}
	}
	if healthy < 5 { // noise may make a knee ambiguous, with an objective or without
		t.Errorf("%d of 6 campaigns end with a healthy point", healthy)
	}
}

func TestPlannerLooksBelowForObjective(t *testing.T) {
	p := DefaultPlan(Standard)
	p.Objective = loadgen.Objective{TTFTMS: 55}
	runs, _ := withTTFT(1).play(t, p)
	if low := viewOf(runs).levels()[0]; low > 4 {
		t.Errorf("the lowest level is %d, and the objective is met up to 2.5 per GPU", low)
	}
}

// TestObjectiveWithinBudget: no run is made for an objective that the knee may
// still need, and none at all where levels are given.
func TestObjectiveWithinBudget(t *testing.T) {
	plain, last := withTTFT(2).play(t, DefaultPlan(Standard))
	p := DefaultPlan(Standard)
	// The point comes out lower, and the level above it takes two runs.
	p.Objective, p.MaxRuns = loadgen.Objective{TTFTMS: 90}, len(plain)+2
	runs, d := withTTFT(2).play(t, p)
	if strings.Contains(d.Reason, "the limit of") || !d.Point.Healthy || d.Point.ConcurrencyPerGPU >= last.Point.ConcurrencyPerGPU {
		t.Errorf("%d runs, without the objective %d: %+v", len(runs), len(plain), d)
	}
	p = DefaultPlan(Standard)
	p.Levels, p.Objective = []int{8, 32, 128, 256}, loadgen.Objective{TTFTMS: 90}
	runs, _ = withTTFT(2).play(t, p)
	if got := viewOf(runs).levels(); !slices.Equal(got, p.Levels) {
		t.Errorf("levels %v, want the given ones only", got)
	}
}

// TestObjectiveInJournal: another objective is another plan, for goodput was
// judged while the requests were there; and a plan without one has no key.
func TestObjectiveInJournal(t *testing.T) {
	p := DefaultPlan(Standard)
	raw, err := json.Marshal(p)
	if err != nil || strings.Contains(string(raw), "objective") {
		t.Errorf("%s, %v", raw, err)
	}
	q := p
	q.Objective = loadgen.Objective{TTFTMS: 300, ITLMS: 20}
	if d := p.Diff(q); !slices.Equal(d, []string{"objective.itl_ms: unknown, now 20", "objective.ttft_ms: unknown, now 300"}) {
		t.Errorf("%q", d)
	}
	var back Plan
	if raw, err = json.Marshal(q); err != nil || json.Unmarshal(raw, &back) != nil || len(q.Diff(back)) > 0 {
		t.Errorf("%s does not read back: %v", raw, err)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if q.Objective.TTFTMS = bad; q.Validate() == nil {
			t.Errorf("an objective of %v ms is taken", bad)
		}
	}
}
