package sweep

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

func outlookOf(p Plan, runs []Run) Outlook {
	return Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: p, Runs: runs}.Outlook()
}

// outlookPlans are all kinds of campaigns.
func outlookPlans() map[string]Plan {
	plan := func(change func(*Plan)) Plan {
		p := DefaultPlan(Standard)
		change(&p)
		return p
	}
	return map[string]Plan{
		"sweep":          plan(func(*Plan) {}),
		"calibrate":      plan(func(p *Plan) { p.Confirm = true }),
		"prove":          plan(func(p *Plan) { p.Confirm, p.Point = true, 64 }),
		"prove past it":  plan(func(p *Plan) { p.Point = 384 }),
		"check":          plan(func(p *Plan) { p.Check, p.Point = true, 64 }),
		"check, watched": plan(func(p *Plan) { p.Check, p.Point, p.MinWatch = true, 64, 10*time.Minute }),
		"levels":         plan(func(p *Plan) { p.Confirm, p.Levels, p.Repeats = true, []int{8, 16, 32, 64, 128, 256}, 3 }),
		"few runs":       plan(func(p *Plan) { p.MaxRuns = 7 }),
		"little time":    plan(func(p *Plan) { p.Confirm, p.MaxWall = true, 450*time.Second }),
	}
}

// TestOutlook: at every point of every campaign, healthy or not, the outlook is
// possible, its bound holds, and it ends at nothing.
func TestOutlook(t *testing.T) {
	for name, p := range outlookPlans() {
		for fault, judge := range map[string]func(*Run){"healthy": nil, "every 4th run INVALID": everyNth(4, "V8"), "no run valid": everyNth(1, "V8"), "stalls": everyNth(6, "V6")} {
			w := newWorld(kneetest.GB300(210), 0.05, 4)
			w.judge = judge
			runs, _ := w.play(t, p)
			for i := 0; i < len(runs); i += 5 {
				before := slices.Clone(runs[:i])
				o := outlookOf(p, runs[:i])
				left := len(runs) - i
				if o.Runs < 1 || o.Runs > o.MostRuns || o.MostHere > o.MostRuns || o.Time <= 0 || left > o.MostRuns || left > o.MostHere && !moves(runs, i) {
					t.Errorf("%s, %s: %d of %d runs made: %+v", name, fault, i, len(runs), o)
				}
				if p.MaxWall > 0 && o.Time > p.MaxWall {
					t.Errorf("%s, %s: %v of %v", name, fault, o.Time, p.MaxWall)
				}
				if judge != nil {
					continue
				}
				if again := outlookOf(p, runs[:i]); again != o || !reflect.DeepEqual(runs[:i], before) {
					t.Errorf("%s, %s: %+v, then %+v: the outlook is not a function of the runs, or changes them", name, fault, o, again)
				}
			}
			if o := outlookOf(p, runs); o != (Outlook{}) {
				t.Errorf("%s, %s: %+v is left of a finished campaign", name, fault, o)
			}
		}
	}
	if o := outlookOf(Plan{}, nil); o != (Outlook{}) {
		t.Errorf("a plan that is not valid: %+v", o)
	}
}

// moves reports whether the operating point moved down after the first i runs,
// or was to: it is confirmed elsewhere, or levels are measured for another one.
func moves(runs []Run, i int) bool {
	at := 0 // where it is confirmed
	for k, r := range runs {
		switch n := r.Step.ConcurrencyPerGPU; {
		case r.Step.Purpose == Confirm && (at == 0 || at == n):
			at = n
		case k >= i && at > 0 && (r.Step.Purpose == Confirm || r.Step.Purpose == Next):
			return true
		case r.Step.Purpose == Confirm:
			at = n
		}
	}
	return false
}

// TestOutlookOfAMovingPoint: the bound for a point that stays is no bound where
// a confirmation brings the knee down, and the other one is.
func TestOutlookOfAMovingPoint(t *testing.T) {
	p := confirmPlan()
	runs, d := newWorld(kneetest.New(kneetest.Collapse, rand.New(rand.NewPCG(16, 9))), 0.05, 16).play(t, p)
	over := 0
	for i := len(runs) / 2; i < len(runs); i += 3 {
		o, left := outlookOf(p, runs[:i]), len(runs)-i
		if left > o.MostRuns || left > o.MostHere && !moves(runs, i) {
			t.Errorf("%d of %d runs made: %+v", i, len(runs), o)
		}
		if left > o.MostHere {
			over++
		}
	}
	if !d.Point.Healthy || over == 0 {
		t.Errorf("the point did not move: %+v", d)
	}
}

