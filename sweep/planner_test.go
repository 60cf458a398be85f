package sweep

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

func confirmPlan() Plan {
	p := DefaultPlan(Standard)
	p.Confirm = true
	return p
}

// TestGB300: O-3 with an edge of 210; the whole calibration ends at 128.
func TestGB300(t *testing.T) {
	for seed := range uint64(10) {
		runs, d := newWorld(kneetest.GB300(210), 0.03, seed).play(t, confirmPlan())
		if d.Point.ConcurrencyPerGPU != 128 || !d.Point.Healthy || d.Point.Basis != "knee" {
			t.Errorf("seed %d: %+v after %d runs: %s", seed, d.Point, len(runs), d.Reason)
		}
	}
}

func TestGB300EdgeBelow(t *testing.T) {
	for seed := range uint64(5) {
		_, d := newWorld(kneetest.GB300(150), 0.03, seed).play(t, confirmPlan())
		if n := d.Point.ConcurrencyPerGPU; n > 128 {
			t.Errorf("seed %d: %d per GPU with an edge of 150", seed, n)
		}
	}
}

func TestSearchWithoutAKnee(t *testing.T) {
	for seed := range uint64(3) {
		rising := kneetest.New(kneetest.Rising, rand.New(rand.NewPCG(seed, 9)))
		_, d := newWorld(rising, 0.03, seed).play(t, DefaultPlan(Standard))
		if d.Point.ConcurrencyPerGPU != 384 || d.Point.Basis != "lower_bound" {
			t.Errorf("rising, seed %d: %+v", seed, d.Point)
		}
		flat := kneetest.New(kneetest.Flat, rand.New(rand.NewPCG(seed, 9)))
		runs, d := newWorld(flat, 0.03, seed).play(t, DefaultPlan(Standard))
		if d.Point.ConcurrencyPerGPU != 0 || !strings.Contains(d.Reason, "does not rise") {
			t.Errorf("flat, seed %d: %+v: %s", seed, d.Point, d.Reason)
		}
		if low := viewOf(runs).levels()[0]; low != 1 {
			t.Errorf("flat, seed %d: the lowest level is %d, a rise below it was not looked for", seed, low)
		}
	}
}

// TestReplay: at every point of a campaign, the planner asks for the run that
// was made next, whether or not the runs went through a journal.
func TestReplay(t *testing.T) {
	plans := map[string]Plan{"search": confirmPlan(), "prove": confirmPlan(), "check": DefaultPlan(Quick), "levels": confirmPlan()}
	for name, p := range plans {
		switch name {
		case "prove":
			p.Point = 64
		case "check":
			p.Check, p.Point = true, 64
		case "levels":
			p.Levels = []int{4, 10, 20, 40, 80, 160, 320}
		}
		w := newWorld(kneetest.GB300(210), 0.05, 3)
		w.judge = everyNth(4, "V6") // retries and failed attempts belong to it
		runs, last := w.play(t, p)
		raw, err := json.Marshal(runs)
		if err != nil {
			t.Fatal(err)
		}
		var back []Run
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		find := remember(knee.Find)
		for i := range runs {
			if d := nextStep(p, back[:i], find); d.Done || d.Step != runs[i].Step {
				t.Fatalf("%s: after %d runs the planner wants %+v, live it was %+v", name, i, d, runs[i].Step)
			}
		}
		if d := NextStep(p, back); !reflect.DeepEqual(d, last) {
			t.Errorf("%s: the last word is %+v, live it was %+v", name, d, last)
		}
		if d := NextStep(p, back[:len(back)/2]); d.Done || d.Step != runs[len(back)/2].Step {
			t.Errorf("%s: without the memo the planner wants %+v", name, d)
		}
	}
}

// everyNth fails each nth run on a gate.
func everyNth(n int, gate string) func(*Run) {
	return func(r *Run) {
		if r.Seq%n == 0 {
			r.Violations = []Violation{{Gate: gate}}
		}
	}
}

// TestSweepIsThePrefixOfACalibration: a journal that sweep finished is one
// that calibrate goes on with.
func TestSweepIsThePrefixOfACalibration(t *testing.T) {
	w := newWorld(kneetest.GB300(210), 0.03, 8)
	runs, _ := w.play(t, DefaultPlan(Standard))
	d := NextStep(confirmPlan(), runs)
	if d.Done || d.Step.Purpose != Confirm || d.Step.Kind != loadgen.Gate {
		t.Errorf("after the sweep comes %+v", d)
	}
}

