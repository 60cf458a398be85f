package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// Page is everything that a report shows: one journal, or two and what moved
// between them. B and Comparison are nil with one.
type Page struct {
	A          Side
	B          *Side
	Comparison *Comparison
	Version    string // of this tool
}

// Side is one journal.
type Side struct {
	Name string
	// Letter is A or B, empty where there is only one.
	Letter  string
	Curve   Curve
	Started time.Time // zero where it is not known
	// LimitTTFTMS is the TTFT p99 above which a level is not healthy; 0 = unknown.
	LimitTTFTMS float64
	// Gates is nil where nothing was to be calibrated and no run was recorded.
	Gates *Gates
	// Stalls are by run, the events that the servers and the streams told.
	Stalls map[int][]observe.Event
	// Notes are what its reader had to say.
	Notes []string
}

// Gates are what was demanded of runs and campaign, and the gate that came of
// it. Campaign and what follows are empty for a sweep, which writes nothing.
type Gates struct {
	Run      []calibrate.GateResult
	Campaign []calibrate.GateResult
	Outcome  calibrate.Outcome
	Reasons  []string
	// Source says where the judgement of the campaign comes from.
	Source string
	// The gate per GPU, as written and as an evaluator acts; 0 = none.
	ConcurrencyPerGPU           int
	FloorPerGPU, ActsFloor      float64
	CeilingTTFTP99MS, ActsAbove float64
}

// GatesOf is the judgement of a journal.
func GatesOf(p calibrate.Proposal) *Gates {
	g := &Gates{Run: p.RunGates, Campaign: p.Gates, Outcome: p.Outcome, Reasons: p.Reasons,
		Source: "judged now from the journal alone: what vouches for it from outside is not in it (give --overlay to see the gate as it was written)"}
	if !p.Gate.Empty() {
		g.ConcurrencyPerGPU = p.Gate.ConcurrencyPerGPU
		g.ActsFloor, g.ActsAbove = p.EffectiveFloorPerGPU, p.EffectiveCeilingTTFTP99MS
		g.FloorPerGPU, g.CeilingTTFTP99MS = g.ActsFloor/(1-recipes.Tolerance), p.Gate.CeilingTTFTP99MS
	}
	return g
}

// GatesWritten is the judgement as it was when the overlay was written.
func GatesWritten(p calibrate.Provenance, run []calibrate.GateResult) *Gates {
	return &Gates{
		Run: run, Campaign: p.Gates, Outcome: p.Outcome, Reasons: p.NotKnown,
		Source:            "as it was when " + p.Overlay + " was written, " + p.Written,
		ConcurrencyPerGPU: p.Gate.ConcurrencyPerGPU,
		FloorPerGPU:       p.Effective.FloorPerGPU / (1 - p.Tolerance), ActsFloor: p.Effective.FloorPerGPU,
		CeilingTTFTP99MS: p.Gate.CeilingTTFTP99MS, ActsAbove: p.Effective.CeilingTTFTP99MS,
	}
}

// mood is how an answer is marked beside its words.
type mood string

const (
	good mood = "good"
	warn mood = "warn"
	bad  mood = "bad"
)

// verdict is the page's first sentence, and its mood.
func (p Page) verdict() (string, mood) {
	if p.Comparison != nil {
		c := *p.Comparison
		return "output tok/s per GPU: " + c.sentence(c.Report.Throughput, c.Options.Throughput), verdictMood(c.Report.Throughput.Verdict)
	}
	return p.A.verdict()
}

func (s Side) verdict() (string, mood) {
	if g := s.Gates; g != nil && g.Outcome != "" {
		switch {
		case g.ConcurrencyPerGPU > 0:
			return fmt.Sprintf("%s: %d per GPU, %s", g.Outcome, g.ConcurrencyPerGPU, strings.Join(g.limits(), " and ")), outcomeMood(g.Outcome)
		case len(g.Reasons) > 0:
			return fmt.Sprintf("%s: %s", g.Outcome, g.Reasons[0]), outcomeMood(g.Outcome)
		}
	}
	return answer(s.Curve), statusMood(s.Curve.Fit.Status)
}