// TestOutlookExact: where the planner has no choice left, the outlook is what
// it will do.
func TestOutlookExact(t *testing.T) {
	levels := DefaultPlan(Standard)
	levels.Levels = []int{8, 16, 32, 64}
	check := outlookPlans()["check"]
	prove := outlookPlans()["prove"]
	further := confirmPlan()
	further.Window = 2
	_, before := confirmedRuns(t)
	for _, c := range []struct {
		name             string
		plan             Plan
		runs             []Run
		want, here, most int
	}{
		{"two passes over four levels", levels, nil, 8, 40, 40},
		{"three attempts", check, nil, 6, 10, 10},
		{"two pairs beside five attempts", prove, nil, 14, 12 + 16, 12 + 16},
		{"a further window", further, before, 6, 10, 10},
	} {
		if o := outlookOf(c.plan, c.runs); o.Runs != c.want || o.MostHere != c.here || o.MostRuns != c.most {
			t.Errorf("%s: %+v, want %d and at most %d, or %d", c.name, o, c.want, c.here, c.most)
		}
	}
}

// TestOutlookTime: the time is that of the requests that are asked for, from
// the first run on, whatever the kind of the runs made so far.
func TestOutlookTime(t *testing.T) {
	p := outlookPlans()["check"]
	w := newWorld(kneetest.GB300(210), 0, 1)
	w.judge = timed
	runs, _ := w.play(t, p)
	for i := range runs {
		c := Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: p, Runs: runs[:i], Preflight: loadgen.Preflight{E2EMS: 1000 * outlookTokens / w.curve.X(1)}}
		got, want := c.Outlook().Time, total(runs[i:])
		if got < want/2 || got > 2*want {
			t.Errorf("after %d of %d runs: %v to go, it took %v", i, len(runs), got, want)
		}
	}
}

func confirmedRuns(t *testing.T) (Plan, []Run) {
	t.Helper()
	p := confirmPlan()
	runs, d := newWorld(kneetest.GB300(210), 0.03, 1).play(t, p)
	if !d.Point.Healthy {
		t.Fatalf("%+v", d)
	}
	return p, runs
}

func TestOutlookText(t *testing.T) {
	for o, want := range map[Outlook]string{
		{Runs: 1, MostHere: 3, MostRuns: 3, Time: 40 * time.Second}:                  "about 1 run to go (at most 3), 40 s",
		{Runs: 14, MostHere: 36, MostRuns: 36, Time: 11 * time.Minute}:               "about 14 runs to go (at most 36), 11 min",
		{Runs: 26, MostHere: 60, MostRuns: 90, Time: 150 * time.Minute}:              "about 26 runs to go (at most 60, or 90 if the knee comes out lower), 2.5 h",
		{Runs: 2, MostHere: 4, MostRuns: 4, Time: 80 * time.Second, LastStall: true}: "about 2 runs to go (at most 4), 80 s; one more stall ends it as unstable",
	} {
		if got := o.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var lines []string
	made := 0
	c := campaign(t, &made)
	c.Notify = func(e Event) {
		if e.Run == nil {
			lines = append(lines, e.Outlook.String())
		}
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(lines) != made || !strings.HasPrefix(lines[made-1], "about 1 run to go") {
		t.Errorf("%d runs, and the outlooks were %q", made, lines)
	}
}

// TestOutlookOfTwoSides: the outlook of two targets measured in turns counts
// the runs of both, and the half of a pair that is made already.
func TestOutlookOfTwoSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order strings.Builder
		ab := abCampaign(t, &order)
		var said []Outlook
		for _, c := range []*Campaign{ab.A, ab.B} {
			c.Notify = func(e Event) {
				if e.Run == nil {
					said = append(said, e.Outlook)
				}
			}
		}
		if _, err := ab.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := len(ab.A.Curve.Runs) + len(ab.B.Curve.Runs)
		for i, o := range said {
			if o.Runs < 1 || o.Runs > o.MostRuns || n-i > o.MostRuns || o.Time <= 0 {
				t.Errorf("before run %d of %d: %+v", i+1, n, o)
			}
			if i%2 == 1 && (o.Runs != said[i-1].Runs-1 || o.MostRuns != said[i-1].MostRuns-1) {
				t.Errorf("before run %d: %+v, before the other half of its pair it was %+v", i+1, o, said[i-1])
			}
		}
		last := said[len(said)-1]
		if len(said) != n || last.Runs != 1 || last.Time != 40*time.Second {
			t.Errorf("%d runs; the last outlook is %+v", n, last)
		}
	})
}