func TestMedianRunsPerLevel(t *testing.T) {
	runs, _ := newWorld(kneetest.GB300(210), 0.03, 1).play(t, DefaultPlan(Standard))
	v := viewOf(runs)
	for _, n := range v.levels() {
		if len(v.valid[n]) < 2 {
			t.Errorf("%d per GPU has %d valid runs", n, len(v.valid[n]))
		}
	}
	if stopped := v.levels()[len(v.levels())-1]; stopped != 256 {
		t.Errorf("the ascending pass ended at %d, want the collapse at 256", stopped)
	}
}

func TestBudgets(t *testing.T) {
	p := confirmPlan()
	p.MaxRuns = 9
	runs, d := newWorld(kneetest.GB300(210), 0.03, 1).play(t, p)
	if len(runs) != 9 || d.Point.Healthy || !strings.Contains(d.Reason, "9 runs") || d.Point.ConcurrencyPerGPU == 0 {
		t.Errorf("%d runs: %+v", len(runs), d)
	}
	p = confirmPlan()
	p.MaxWall = 400 * time.Second // a run of world takes 40 s
	runs, d = newWorld(kneetest.GB300(210), 0.03, 1).play(t, p)
	if len(runs) != 10 || d.Point.Healthy || !strings.Contains(d.Reason, "time limit") {
		t.Errorf("%d runs: %+v", len(runs), d)
	}
	// A larger budget goes on where the smaller one ended.
	p.MaxWall = 0
	if d := NextStep(p, runs); d.Done {
		t.Errorf("with more time: %+v", d)
	}
}

// TestRunBudget: whatever the budget, exactly as many runs are made, those of
// a resumed journal among them; a confirmation has a budget of its own.
func TestRunBudget(t *testing.T) {
	p := DefaultPlan(Standard)
	whole, last := newWorld(kneetest.GB300(210), 0.03, 1).play(t, p)
	for budget := 1; budget <= len(whole)+1; budget++ {
		p.MaxRuns = budget
		for made := range min(budget, len(whole)) {
			if d := NextStep(p, whole[:made]); d.Done || d.Step != whole[made].Step {
				t.Fatalf("%d of %d runs: %+v", made, budget, d)
			}
		}
		d := NextStep(p, whole[:min(budget, len(whole))])
		switch spent := strings.Contains(d.Reason, "the limit of"); {
		case !d.Done || spent != (budget < len(whole)):
			t.Errorf("a budget of %d of %d runs: %+v", budget, len(whole), d)
		case spent && d.Point.Healthy:
			t.Errorf("a budget of %d runs: an unfinished sweep has a healthy point: %+v", budget, d)
		case !spent && d != last:
			t.Errorf("a budget of %d runs: %+v, unlimited it is %+v", budget, d, last)
		}
	}
	p.Confirm, p.MaxRuns = true, len(whole)
	if runs, d := newWorld(kneetest.GB300(210), 0.03, 1).play(t, p); !d.Point.Healthy || len(runs) <= len(whole) {
		t.Errorf("a confirmation is charged to the sweep: %d runs, %+v", len(runs), d)
	}
}

func TestFixedLevels(t *testing.T) {
	p := DefaultPlan(Standard)
	p.Levels = []int{8, 20, 40, 80, 160, 320}
	runs, d := newWorld(kneetest.GB300(210), 0.03, 1).play(t, p)
	v := viewOf(runs)
	if got := v.levels(); !slices.Equal(got, p.Levels) {
		t.Errorf("levels %v, want %v only", got, p.Levels)
	}
	if len(runs) != 2*len(p.Levels) {
		t.Errorf("%d runs, want two passes", len(runs))
	}
	if !d.Point.Measure || d.Point.Healthy {
		t.Errorf("a point between given levels is not measured: %+v", d.Point)
	}
	p.Levels, p.Confirm = []int{256}, true
	if _, d := newWorld(kneetest.GB300(210), 0.03, 1).play(t, p); d.Point.ConcurrencyPerGPU != 0 {
		t.Errorf("a single level gives a point: %+v", d.Point)
	}
}

func TestInvalidPlanIsDone(t *testing.T) {
	if d := NextStep(Plan{}, nil); !d.Done || !strings.Contains(d.Reason, "not valid") {
		t.Errorf("%+v", d)
	}
}

func ExampleNextStep() {
	d := NextStep(DefaultPlan(Standard), nil)
	fmt.Printf("%d per GPU, %s: %s\n", d.Step.ConcurrencyPerGPU, d.Step.Kind, d.Step.Why)
	// Output: 8 per GPU, steady: ascending in powers of two, to see where throughput stops rising
}
