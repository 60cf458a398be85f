package sweep

import (
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// A further window needs fewer attempts than the first: it asks whether the
// environment is still what it was, not what it is.
const windowValid, windowTries = 3, 5

// MaxWindow bounds the number of windows of a campaign.
const MaxWindow = 100

// WindowAttempts is how many attempts at the operating point a window may make,
// and how many of them must be valid.
func WindowAttempts(window int) (valid, tries int) {
	if window > 1 {
		return windowValid, windowTries
	}
	return confirmValid, confirmTries
}

// window numbers from 1, whatever the journal's age.
func (r Run) window() int { return max(r.Window, 1) }

// follows reports whether a run may come after another one.
func follows(before, r Run) bool {
	switch r.window() - before.window() {
	case 0:
		return r.Deployment == before.Deployment && r.Target == before.Target
	case 1:
		return true
	}
	return false
}

// inWindow keeps the runs of one window.
func inWindow(runs []Run, window int) []Run {
	var out []Run
	for _, r := range runs {
		if r.window() == window {
			out = append(out, r)
		}
	}
	return out
}

// Windows is the number of windows that a curve was measured in.
func (c Curve) Windows() int {
	last := 0
	for _, r := range c.Runs {
		last = max(last, r.window())
	}
	return last
}

// WindowEnd is when the last run of a window ended, zero if there is none.
func (c Curve) WindowEnd(window int) time.Time {
	var end time.Time
	for _, r := range inWindow(c.Runs, window) {
		if r.Result.Ended.After(end) {
			end = r.Result.Ended
		}
	}
	return end
}

// follow reads what came before the window: the first window's last word, the
// time spent, what the attempts read, and the stalls, of which two are too many
// in whatever windows.
func (t *tape) follow(runs []Run) {
	p := t.plan
	p.Window = 0
	t.first = nextStep(p, runs, t.find)
	var gate *Run
	for _, r := range runs {
		if r.window() >= t.plan.Window {
			continue
		}
		t.before = append(t.before, r)
		t.wall += length(r)
		if r.Step.Purpose != Confirm || r.Step.ConcurrencyPerGPU != t.first.Point.ConcurrencyPerGPU {
			continue
		}
		if r.stalled() {
			t.stalls++
		}
		switch {
		case !r.Valid():
			gate = nil
		case r.Step.Kind == loadgen.Gate:
			gate = &r
		case gate != nil:
			read := gate.Result.WholeRun
			t.earlier99, t.earlier50 = append(t.earlier99, read.TTFTP99MS), append(t.earlier50, read.TTFTP50MS)
			gate = nil
		}
	}
}

// confirmAgain makes the attempts of a further window at the point that the
// first one confirmed. What fails here refuses the point; it does not move it.
func (t *tape) confirmAgain() Decision {
	w, op := t.plan.Window, t.first.Point
	switch {
	case !t.first.Done:
		why := "the first window is not finished: continue it first"
		return t.unconfirmed(op, why)
	case op.ConcurrencyPerGPU == 0 || !op.Healthy:
		return t.unconfirmed(op, fmt.Sprintf("nothing to confirm in window %d: %s", w, t.first.Reason))
	}
	want, tries := WindowAttempts(w)
	a, ok := t.attempts(op.ConcurrencyPerGPU, Confirm, want, tries, 0)
	if !ok {
		return t.unconfirmed(op, t.spent)
	}
	if bad := a.verdict(op.ConcurrencyPerGPU, want); bad != "" {
		return t.unconfirmed(op, fmt.Sprintf("window %d: %s", w, bad))
	}
	if bad := missedAt(t.plan.Objective, t.view, op.ConcurrencyPerGPU); bad != "" {
		return t.unconfirmed(op, fmt.Sprintf("window %d: %s", w, bad))
	}
	return Decision{Point: op, Reason: fmt.Sprintf("%s, again in window %d by %d of %s", t.first.Reason, w, a.valid, plural.Of(a.made, "attempt"))}
}
