package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// counted gives every run a count of its workers.
func (f *fixture) counted() *fixture {
	for i := range f.curve.Runs {
		f.curve.Runs[i].Workers = &sweep.Workers{Expected: 8, Before: sweep.Roll{Ready: 8}, After: sweep.Roll{Ready: 8}}
	}
	return f
}

func v1Of(c sweep.Curve) GateResult {
	out := runGates(c)
	return out[slices.IndexFunc(out, func(g GateResult) bool { return g.ID == "V1" })]
}

// TestWorkersObserved: V1 is met by runs that were counted, and a journal says
// for how many that holds.
func TestWorkersObserved(t *testing.T) {
	if g := v1Of(newFixture().curve); g.State != Unobserved || !strings.Contains(g.Observed, "the server listed none") {
		t.Errorf("not counted: %+v", g)
	}
	f := newFixture().counted()
	if g := v1Of(f.curve); g.State != Met || g.Observed != "0 of 10 runs failed it; frontends are not counted" {
		t.Errorf("counted: %+v", g)
	}
	f.curve.Runs[3].Workers = nil
	if g := v1Of(f.curve); g.State != Met || !strings.HasSuffix(g.Observed, "; not fully judged in 1") {
		t.Errorf("one not counted: %+v", g)
	}
	p := newFixture().counted().propose()
	if why := p.Reasons[len(p.Reasons)-1]; strings.Contains(why, "V1 (") || !strings.Contains(why, "V7 (") {
		t.Errorf("the reasons say of what was counted: %q", why)
	}
}

// TestCheckOfLostWorkers: too few whole runs are inconclusive before pass and
// fail, and say how many workers are there; enough of them keep their verdict.
func TestCheckOfLostWorkers(t *testing.T) {
	good, bad := []float64{1, 1, 1, 21197, 21500, 20900}, []float64{1, 1, 1, 14000, 14000, 14000}
	p99 := append(steadyP99[:], 600)
	lost := func(f *fixture, n int) {
		for i := range n {
			f.fail(i, "V1")
		}
		for i := range f.curve.Runs {
			if r := &f.curve.Runs[i]; !r.Valid() {
				r.Violations[0].Observed, r.Violations[0].Threshold = "7 of 8 workers ready before the run, 7 after", "8, the same before and after (--label workers)"
			}
		}
	}
	const says = "7 of 8 workers ready before the run, 7 after; expected 8, the same before and after (--label workers)"
	for _, c := range []struct {
		name string
		x    []float64
		n    int
		want Verdict
	}{
		{"three of six", good, 3, Inconclusive},
		{"three of six, the others slow", bad, 3, Inconclusive},
		{"two of five", good[1:], 2, Pass},
		{"two of five, the others slow", bad[1:], 2, Fail},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := checkFixture(c.x, p99[:len(c.x)])
			lost(f, c.n)
			r := Check(testGate(), f.curve, testGPUs, nil)
			at := slices.IndexFunc(r.Reasons, func(s string) bool { return strings.HasPrefix(s, "V1, in ") && strings.Contains(s, says) })
			if r.Verdict != c.want || at < 0 || (at == 0) != (c.want == Inconclusive) {
				t.Errorf("verdict %s, want %s; reason %d of %q", r.Verdict, c.want, at, r.Reasons)
			}
		})
	}
}

// TestCheckOfFewerWorkers: a check that never expected more workers than were
// left is no check of the baseline's deployment.
func TestCheckOfFewerWorkers(t *testing.T) {
	base := finished(newFixture().curve)
	for workers, want := range map[string]Verdict{"8": Pass, "": Pass, "7": Inconclusive} {
		f := checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3])
		f.curve.Fingerprint.Labels["workers"] = workers
		r := Check(testGate(), f.curve, testGPUs, &base)
		says := strings.HasPrefix(r.Reasons[0], "the baseline had 8 workers on these GPUs, the check 7")
		if r.Verdict != want || says != (want == Inconclusive) {
			t.Errorf("workers %q: %s, want %s: %q", workers, r.Verdict, want, r.Reasons)
		}
	}
}

