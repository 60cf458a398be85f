package calibrate

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// The steps are the table up to the row that decided, and that row is the
// outcome.
func TestStepsOfADecision(t *testing.T) {
	for name, c := range map[string]struct {
		bend  func(*fixture)
		asked int
		asks  string
	}{
		"simulated":   {func(f *fixture) { f.simulated() }, 21, "the target is real"},
		"real":        {func(*fixture) {}, 19, "the rest from outside"},
		"a split":     {func(f *fixture) { f.level(64).Flags = []string{"split"} }, 10, "the environment is steady"},
		"nothing ran": {func(f *fixture) { f.curve.Runs = nil }, 1, "bears on this overlay"},
	} {
		f := newFixture()
		c.bend(f)
		p := f.propose()
		last := p.Steps[len(p.Steps)-1]
		if len(p.Steps) != c.asked || !strings.Contains(last.Asks, c.asks) || last.Outcome != p.Outcome || last.Why != p.Reasons[0] {
			t.Errorf("%s: %d steps, the last %+v; outcome %s", name, len(p.Steps), last, p.Outcome)
		}
		for _, s := range p.Steps[:len(p.Steps)-1] {
			if s.Outcome != "" || s.Why != "" || s.Asks == "" {
				t.Errorf("%s: %+v did not decide", name, s)
			}
		}
	}
}

// Every run gate fails where a run failed it, is met where none did, and is
// neither where nothing looked.
func TestRunGates(t *testing.T) {
	of := func(c sweep.Curve, id string) GateResult {
		for _, g := range runGates(c) {
			if g.ID == id {
				return g
			}
		}
		t.Fatalf("no gate %s", id)
		return GateResult{}
	}
	for _, id := range []string{"V1", "V2", "V3", "V4", "V5", "V6", "V7", "V8", "V9"} {
		want := Met
		if id == "V1" || id == "V7" {
			want = Unobserved
		}
		g := of(newFixture().curve, id)
		if g.State != want || g.Observed == "" || g.Threshold == "" || (g.State != Met) != (g.Remedy != "") {
			t.Errorf("healthy: %+v", g)
		}
		if id == "V9" { // a journal with two fingerprints cannot be read
			continue
		}
		f := newFixture()
		f.fail(1, id)
		g = of(f.curve, id)
		if g.State != Unmet || !strings.Contains(g.Observed, " runs failed it and was not used; the first, run 3: bad (limit good)") || g.Remedy == "" {
			t.Errorf("failed: %+v", g)
		}
		for i := range f.curve.Runs {
			f.curve.Runs[i].Violations = nil
			f.curve.Runs[i].Result.Warnings = []string{id + " not judged: no evidence"}
		}
		if g = of(f.curve, id); g.State != Unobserved {
			t.Errorf("not judged: %+v", g)
		}
		if g = of(sweep.Curve{}, id); g.State != Unobserved {
			t.Errorf("no run: %+v", g)
		}
	}
	p := newFixture().propose()
	if why := p.Reasons[len(p.Reasons)-1]; !strings.Contains(why, "not observed: V1 (") || !strings.Contains(why, "V7 (") || strings.Contains(why, "V2") {
		t.Errorf("the reasons do not say what nothing observed: %q", why)
	}
}
