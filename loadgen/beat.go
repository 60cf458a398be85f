package loadgen

import "time"

// leastAbsence is how long this process must have stood still to be told of it:
// what is shorter cannot alone bring a second of tokens below half of the usual
// (run gate V6).
const leastAbsence = int64(500 * time.Millisecond)

// maxGaps bounds what is kept: a single absence spoils a run.
const maxGaps = 64

// beat notes when the watch of a run, which wakes up several times a second, did
// not. That tells a process that was stopped (a signal, a frozen or throttled
// container, a paused machine) from a server that stood still: to both of them
// no token comes.
//
// The run's clock is CLOCK_MONOTONIC, which runs on while a process is stopped,
// and on Linux not while the whole machine sleeps; for that the machine's own
// count of its sleep is looked at. A virtual machine whose host hides a pause
// from its clocks loses no time by its own, and neither does the run.
type beat struct {
	every  int64
	rested stamp
	woke   int64 // after the last gap
	gaps   []gap
}

// stamp is a moment of the run's clock, and how long the machine had slept by then.
type stamp struct{ at, slept int64 }

// gap is the time between two beats that lie too far apart, and for how much of
// its length beyond that the machine slept.
type gap struct {
	span
	slept int64
}

// rest is said as the watch goes to sleep, so that what it does itself, such as
// writing to a terminal that is held, is no gap.
func (b *beat) rest(s stamp) { b.rested = s }

// wake is said at the next beat.
func (b *beat) wake(s stamp) {
	slept := s.slept - b.rested.slept
	if max(s.at-b.rested.at-b.every, slept) < leastAbsence {
		return
	}
	b.woke = s.at
	if len(b.gaps) < maxGaps {
		b.gaps = append(b.gaps, gap{span{b.rested.at, s.at}, slept})
	}
}

// absence is a stretch in which this process did not run. What the machine slept
// of its length is no part of the run's clock.
type absence struct{ from, length int64 }

// absences are the gaps in which no token was read. Where some were, the process
// ran and the watch came late: then tokens were read late as well, which run gate
// V8 sees by itself.
func absences(gaps []gap, bins []bin) []absence {
	var out []absence
	for _, g := range gaps {
		still, length := quietest(bins, g.span), int64(0)
		if d := still.length(); d >= leastAbsence {
			length = d
		}
		if g.slept >= leastAbsence {
			length += g.slept
		}
		if length > 0 {
			out = append(out, absence{still.from, length})
		}
	}
	return out
}
