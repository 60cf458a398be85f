package sweep

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
)

const (
	confirmValid, confirmTries = 5, 8
	checkValid, checkTries     = 3, 5
	// maxMoves bounds how often a confirmation may move down.
	maxMoves = 4
	// MaxStalls is the number of stalls that one may put down to chance.
	MaxStalls = 1
)

// tally counts attempts: a gate run followed by a steady run.
type tally struct {
	made, valid, stalled int
	watched              time.Duration
	// before is 1 where the endpoint already stood still before any load, and
	// earlier counts the attempts that stalled in earlier windows.
	before  int
	earlier int
	invalid []Run
	// want valid ones are needed of at most tries.
	want, tries int
	// half: the gate run of the attempt in progress is made.
	half bool
	// p99 and p50 are the gate runs' TTFT of the valid attempts, in ms, those of
	// earlier windows included.
	p99, p50 []float64
}

// attempts makes attempts at n until want are valid, at most tries, and goes on
// watching until the runs have lasted for watch, which is asked for where the
// endpoint stood still before any load: that was the first stall. A second one
// ends the attempts: what stalls twice is no accident. So does whatever else no
// further attempt can mend, such as more INVALID ones than tries allow, however
// long is to be watched. An attempt whose gate run is INVALID ends there.
func (t *tape) attempts(n int, p Purpose, want, tries int, watch time.Duration) (a tally, ok bool) {
	a.earlier, a.want, a.tries = t.stalls, want, tries
	a.p99, a.p50 = slices.Clone(t.earlier99), slices.Clone(t.earlier50)
	t.trying = &a
	if watch > 0 {
		a.before = 1
	}
	for !a.hopeless() && (a.valid < want || a.watched < watch) {
		valid, stalled := true, false
		var gate loadgen.Estimate
		for _, kind := range []loadgen.RunKind{loadgen.Gate, loadgen.Steady} {
			why := fmt.Sprintf("attempt %d at %d per GPU, %d of %d valid so far", a.made+1, n, a.valid, want)
			r, ok := t.take(Step{ConcurrencyPerGPU: n, Kind: kind, Purpose: p, Why: why})
			if !ok {
				return a, false
			}
			a.watched += length(r)
			if a.half = kind == loadgen.Gate; a.half {
				gate = r.Result.WholeRun
			}
			if r.Valid() {
				continue
			}
			a.invalid = append(a.invalid, r)
			valid, stalled = false, r.stalled()
			break
		}
		a.made, a.half = a.made+1, false
		if valid {
			a.valid++
			a.p99, a.p50 = append(a.p99, gate.TTFTP99MS), append(a.p50, gate.TTFTP50MS)
		}
		if stalled {
			a.stalled++
		}
		if a.unstable() {
			break
		}
	}
	return a, true
}

// unstable: attempts stalled, or are of two kinds.
func (a tally) unstable() bool { return a.stalls() || a.torn() }

func (a tally) stalls() bool {
	return a.stalled > 0 && a.stalled+a.before+a.earlier > MaxStalls
}

func (a tally) torn() bool { return TailsApart(a.p99, a.p50) }

// hopeless: too few attempts are left for those that are still needed, which is
// to say that more are INVALID than may be.
func (a tally) hopeless() bool { return a.want-a.valid > a.tries-a.made }

// stalled reports whether the run failed the stall gate.
func (r Run) stalled() bool {
	for _, v := range r.Violations {
		if v.Gate == "V6" {
			return true
		}
	}
	return false
}

// verdict says why a tally proves nothing, "" if it proves the point.
func (a tally) verdict(n, want int) string {
	switch {
	case a.stalls() && a.before > 0:
		return fmt.Sprintf("unstable: the endpoint stood still before any load, and %d of %s at %d per GPU stalled", a.stalled, plural.Of(a.made, "attempt"), n)
	case a.stalls() && a.earlier > 0:
		return fmt.Sprintf("unstable: %d of %s at %d per GPU stalled, after %d in earlier windows", a.stalled, plural.Of(a.made, "attempt"), n, a.earlier)
	case a.stalls():
		return fmt.Sprintf("unstable: %d of %s at %d per GPU stalled", a.stalled, plural.Of(a.made, "attempt"), n)
	case a.torn():
		return fmt.Sprintf("unstable: gate runs at %d per GPU are of two kinds, ×%.1f apart in TTFT p99 and ×%.1f in p50", n, apart(a.p99), apart(a.p50))
	case a.valid >= want && a.hopeless():
		return fmt.Sprintf("%d of %s at %d per GPU %s INVALID (%s), at most %d may be",
			a.made-a.valid, plural.Of(a.made, "attempt"), n, plural.Verb(a.made-a.valid, "was", "were"), gatesOf(a.invalid), a.tries-a.want)
	case a.valid < want:
		return fmt.Sprintf("only %d of %s at %d per GPU %s valid (%s), %d of at most %d %s needed",
			a.valid, plural.Of(a.made, "attempt"), n, plural.VerbOf(a.valid, a.made, "was", "were"), gatesOf(a.invalid), want, a.tries, plural.Verb(want, "is", "are"))
	}
	return ""
}

