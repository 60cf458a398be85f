package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// decision is the first line: whether there is a gate to trust, and if not why, in
// one clause.
func decision(c Calibration) string {
	r := c.Proposal
	switch {
	case c.Wrote && c.Diff == "" && c.Made:
		return fmt.Sprintf("%s: made %s, with the gate that %s holds already", r.Outcome, c.Overlay, c.Shipped)
	case c.Wrote && c.Diff == "":
		return fmt.Sprintf("%s: %s already holds this gate", r.Outcome, c.Overlay)
	case c.Wrote:
		return fmt.Sprintf("%s: wrote %s at %d per GPU", r.Outcome, c.Overlay, r.Point.ConcurrencyPerGPU)
	case r.Writable:
		return fmt.Sprintf("%s: the gate at %d per GPU may be written; add --write", r.Outcome, r.Point.ConcurrencyPerGPU)
	}
	s := fmt.Sprintf("%s: no gate", r.Outcome)
	if r.Outcome == calibrate.OutcomeProvisional {
		s += " yet"
	}
	if why, _ := clause(r); why != "" {
		s += ": " + why
	}
	if c.Made {
		return s + "; " + c.Overlay + " was not made"
	}
	return s + "; " + c.Overlay + " is unchanged"
}

// deciding is the reason of the outcome, or what forbids to write in spite of it.
func deciding(r calibrate.Proposal) string {
	permits := r.Outcome == calibrate.OutcomeOK || r.Outcome == calibrate.OutcomeSimulated
	switch n := len(r.Steps); {
	case n > 0 && (r.Writable || !permits):
		return r.Steps[n-1].Why
	case len(r.Reasons) > 0:
		return r.Reasons[0]
	}
	return ""
}

// decider is the gate that decided, nil where none did.
func decider(r calibrate.Proposal) *calibrate.GateResult {
	for i, g := range r.Gates {
		if g.State == calibrate.Unmet && strings.HasPrefix(deciding(r), named(g)) {
			return &r.Gates[i]
		}
	}
	return nil
}

// named is how a reason about a gate begins.
func named(g calibrate.GateResult) string { return g.ID + " " + g.Name }

// clause parts the deciding reason into its first clause and what follows.
func clause(r calibrate.Proposal) (first, rest string) {
	s := strings.TrimPrefix(deciding(r), strings.ToLower(string(r.Outcome))+": ")
	if g := decider(r); g != nil {
		s = named(*g) + ": " + g.Observed
	}
	first, rest, _ = strings.Cut(s, "; ")
	return first, rest
}

// why prints what the first line leaves open: the rest of the reason, the other
// gates that are not met, and what else a reader must know of the decision.
func (p *printer) why(c Calibration) {
	r := c.Proposal
	if c.Wrote {
		p.line("  what it rests on is in %s", c.Sidecar)
	}
	if c.Reconfirm != nil {
		for _, s := range c.Reconfirm.Reasons {
			p.line("  %s", s)
		}
	}
	if _, rest := clause(r); r.Writable {
		p.line("  %s", deciding(r))
	} else if rest != "" {
		p.line("  %s", rest)
	}
	if !c.Explain { // which tells it of every gate
		if g := decider(r); g != nil {
			p.wants(*g)
		}
		p.others(r)
	}
	for _, s := range c.remarks() {
		p.line("  %s", s)
	}
}

// wants prints what an unmet gate demands and the way out.
func (p *printer) wants(g calibrate.GateResult) {
	p.line("    wanted: %s", g.Threshold)
	if g.Remedy != "" {
		p.line("    to do:  %s", g.Remedy)
	}
}

// others prints the unmet gates that did not decide. Without a point, or without
// the runs that confirm one, most only repeat that there is none.
func (p *printer) others(r calibrate.Proposal) {
	d := decider(r)
	var open []string
	for _, g := range r.Gates {
		switch {
		case g.State != calibrate.Unmet || d != nil && g.ID == d.ID:
		case r.Point.ConcurrencyPerGPU <= 0, d == nil && (g.Unjudged() || g.ID == "C8" || g.ID == "C9"):
			open = append(open, g.ID)
		default:
			p.line("  %s: %s", named(g), g.Observed)
			p.wants(g)
		}
	}
	if len(open) > 0 {
		p.line("  not judged before that: %s", strings.Join(open, ", "))
	}
}

// remarks are the reasons that nothing else in the answer says.
func (c Calibration) remarks() []string {
	r := c.Proposal
	said := append([]string{deciding(r), c.Ended}, c.Unchecked...)
	if c.Reconfirm != nil {
		said = append(said, c.Reconfirm.Reasons...)
	}
	starts := []string{unobserved, oneFingerprint, fmt.Sprintf("%d of %s %s INVALID", r.InvalidRuns, plural.Of(len(c.Curve.Runs), "run"), plural.Verb(r.InvalidRuns, "is", "are"))}
	for _, g := range r.Gates {
		starts = append(starts, named(g))
		if g.ID == "C7" && g.State == calibrate.Unmet {
			starts = append(starts, "C7 rests on") // which is what it saw
		}
	}
	var out []string
	for _, s := range r.Reasons {
		if !slices.Contains(said, s) && !slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(s, start) }) {
			out = append(out, s)
		}
	}
	if c.Ended != "" && !(c.pointed() && c.Ended == c.point()) {
		if s := strings.TrimSuffix(c.Ended, "; "+r.Point.Sentence()); !restates(s, r) {
			out = append(out, s)
		}
	}
	return out
}

// How the reason about run gates that nothing showed begins, and what it says of
// the one that holds by itself.
const (
	unobserved     = "not observed: "
	oneFingerprint = "V9 holds because"
)

// restates reports whether the planner's last word is the reason in other words: it
// ends a campaign by the same rules.
func restates(ended string, r calibrate.Proposal) bool {
	why := deciding(r)
	if r.Outcome == calibrate.OutcomeUnstable || r.Point.Reason != "" && strings.Contains(why, r.Point.Reason) && strings.HasSuffix(ended, r.Point.Reason) {
		return true
	}
	attempts, _, ok := strings.Cut(why, " per GPU ")
	return ok && strings.Contains(attempts, " attempt") && strings.HasPrefix(ended, attempts)
}

// unknown prints what a reader might take for known.
func (p *printer) unknown(c Calibration) {
	open := slices.Clone(c.Proposal.NotKnown)
	if len(open) == 0 {
		for _, s := range c.Proposal.Reasons {
			if strings.HasPrefix(s, unobserved) {
				s, _, _ = strings.Cut(s, "; "+oneFingerprint)
				open = append(open, s)
			}
		}
	}
	open = append(open, c.Unchecked...)
	if len(open) == 0 {
		return
	}
	p.line("")
	p.line("not known:")
	for _, s := range open {
		p.line("  %s", s)
	}
}
