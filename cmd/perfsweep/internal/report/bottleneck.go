package report

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/sweep/observe"
)

// bottlenecks prints what holds the levels back: which cause on which levels,
// and the evidence of the one that matters most, at the knee or the top.
func (p *printer) bottlenecks(findings []observe.Finding, knee float64) {
	if len(findings) == 0 {
		return
	}
	var parts []string
	for i := 0; i < len(findings); {
		j := i
		for j+1 < len(findings) && findings[j+1].Bottleneck == findings[i].Bottleneck {
			j++
		}
		where := fmt.Sprintf("at %d", findings[i].ConcurrencyPerGPU)
		if j > i {
			where = fmt.Sprintf("at %d to %d", findings[i].ConcurrencyPerGPU, findings[j].ConcurrencyPerGPU)
		}
		parts = append(parts, causeName(findings[i].Bottleneck)+" "+where)
		i = j + 1
	}
	p.line("held back by (per GPU): %s", strings.Join(parts, "; "))
	f := Decisive(findings, knee)
	p.evidence(f, fmt.Sprintf("at %d", f.ConcurrencyPerGPU))
}

// evidence prints what a finding rests on.
func (p *printer) evidence(f observe.Finding, where string) {
	for _, e := range f.Evidence {
		p.line("  %s: %s", where, e)
	}
	for _, e := range f.Against {
		p.line("  %s, against it: %s", where, e)
	}
	if f.Try != "" {
		p.line("  to try: %s", f.Try)
	}
}

// Decisive is the finding that explains a knee: that of the lowest level at or
// above it that something holds back, else of the highest one.
func Decisive(findings []observe.Finding, knee float64) observe.Finding {
	for _, f := range findings {
		if knee > 0 && float64(f.ConcurrencyPerGPU) >= knee && f.Bottleneck != observe.Headroom {
			return f
		}
	}
	return findings[len(findings)-1]
}

func causeName(b observe.Bottleneck) string {
	switch b {
	case observe.Headroom:
		return "nothing"
	case observe.Unknown:
		return "an unknown cause"
	}
	return "the " + strings.ReplaceAll(strings.TrimPrefix(string(b), "the_"), "_", " ")
}
