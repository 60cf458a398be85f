package report

import (
	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/sweep"
)

// whole prints everything that led to an outcome, in the order in which it was
// decided: each gate with what was seen and wanted, and each question up to the
// one that decided.
func (p *printer) whole(r calibrate.Proposal, runs []sweep.Run) {
	p.line("")
	p.line("the run gates: a run that fails one is INVALID, kept and not used")
	p.eachGate(r.RunGates, func(g calibrate.GateResult) string { return runState(g, runs) })
	p.line("")
	p.line("the gates on the campaign:")
	p.eachGate(r.Gates, campaignState)
	p.line("")
	p.line("what vouches for it from outside:")
	a := r.Anchor
	if a.Strength == "" {
		p.line("  nothing")
	} else {
		p.line("  a %s anchor: %s", a.Strength, a.Label)
	}
	for _, n := range a.Notes {
		p.line("  %s", n)
	}
	p.line("")
	p.line("the decision: the first question that is not answered by yes decides")
	for i, s := range r.Steps {
		if s.Outcome == "" {
			p.line("  %2d. %s: yes", i+1, s.Asks)
			continue
		}
		p.line("  %2d. %s: no, so %s: %s", i+1, s.Asks, s.Outcome, s.Why)
	}
	p.line("  writable: %s", yesNo(r.Writable))
}

func (p *printer) eachGate(gates []calibrate.GateResult, says func(calibrate.GateResult) string) {
	for _, g := range gates {
		state := says(g)
		p.line("  %-3s %s: %s", g.ID, state, g.Name)
		p.line("      seen:   %s", g.Observed)
		p.line("      wanted: %s", g.Threshold)
		if g.Remedy != "" && g.State != calibrate.Met && state != followsV2 {
			p.line("      to do:  %s", g.Remedy)
		}
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