// point chooses the operating point, measuring what it rests on. limit, if not
// 0, is a concurrency it may not exceed.
func (t *tape) point(limit int) (OperatingPoint, bool) {
	for {
		op, need := choosePoint(t.plan, t.fit(false), t.view, limit)
		op.Measure = need != 0
		// A sweep of given levels measures those only.
		if need == 0 || len(t.plan.Levels) > 0 && !t.plan.Confirm {
			return op, true
		}
		why := fmt.Sprintf("%d per GPU may become the operating point and was not measured", need)
		if need == op.Next {
			why = fmt.Sprintf("the level above the operating point of %d per GPU must be healthy", op.ConcurrencyPerGPU)
		}
		if !t.atLeastTwo(need, Next, why) {
			return op, false
		}
	}
}

// atLeastTwo brings a level to two valid runs.
func (t *tape) atLeastTwo(n int, p Purpose, why string) bool {
	for len(t.view.valid[n]) < 2 {
		if got, ok := t.run(n, p, why); !ok {
			return false
		} else if !got {
			return true
		}
	}
	return true
}

// confirm makes the confirmation and brings the fit up to date. If the knee
// comes out lower, the point moves down and is confirmed again; never up.
func (t *tape) confirm(op OperatingPoint) Decision {
	for t.moves = range maxMoves {
		n := op.ConcurrencyPerGPU
		if bad := Unsteady(t.read, t.noOverload(n)); bad != "" {
			return t.unconfirmed(op, bad)
		}
		a, ok := t.attempts(n, Confirm, confirmValid, confirmTries, 0)
		if !ok {
			return t.unconfirmed(op, t.spent)
		}
		if bad := a.verdict(n, confirmValid); bad != "" {
			return t.unconfirmed(op, bad)
		}
		again, ok := t.point(n)
		if !ok {
			return t.unconfirmed(op, t.spent)
		}
		if !again.Healthy || again.ConcurrencyPerGPU == 0 {
			return Decision{Point: again, Reason: "after the confirmation: " + again.Sentence()}
		}
		if again.ConcurrencyPerGPU == n {
			if bad := Unsteady(t.read, t.noOverload(n)); bad != "" {
				return t.unconfirmed(op, bad)
			}
			if !t.keepPulseBase(again) {
				return Decision{}
			}
			return Decision{Point: again, Reason: fmt.Sprintf("%s, confirmed by %d of %s", again.Sentence(), a.valid, plural.Of(a.made, "attempt"))}
		}
		op = again
	}
	return t.unconfirmed(op, fmt.Sprintf("the knee came out lower after each of %d confirmations", maxMoves))
}

// noOverload is the highest concurrency known not to overload the server: the
// point, or the knee.
func (t *tape) noOverload(point int) int { return NoOverload(t.fit(false), point) }

// NoOverload is the highest concurrency per GPU that a fit and an operating
// point say does not overload the server; see Unsteady.
func NoOverload(fit knee.Fit, point int) int {
	if fit.HasKnee() {
		return max(point, int(fit.Knee))
	}
	return point
}

func (t *tape) unconfirmed(op OperatingPoint, why string) Decision {
	op.Healthy, op.Reason = false, why
	return Decision{Point: op, Reason: why}
}

// check re-measures the given point.
func (t *tape) check() Decision {
	n := t.plan.Point
	op := OperatingPoint{ConcurrencyPerGPU: n, Next: LadderNext(n)}
	a, ok := t.attempts(n, Check, checkValid, checkTries, t.plan.MinWatch)
	if !ok {
		return t.unconfirmed(op, t.spent)
	}
	if bad := a.verdict(n, checkValid); bad != "" {
		return t.unconfirmed(op, bad)
	}
	if bad, ok := t.pulse(); !ok {
		return t.unconfirmed(op, bad)
	}
	op.Healthy = true
	return Decision{Point: op, Reason: fmt.Sprintf("%d of %s at %d per GPU %s valid", a.valid, plural.Of(a.made, "attempt"), n, plural.VerbOf(a.valid, a.made, "is", "are"))}
}
