package report

import (
	"fmt"
	"slices"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// Stall is something that stood still in a run: all streams, one worker, or
// windows far below the median.
type Stall struct {
	Seq               int             `json:"seq"`
	ConcurrencyPerGPU int             `json:"concurrency_per_gpu"`
	Kind              loadgen.RunKind `json:"run_kind"`
	observe.Event
}

// maxStalls bounds what is printed; JSON has them all.
const maxStalls = 20

func (p *printer) stalls(all []Stall) {
	if len(all) == 0 {
		return
	}
	p.line("stood still, counted from the start of the measured part:")
	for _, s := range all[:min(len(all), maxStalls)] {
		p.line("  run %d at %d per GPU: %s", s.Seq, s.ConcurrencyPerGPU, s.Event)
	}
	if more := len(all) - maxStalls; more > 0 {
		p.line("  and %d more", more)
	}
}

// RunFinding is what held one run back, judged by itself.
type RunFinding struct {
	Seq   int             `json:"seq"`
	Kind  loadgen.RunKind `json:"kind"`
	Valid bool            `json:"valid"`
	observe.Finding
}

// reasonsOf prints why runs are INVALID or miss a gate: a cause once, with the
// evidence of the first run that it held back. Valid runs of a pass need no reason.
func (p *printer) reasonsOf(all []RunFinding, pass bool) {
	var said []observe.Bottleneck
	for _, f := range all {
		if pass && f.Valid || slices.Contains(said, f.Bottleneck) {
			continue
		}
		said = append(said, f.Bottleneck)
		var seqs []int
		for _, o := range all {
			if o.Bottleneck == f.Bottleneck && !(pass && o.Valid) {
				seqs = append(seqs, o.Seq)
			}
		}
		if f.Bottleneck == observe.Unknown {
			p.line("what held back %s is not known", numbered("run", seqs))
		} else {
			p.line("held back by %s: %s", causeName(f.Bottleneck), numbered("run", seqs))
		}
		p.evidence(f.Finding, fmt.Sprintf("in run %d", f.Seq))
	}
}

// numbered lists runs by their numbers.
func numbered(what string, seqs []int) string {
	s := what
	if len(seqs) > 1 {
		s += "s"
	}
	for i, n := range seqs {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %d", n)
	}
	return s
}