// outlookTokens is the output of a request.
const outlookTokens = 200

// timed lets runs take what the server needs for the requests asked for, two
// waves more to settle and to drain, and three seconds of this tool's own.
func timed(r *Run) {
	const tokens = outlookTokens
	x := r.Result.Window.OutputTokPerSec
	l := Standard.Limits(r.Step, r.Result.Concurrency, time.Second)
	measured := min(max(l.MinDuration.Seconds(), float64(l.MinRequests)*tokens/x), l.MaxDuration.Seconds())
	whole := l.Ramp.Seconds() + measured + 2*float64(r.Result.Concurrency)*tokens/x + 3
	e := &r.Result.Window
	e.Seconds, e.OutputTokens, e.Requests = measured, x*measured, int64(x*measured/tokens)
	r.Result.WholeRun = *e
	r.Result.Ended = r.Result.Started.Add(time.Duration(whole * float64(time.Second)))
}

// foretold sums what outlooks said, and what came.
type foretold struct{ runs, made, off, time, took float64 }

// TestAcceptOutlook states the outlook's bias over the generators: of runs and
// of time, early in a campaign, in the middle and late.
func TestAcceptOutlook(t *testing.T) {
	s := newSuite(t)
	families := []kneetest.Family{kneetest.Smooth, kneetest.BatchCap, kneetest.Collapse, kneetest.TwoStage, kneetest.Sigmoid, kneetest.SoftCap}
	families = append(families, kneetest.Mechanisms()...)
	parts := []struct {
		name string
		at   float64
	}{{"before the first run", 0}, {"a quarter in", 0.25}, {"half way", 0.5}, {"three quarters in", 0.75}}
	said, n := make([]foretold, len(parts)), 0.0
	for _, seed := range s.Seeds {
		for _, f := range families {
			for i := range max(s.trials/20, 1) {
				p, trial := confirmPlan(), uint64(2000+i)
				w := newWorld(kneetest.New(f, rand.New(rand.NewPCG(seed, trial))), 0.03, seed<<16+trial)
				w.judge = timed
				runs, _ := w.play(t, p)
				for j, part := range parts {
					said[j].add(p, runs, int(part.at*float64(len(runs))), outlookTokens/w.curve.X(1))
				}
				n++
			}
		}
	}
	for j, part := range parts {
		s.Judge(t, kneetest.Figures("outlook", part.name+", runs foretold / runs made", kneetest.Stated, 0, said[j].runs/said[j].made, nil))
		s.Judge(t, kneetest.Figures("outlook", part.name+", off by so many runs on average", kneetest.AtMost, 3, said[j].off/n, nil))
		s.Judge(t, kneetest.Figures("outlook", part.name+", time foretold / time taken", kneetest.Stated, 0, said[j].time/said[j].took, nil))
	}
}

// add asks after i of the runs of a campaign, whose preflight had a request
// that took some seconds.
func (a *foretold) add(p Plan, runs []Run, i int, seconds float64) {
	c := Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: p, Runs: runs[:i], Preflight: loadgen.Preflight{E2EMS: 1000 * seconds}}
	o, left := c.Outlook(), len(runs)-i
	a.runs, a.made = a.runs+float64(o.Runs), a.made+float64(left)
	a.off += max(float64(o.Runs-left), float64(left-o.Runs))
	a.time += o.Time.Seconds()
	for _, r := range runs[i:] {
		a.took += length(r).Seconds()
	}
}
