package compare

import (
	"fmt"
	"slices"

	"github.com/perfsweep/perfsweep/sweep"
)

// interleaved reports whether each side has runs before the last of the other:
// a drift of the environment then meets both.
func interleaved(a, b []sweep.Run) bool {
	if len(a) == 0 || len(b) == 0 || a[0].Started.IsZero() || b[0].Started.IsZero() {
		return false
	}
	return a[0].Started.Before(b[len(b)-1].Started) && b[0].Started.Before(a[len(a)-1].Started)
}

// remark says what a reader must know to believe the answer.
func (r *Report) remark(a, b Side) {
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	for i, s := range []Side{a, b} {
		for _, n := range s.Notes {
			warn("%c: %s", 'A'+i, n)
		}
	}
	switch {
	case len(r.Levels) == 0 && r.Paired:
		warn("no pair of runs is valid on both sides: there is nothing to compare")
	case len(r.Levels) == 0:
		warn("no concurrency was measured on both sides: measure both at the same --levels")
	case len(r.OnlyA)+len(r.OnlyB) > 0:
		warn("levels that one side lacks are not compared: A alone has %v, B alone %v", r.OnlyA, r.OnlyB)
	}
	if len(a.Runs) > 0 && slices.Equal(a.Runs, b.Runs) {
		warn("A and B hold the very same runs: this compares a curve with itself, and says nothing of a second one")
	}
	if !r.Interleaved {
		warn("A and B were not measured in turns: what changed in between, in the cluster or beside it, looks like a change of B")
	}
	if a.Fingerprint == nil || b.Fingerprint == nil {
		warn("a curve without fingerprint: that GPUs, model and workload were equal is the reader's claim")
	}
	if v := r.Throughput.Verdict; v == Same || v == CannotTell {
		for _, l := range r.Levels {
			if v := l.Throughput.Verdict; v == Better || v == Worse {
				warn("throughput at %d per GPU alone is %s: the change is not the same at all levels", l.ConcurrencyPerGPU, v)
			}
		}
	}
}
