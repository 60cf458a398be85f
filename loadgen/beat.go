package loadgen

import "time"

// leastAbsence is how long this process must have stood still to be told of it:
// what is shorter cannot alone bring a second of tokens below half of the usual
// (run gate V6).
const leastAbsence = int64(500 * time.Millisecond)

// maxAbsences bounds what is kept: a single one spoils a run.
const maxAbsences = 64

// beat notes when the watch of a run, which wakes up several times a second, did
// not, and this process used hardly any CPU meanwhile. That tells a process that
// was stopped (a signal, a frozen or throttled container, a paused machine) from
// a server that stood still: both bring no token. A process that was busy is
// late too, and run gate V8 sees that by itself.
//
// Arrivals of tokens do not tell: the kernel goes on receiving for a process
// that is stopped, and its times are theirs.
//
// The run's clock is CLOCK_MONOTONIC, which runs on while a process is stopped,
// and on Linux not while the whole machine sleeps; for that the machine's own
// count of its sleep is looked at. A virtual machine whose host hides a pause
// from its clocks loses no time by its own, and neither does the run.
type beat struct {
	last stamp
	woke int64 // after the last absence
	away []absence
}

// stamp is a moment of the run's clock, for how long the machine had slept by
// then, and the CPU time that this process had used.
type stamp struct{ at, slept, used int64 }

// absence is a stretch in which this process did not run. What the machine slept
// of its length is no part of the run's clock.
type absence struct{ from, length int64 }

// rest is said as the watch goes to sleep, so that what it does itself, such as
// writing to a terminal that is held, is no absence.
func (b *beat) rest(at int64) { b.last.at = at }

// wake is said at the next beat.
func (b *beat) wake(s stamp) {
	from, length := b.last.at, int64(0)
	if gap := s.at - from; gap >= leastAbsence && s.used-b.last.used < gap/2 {
		length = gap
	}
	if slept := s.slept - b.last.slept; slept >= leastAbsence {
		length += slept
	}
	b.last = s
	if length == 0 {
		return
	}
	b.woke = s.at
	if len(b.away) < maxAbsences {
		b.away = append(b.away, absence{from, length})
	}
}