// TestCheckUncounted: nobody counted the workers of a check, and those of its
// baseline were. A pulse sees lost ones instead, which is said; without one the
// check is inconclusive. What was never counted is no news.
func TestCheckUncounted(t *testing.T) {
	count := func(c *sweep.Curve) { (&fixture{curve: *c}).counted() } // their runs are shared
	g := testGate()
	g.ConcurrencyPerGPU, g.FloorPerGPU = 32, 4300
	const says = "no run of the check has its ready workers counted, and those of the baseline were, 8 of them"
	for _, row := range []struct {
		name string
		bend func(base, now *sweep.Curve)
		want Verdict
		told bool
	}{
		{"neither", func(_, _ *sweep.Curve) {}, Pass, false},
		{"both", func(base, now *sweep.Curve) { count(base); count(now) }, Pass, false},
		{"the check only", func(_, now *sweep.Curve) { count(now) }, Pass, false},
		{"the baseline only, pulsed", func(base, _ *sweep.Curve) { count(base) }, Pass, true},
		{"the baseline only, not pulsed", func(base, now *sweep.Curve) { count(base); now.Runs = now.Runs[:len(now.Runs)-1] }, Inconclusive, true},
		{"neither, not pulsed", func(_, now *sweep.Curve) { now.Runs = now.Runs[:len(now.Runs)-1] }, Pass, false},
	} {
		base, now := pulseFixture()
		row.bend(&base, &now)
		r := Check(g, now, 8, &base)
		if told := strings.Contains(strings.Join(r.Reasons, "\n"), says); r.Verdict != row.want || told != row.told {
			t.Errorf("%s: %s %q", row.name, r.Verdict, r.Reasons)
		}
	}
}

// TestCheckUncountedBySidecar: without a baseline the sidecar alone says how many
// workers there were. Where the calibration counted them, a check that could not is
// inconclusive; where they were stated only, it says so; what was not known then is
// no news.
func TestCheckUncountedBySidecar(t *testing.T) {
	const says = "the calibration of o.provenance.json had 8 on 8 GPUs"
	slow := []float64{14000, 14000, 14000}
	for _, row := range []struct {
		name   string
		made   func(*fixture)
		x      []float64
		now    func(*fixture)
		want   Verdict
		told   bool
		remedy bool
	}{
		{"both", func(f *fixture) { f.counted() }, nil, func(f *fixture) { f.counted() }, Pass, false, false},
		{"the calibration only", func(f *fixture) { f.counted() }, nil, nil, Inconclusive, true, true},
		{"the calibration only, slow", func(f *fixture) { f.counted() }, slow, nil, Inconclusive, true, true},
		{"the calibration only, one run of the check", func(f *fixture) { f.counted() }, nil, func(f *fixture) {
			f.curve.Runs[0].Workers = &sweep.Workers{Expected: 8, Before: sweep.Roll{Ready: 8}, After: sweep.Roll{Ready: 8}}
		}, Pass, false, false},
		{"stated only", nil, nil, nil, Pass, true, false},
		{"stated only, slow", nil, slow, nil, Fail, true, false},
		{"the check only", nil, nil, func(f *fixture) { f.counted() }, Pass, false, false},
		{"neither stated nor counted", func(f *fixture) { delete(f.curve.Fingerprint.Labels, "workers") }, nil, nil, Pass, false, false},
	} {
		made := newFixture()
		if row.made != nil {
			row.made(made)
		}
		side, _ := proved(made)
		x := row.x
		if x == nil {
			x = []float64{21197, 21200, 21190}
		}
		f := checkFixture(x, steadyP99[:3])
		if row.now != nil {
			row.now(f)
		}
		s := Sidecar{Name: "o.provenance.json", Provenance: &side, Overlay: OverlayState{Bytes: []byte("new"), Gate: side.Gate}}
		r := s.Check(side.Gate, f.curve, testGPUs, nil)
		at := slices.IndexFunc(r.Reasons, func(why string) bool { return strings.Contains(why, says) })
		if r.Verdict != row.want || (at >= 0) != row.told || row.remedy && (at != 0 || !strings.Contains(r.Reasons[0], "/health lists its workers")) {
			t.Errorf("%s: %s, want %s: %q", row.name, r.Verdict, row.want, r.Reasons)
		}
		if r.Verdict == Inconclusive && r.Effective.Pass {
			t.Errorf("%s: the evaluator's opinion of it is a pass", row.name)
		}
	}
}