// limits are the two halves of the gate in words.
func (g Gates) limits() []string {
	var out []string
	if g.FloorPerGPU > 0 {
		out = append(out, fmt.Sprintf("at least %s tok/s per GPU (acts as %s)", number(g.FloorPerGPU), number(g.ActsFloor)))
	}
	if g.CeilingTTFTP99MS > 0 {
		out = append(out, fmt.Sprintf("TTFT p99 at most %s ms (acts as %s)", number(g.CeilingTTFTP99MS), number(g.ActsAbove)))
	}
	return out
}

func outcomeMood(o calibrate.Outcome) mood {
	switch o {
	case calibrate.OutcomeOK, calibrate.OutcomeSimulated:
		return good
	case calibrate.OutcomeUnstable, calibrate.OutcomeDegraded, calibrate.OutcomeInvalid:
		return bad
	}
	return warn
}

func statusMood(s knee.Status) mood {
	if s == knee.Knee || s == knee.LatencyLimited {
		return good
	}
	return warn
}

// warnings are what a reader must know before the numbers; why a gate was
// judged as it was stands with the gates.
func (s Side) warnings() []string {
	var out []string
	if f := s.Curve.Fingerprint; f != nil && f.Simulated {
		out = append(out, "SIMULATED: nothing here was measured on a GPU.")
	}
	if why := s.refusal(); why != "" {
		out = append(out, why)
	}
	if f := s.Curve.Fingerprint; f != nil && f.Effort == sweep.Quick {
		out = append(out, firstLook)
	}
	if s.Curve.Reason != "" {
		out = append(out, s.Curve.Reason)
	}
	if n := invalidCount(s.Curve.All); n > 0 {
		out = append(out, fmt.Sprintf("%d of %s %s kept and marked, and %s not in the curve",
			n, plural.Of(len(s.Curve.All), "run"), plural.Verb(n, "was INVALID: it is", "were INVALID: they are"), plural.Verb(n, "is", "are")))
	}
	out = append(out, s.Curve.Fit.Warnings...)
	if s.Curve.Preflight != nil {
		out = append(out, s.Curve.Preflight.Warnings...)
	}
	return append(out, s.Notes...)
}

// firstLook is what quick effort means.
const firstLook = "measured at quick effort, a first look: short runs and short answers, from which a gate is written for a simulated target only"

// refusal is why a gate that is shown was not to be written, "" where it was or
// where the verdict says it.
func (s Side) refusal() string {
	g := s.Gates
	if g == nil || g.ConcurrencyPerGPU == 0 || len(g.Reasons) == 0 || outcomeMood(g.Outcome) == good {
		return ""
	}
	return fmt.Sprintf("%s, so not to be written: %s", g.Outcome, g.Reasons[0])
}

// remarks are the reasons of the judgement that nothing has said before.
func (s Side) remarks() []string {
	g := s.Gates
	if g == nil || g.Outcome == "" || len(g.Reasons) == 0 {
		return nil
	}
	if g.ConcurrencyPerGPU == 0 || s.refusal() != "" {
		return g.Reasons[1:]
	}
	return g.Reasons
}

func invalidCount(all []sweep.Run) int {
	n := 0
	for _, r := range all {
		if !r.Valid() {
			n++
		}
	}
	return n
}

// sides are the journals in their order.
func (p Page) sides() []Side {
	if p.B == nil {
		return []Side{p.A}
	}
	return []Side{p.A, *p.B}
}

// of names something of a side, where there are two of them.
func (s Side) of(what string) string {
	if s.Letter == "" {
		return what
	}
	return s.Letter + ": " + what
}

// gpus is what totals are divided by to be per GPU.
func (s Side) gpus() float64 {
	if f := s.Curve.Fingerprint; f != nil && f.GPUs > 0 {
		return float64(f.GPUs)
	}
	return 1
}
