package observe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// What GPUs and nodes say of themselves; the simulator has neither, so that these
// rules are tested on pages in the exporters' form only. DCGM's user guide, on profiling
// metrics, calls less than 0.5 of SM activity a likely ineffective use of a GPU. Pressure (Documentation/accounting/psi.rst)
// is the share of time in which some task waited: for a CPU that is common on a
// host that does its work, so that most of the time must pass so; for memory it
// is not.
const (
	idleSMs    = 0.5
	throttled  = 0.2 // of the time that clocks are held down: more than an incident
	cappedMost = 0.5 // of the time at the power limit
)

// strain is what a machine's tasks may wait for, and from which share of the
// time on it is evidence.
type strain struct {
	of   Metric
	what string
	from float64
}

func strains() []strain {
	return []strain{{CPUPressure, "a CPU", 0.5}, {MemPressure, "memory", 0.1}, {IOPressure, "a disk", 0.5}}
}

// pressed says which pressures of a machine are evidence.
func (s Stats) pressed(whose string) []string {
	var out []string
	for _, p := range strains() {
		if v, ok := s[p.of]; ok && v.Mean >= p.from {
			out = append(out, fmt.Sprintf("tasks on %s waited for %s for %.0f %% of the time", whose, p.what, 100*min(v.Mean, 1)))
		}
	}
	return out
}

// sickGPUs says what is wrong with GPUs by their own word, a line a fault, and
// how many GPUs have one. Their power limit is none: a GPU at work may reach it.
func (v *seen) sickGPUs() (lines []string, sick int) {
	for _, name := range slices.Sorted(maps.Keys(v.Span.GPUs)) {
		s, before := v.Span.GPUs[name], len(lines)
		if e := s[ECCDouble]; e.Delta > 0 {
			lines = append(lines, fmt.Sprintf("GPU %s counted %s during the run", name, plural.Of(max(1, e.Delta), "uncorrected memory error")))
		}
		if x := s[XID]; x.Max > 0 && (x.Min < x.Max || x.N < s.readings()) {
			// An exporter shows the last error for good; one that was there
			// before says nothing of this run.
			lines = append(lines, fmt.Sprintf("GPU %s reported the error XID %.0f during the run", name, x.Max))
		}
		if t, ok := s.told(Throttle); ok && t.Mean >= throttled {
			line := fmt.Sprintf("heat or hardware held the clocks of GPU %s down for %.0f %% of the time", name, 100*t.Mean)
			if c, ok := s[SMClockMHz]; ok {
				line += fmt.Sprintf(", at %.0f MHz", c.Mean)
			}
			lines = append(lines, line)
		}
		if len(lines) > before {
			sick++
		}
	}
	return lines, sick
}

// readings is how often anything was read.
func (s Stats) readings() int {
	n := 0
	for _, v := range s {
		n = max(n, v.N)
	}
	return n
}

// overGPUs is the mean of a metric over the GPUs that tell it.
func (v *seen) overGPUs(m Metric) (mean float64, gpus int) {
	total := 0.0
	for _, s := range v.Span.GPUs {
		if stat, ok := s.told(m); ok {
			total += stat.Mean
			gpus++
		}
	}
	return total / max(1, float64(gpus)), gpus
}

// hardware are remarks that belong to any finding.
func (v *seen) hardware() []string {
	lines, _ := v.sickGPUs()
	if len(lines) > maxFaults {
		lines = append(lines[:maxFaults], "and "+plural.Of(len(lines)-maxFaults, "more fault")+" of GPUs")
	}
	return append(lines, v.Span.Node.pressed("a server's node")...)
}

// maxFaults bounds what is listed.
const maxFaults = 8

// faulty holds when the engines are the limit and some of the GPUs, not most,
// are sick: those and not the deployment are slow. Workers that all do the same
// contradict it.
func faulty(v *seen) (o opinion) {
	_, sick := v.sickGPUs()
	rising, known := v.rises()
	if sick == 0 || 2*sick > len(v.Span.GPUs) || !v.busy() || !known || rising {
		return o
	}
	o.say("%d of %s %s own word", sick, plural.Of(len(v.Span.GPUs), "GPU"), plural.Verb(sick, "is sick by its", "are sick by their"))
	o.say("%s, and there is room for more", v.placesLine())
	o.say("%s", v.gainLine())
	if v.alike() {
		o.but("all %s make as many tokens, with as many requests on them", plural.Of(len(v.workers), "worker"))
	}
	return o.decided()
}

// alike holds when several workers do the same work under the same load.
func (v *seen) alike() bool {
	for _, of := range []func(Worker) (float64, bool){madeTokens, func(w Worker) (float64, bool) { return w.load(), true }} {
		least, most := 0.0, 0.0
		for i, w := range v.workers {
			n, ok := of(w)
			if !ok {
				return false
			}
			if i == 0 {
				least = n
			}
			least, most = min(least, n), max(most, n)
		}
		if least <= 0 || most > slower*least {
			return false
		}
	}
	return len(v.workers) > 1
}

// madeTokens is what a worker made, by the counter that it has.
func madeTokens(w Worker) (float64, bool) {
	for _, m := range tokenMetrics() {
		if s, ok := w.Stats[m]; ok {
			return s.Delta, true
		}
	}
	return 0, false
}
