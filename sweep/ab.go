package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
)

// Side is one of the two targets that are measured in turns.
type Side string

// The sides.
const (
	SideA Side = "A"
	SideB Side = "B"
)

// Turn is what comes next when two targets are measured in turns: whose run,
// and which. When done, the decision is that of A's planner.
type Turn struct {
	Side Side
	Decision
}

// NextTurn is the planner of an interleaved comparison: pure, deterministic in
// the plan and the runs of both sides, so that two journals are all that a
// resumed campaign needs.
//
// Runs are made in pairs, the same step on both sides back to back, in the
// order A B, B A, A B, …: a drift that is linear over two pairs then meets both
// sides equally. Which step comes next is A's to say, from whole pairs only. A
// pair counts as INVALID, and is made again like an INVALID run, when either
// run is: if only the side that was disturbed were repeated, it alone would be
// judged by its better moments.
func NextTurn(p Plan, a, b []Run) (Turn, error) { return nextTurn(p, a, b, knee.Find) }

func nextTurn(p Plan, a, b []Run, find fitter) (Turn, error) {
	if err := InTurns(a, b); err != nil {
		return Turn{}, err
	}
	whole := min(len(a), len(b))
	switch {
	case len(a) > whole:
		return Turn{SideB, Decision{Step: a[whole].Step}}, nil
	case len(b) > whole:
		return Turn{SideA, Decision{Step: b[whole].Step}}, nil
	}
	first := SideA
	if whole%2 == 1 {
		first = SideB
	}
	return Turn{first, nextStep(p, wholePairs(a, b), find)}, nil
}

// InTurns says why two journals are not those of one interleaved comparison.
func InTurns(a, b []Run) error {
	for i := range min(len(a), len(b)) {
		if s, t := a[i].Step, b[i].Step; s.ConcurrencyPerGPU != t.ConcurrencyPerGPU || s.Kind != t.Kind {
			return fmt.Errorf("run %d is at %d per GPU (%s) in A and at %d (%s) in B: they were not measured in turns", i+1, s.ConcurrencyPerGPU, s.Kind, t.ConcurrencyPerGPU, t.Kind)
		}
	}
	if d := len(a) - len(b); d < -1 || d > 1 {
		return fmt.Errorf("there %s %s of A and %d of B: they were not measured in turns", plural.Verb(len(a), "is", "are"), plural.Of(len(a), "run"), len(b))
	}
	return nil
}

// maxPause is the longest time between the runs of a pair. What was
// interrupted for longer, and resumed, was not measured in one window.
const maxPause = 10 * time.Minute

// wholePairs are the pairs that are complete, as A's planner sees them: A's
// results, INVALID if either run is, and as long as both together.
func wholePairs(a, b []Run) []Run {
	out := make([]Run, min(len(a), len(b)))
	for i := range out {
		r := a[i]
		r.Violations = violations(a[i], b[i])
		r.Result.Ended = r.Result.Started.Add(length(a[i]) + length(b[i]))
		out[i] = r
	}
	return out
}

// violations are why a pair does not count.
func violations(a, b Run) []Violation {
	out := append([]Violation{}, a.Violations...)
	for _, v := range b.Violations {
		v.Gate += " of B"
		out = append(out, v)
	}
	if p := pause(a, b); p > maxPause {
		out = append(out, Violation{
			Gate: "pause", Observed: fmt.Sprintf("%s between the runs of a pair", p.Round(time.Second)),
			Threshold: fmt.Sprintf("≤ %s", maxPause), Remedy: "the pair is made again",
		})
	}
	return out
}

// pause is the time between the two runs of a pair.
func pause(a, b Run) time.Duration {
	if b.Result.Started.Before(a.Result.Started) {
		a, b = b, a
	}
	return b.Result.Started.Sub(a.Result.Ended)
}

// ValidPairs are the runs of both sides that may be compared: those of pairs in
// which both are valid, in their order, so that run i of A belongs to run i of B.
func ValidPairs(a, b []Run) (va, vb []Run) {
	for i := range min(len(a), len(b)) {
		if len(violations(a[i], b[i])) == 0 {
			va, vb = append(va, a[i]), append(vb, b[i])
		}
	}
	return va, vb
}

// AB measures two targets in turns, each into its own journal, which is a
// journal like any other. A's plan is that of both; its MaxWall bounds the time
// of all runs together.
type AB struct{ A, B *Campaign }

// Run continues until A's planner is done or ctx ends; see NextTurn and
// Campaign.Run.
func (ab *AB) Run(ctx context.Context) (Decision, error) {
	find, plan := remember(knee.Find), ab.A.Curve.Plan
	for {
		a, b := ab.A.Curve.Runs, ab.B.Curve.Runs
		turn, err := nextTurn(plan, a, b, find)
		if err != nil || turn.Done {
			return turn.Decision, err
		}
		if err := ctx.Err(); err != nil {
			return turn.Decision, err
		}
		mine, other := ab.A, b
		if turn.Side == SideB {
			mine, other = ab.B, a
		}
		mine.elsewhere, mine.outlook = total(other), ab.outlook
		err = mine.step(ctx, turn.Step)
		if errors.Is(err, errOutOfTime) {
			return outOfTime(plan, wholePairs(a, b), turn.Step, find), nil
		}
		if err != nil {
			return turn.Decision, fmt.Errorf("target %s: %w", turn.Side, err)
		}
	}
}

// outlook is that of A's planner, who sees pairs, in runs of both sides.
func (ab *AB) outlook() Outlook {
	a, b := ab.A.Curve.Runs, ab.B.Curve.Runs
	pairs := ab.A.Curve
	pairs.Runs = wholePairs(a, b)
	o := pairs.Outlook()
	o.Runs, o.MostRuns, o.MostHere, o.Next = 2*o.Runs, 2*o.MostRuns, 2*o.MostHere, o.Next/2
	for _, half := range [][]Run{a[len(pairs.Runs):], b[len(pairs.Runs):]} {
		o.Runs, o.MostRuns, o.MostHere = o.Runs-len(half), o.MostRuns-len(half), o.MostHere-len(half)
		o.Time = max(o.Time-total(half), 0)
	}
	return o
}

func total(runs []Run) time.Duration {
	sum := time.Duration(0)
	for _, r := range runs {
		sum += length(r)
	}
	return sum
}
