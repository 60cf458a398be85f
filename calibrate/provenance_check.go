package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// ProvenanceState says how an overlay and a check relate to the sidecar.
type ProvenanceState string

// The states. Only stale, unproved and interrupted keep a check from a verdict.
const (
	ProvenanceMatches ProvenanceState = "matches"
	// ProvenanceEdited: the gate is no longer the one that was calibrated.
	ProvenanceEdited ProvenanceState = "edited"
	// ProvenanceMissing: there is no sidecar.
	ProvenanceMissing ProvenanceState = "missing"
	// ProvenanceStale: the check measured something else.
	ProvenanceStale ProvenanceState = "stale"
	// ProvenanceUnproved: precision or GPUs per worker are stated on one side only.
	ProvenanceUnproved ProvenanceState = "unproved"
	// ProvenanceInterrupted: a write ended between sidecar and overlay.
	ProvenanceInterrupted ProvenanceState = "interrupted"
)

// ProvenanceResult is what a sidecar says of a check.
type ProvenanceResult struct {
	State   ProvenanceState `json:"state"`
	Sidecar string          `json:"sidecar"`
	Says    []string        `json:"says,omitempty"`
}

// OverlayState is an overlay as it is checked.
type OverlayState struct {
	Bytes []byte
	Gate  recipes.Gate
}

// JudgeProvenance holds an overlay and a curve against the sidecar; nil says
// that there is none. name is the sidecar's, for messages.
func JudgeProvenance(name string, p *Provenance, o OverlayState, c sweep.Curve) ProvenanceResult {
	out := ProvenanceResult{State: ProvenanceMissing, Sidecar: name}
	if p == nil {
		out.Says = []string{fmt.Sprintf("no sidecar %s: whether this is what the gate was calibrated on is not known", name)}
		return out
	}
	edited := p.Edits(o.Gate)
	if len(edited) > 0 && hash(o.Bytes) == p.ReplacedOverlaySHA256 {
		out.State = ProvenanceInterrupted
		out.Says = []string{fmt.Sprintf("%s belongs to a gate that was never written, because calibrate --write was interrupted before it replaced the overlay (%s): run it again",
			name, strings.Join(edited, "; "))}
		return out
	}
	out.State = ProvenanceMatches
	if len(edited) > 0 {
		out.State = ProvenanceEdited
		out.Says = []string{fmt.Sprintf("the gate was edited after %s was written (%s): nothing that was measured supports it", name, strings.Join(edited, "; "))}
	}
	diff, open := p.differences(c.Fingerprint)
	if len(diff) > 0 {
		out.State = ProvenanceStale
		out.Says = append(out.Says, "stale, re-baseline: the gate was calibrated on something else ("+strings.Join(diff, "; ")+"); no loss of speed can be told from that: calibrate again")
		return out
	}
	if v, g := p.Validity, c.Fingerprint.GPUs; g < v.MinGPUs || g > v.MaxGPUs {
		out.Says = append(out.Says, fmt.Sprintf("measured on %s, the floor was shown to hold for %d to %d", plural.Of(g, "GPU"), v.MinGPUs, v.MaxGPUs))
	}
	var key []string
	for _, l := range open {
		if slices.Contains(keyLabels(), l.name) {
			key = append(key, l.text())
		}
	}
	if len(key) > 0 {
		out.State = ProvenanceUnproved
		out.Says = append(out.Says, "not known to be what the gate was calibrated on ("+strings.Join(key, "; ")+"): state it with --label")
	} else if len(open) > 0 {
		var all []string
		for _, l := range open {
			all = append(all, l.text())
		}
		out.Says = append(out.Says, "whether these changed since the calibration is not known: "+strings.Join(all, "; "))
	}
	return out
}

// edit is a value of the gate that is no longer the one that was written.
type edit struct{ name, was, is string }

func (e edit) text() string {
	return fmt.Sprintf("%s: calibrated %s, now %s", e.name, orNone(printable(e.was)), orNone(printable(e.is)))
}

// edited lists where a gate is not the one that was written.
func (p Provenance) edited(g recipes.Gate) []edit {
	if GateHash(g) == p.GateSHA256 {
		return nil
	}
	var out []edit
	w := p.Gate
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return num(x)
	}
	exact := func(name string, was, is float64) {
		e := edit{name, number(was), number(is)}
		if was != is && e.was == e.is {
			e.is += ", another after its fourth digit"
		}
		if was != is {
			out = append(out, e)
		}
	}
	text := func(name, was, is string) {
		if was != is {
			out = append(out, edit{name, was, is})
		}
	}
	text(recipes.NameModel, w.Model, g.Model)
	exact(recipes.NameConcurrency, float64(w.ConcurrencyPerGPU), float64(g.ConcurrencyPerGPU))
	text(recipes.NameRouting, w.RoutingMode, g.RoutingMode)
	exact(recipes.NameFloorPerGPU, w.FloorPerGPU, g.FloorPerGPU)
	exact(recipes.NameFloor, w.Floor, g.Floor)
	exact(recipes.NameCeiling, w.CeilingTTFTP99MS, g.CeilingTTFTP99MS)
	return out
}

// Edits says where a gate is not the one that was written.
func (p Provenance) Edits(g recipes.Gate) []string {
	var out []string
	for _, e := range p.edited(g) {
		out = append(out, e.text())
	}
	return out
}

// keyLabels are the labels without which two deployments are not one thing: at
// another precision or tensor parallel size the same GPUs read other numbers.
func keyLabels() []string { return []string{"precision", "gpus_per_worker"} }

// oneSided is a label that the sidecar or the check states, and the other does not.
type oneSided struct{ name, calibrated, now string }

func (l oneSided) text() string {
	return fmt.Sprintf("%s: calibrated %s, now %s", printable(l.name), orNotStated(printable(l.calibrated)), orNotStated(printable(l.now)))
}

func orNotStated(s string) string {
	if s == "" {
		return "not stated"
	}
	return s
}

// differences compares the fingerprint of a check with the calibration's, and with
// what the gate was confirmed on later, the newest first: the first that it does
// not contradict, else the newest.
func (p Provenance) differences(now sweep.Fingerprint) (diff []string, open []oneSided) {
	for i := len(p.Reconfirmed) - 1; i >= 0; i-- {
		d, o := p.differsFrom(p.Reconfirmed[i].Fingerprint, now)
		if len(d) == 0 {
			return d, o
		}
		if i == len(p.Reconfirmed)-1 {
			diff, open = d, o
		}
	}
	d, o := p.differsFrom(p.Fingerprint, now)
	if len(d) == 0 || len(p.Reconfirmed) == 0 {
		return d, o
	}
	return diff, open
}

// differsFrom is what differs from one measurement of the gate. A
// portable floor per GPU is made for other clusters and node sizes, so that
// neither is a difference there. open lists what one of them does not state.
func (p Provenance) differsFrom(was, now sweep.Fingerprint) (diff []string, open []oneSided) {
	was.Labels, now.Labels = withoutPlaces(was.Labels), withoutPlaces(now.Labels)
	if p.FloorProfile == Portable && p.FloorForm == PerGPU {
		was.GPUs = now.GPUs
		delete(was.Labels, "workers")
	}
	diff = stale(was, now)
	if math.Abs(p.Tolerance-recipes.Tolerance) > 1e-9 {
		diff = append(diff, fmt.Sprintf("the evaluator's tolerance: %s, now %s", num(p.Tolerance), num(recipes.Tolerance)))
	}
	names := map[string]bool{}
	for _, l := range []map[string]string{was.Labels, now.Labels} {
		for k := range l {
			names[k] = true
		}
	}
	for k := range names {
		if l := (oneSided{k, was.Labels[k], now.Labels[k]}); (l.calibrated == "") != (l.now == "") && k != "workers" {
			open = append(open, l)
		}
	}
	slices.SortFunc(open, func(a, b oneSided) int { return strings.Compare(a.name, b.name) })
	return diff, open
}

// withoutPlaces leaves out the labels that say where something runs.
func withoutPlaces(labels map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range labels {
		if !slices.Contains([]string{"node", "cluster", "hostname", "zone", "region"}, k) {
			out[k] = v
		}
	}
	return out
}

// Sidecar is the provenance of an overlay as a check finds it; nil is none.
type Sidecar struct {
	Name       string // its file, for messages
	Provenance *Provenance
	Overlay    OverlayState
	// Accelerator is the overlay's criterion, "" where it has none.
	Accelerator string
	// Baseline is the journal that is given as the baseline, zero where none is.
	Baseline Source
	// Now is when the check is judged; zero judges no date by it.
	Now time.Time
}

// Check is Check of an overlay with this sidecar. Where the sidecar matches, the
// noise that it keeps scales C1, unless a baseline does, and a gate that is what
// AIPerf reads is compared as this tool reads it; a baseline that is not the
// sidecar's journal is held against its runs.
func (s Sidecar) Check(g recipes.Gate, c sweep.Curve, gpusPerNode int, base *sweep.Curve) CheckResult {
	var kept noise
	if p := s.Provenance; p != nil && JudgeProvenance(s.Name, p, s.Overlay, c).State == ProvenanceMatches {
		kept = noise{p.Knee.NoiseSD, p.Knee.NoiseDF}
	}
	r := s.withBaseline(check(g, c, gpusPerNode, base, kept, s.reads(c), s.Now).WithSidecar(s.Name, s.Provenance, s.Overlay, c), c, base)
	if p := s.Provenance; p != nil {
		if why := p.olderThan(c); why != "" {
			r = r.inconclusive(why)
		}
	}
	if why := OtherAccelerator(s.Accelerator, c.Fingerprint); why != "" {
		r = r.inconclusive(why)
	}
	if note := ageNote(c, s.Now); note != "" && !s.Now.IsZero() {
		r.Reasons = append(slices.Clone(r.Reasons), note)
	}
	return s.counting(r, c, base)
}

// WithSidecar adds what an overlay's sidecar says of a check of it; nil is none,
// and name is its file. Its gate runs stand for those of a baseline journal where
// there is none that serves: the drift then is told against them. What was
// measured on something else has no drift.
func (r CheckResult) WithSidecar(name string, p *Provenance, o OverlayState, c sweep.Curve) CheckResult {
	known := JudgeProvenance(name, p, o, c)
	r = r.With(known)
	if p == nil || r.Drift != nil || known.State != ProvenanceMatches && known.State != ProvenanceEdited {
		return r
	}
	n := r.Gate.ConcurrencyPerGPU
	if r.Drift = p.drift(name, c, attemptsAt(c, n, sweep.Check), n); r.Drift != nil {
		r.Reasons = append(slices.Clone(r.Reasons), r.Drift.Reason)
	}
	return r
}

// inconclusive puts reasons for no verdict before what else is told.
func (r CheckResult) inconclusive(why ...string) CheckResult {
	if r.Verdict == Inconclusive {
		why = append(why, r.Reasons...)
	}
	r.Verdict, r.Reasons = Inconclusive, why
	r.Effective.Pass, r.Effective.Reasons = false, []string{}
	return r
}

// With adds what the sidecar says. What was measured on something else, or for
// a gate that was never written, is inconclusive whatever it reads: it may not
// be called a regression, and is no pass.
func (r CheckResult) With(p ProvenanceResult) CheckResult {
	r.Provenance = p
	switch p.State {
	case ProvenanceStale, ProvenanceUnproved, ProvenanceInterrupted:
		r = r.inconclusive(slices.Clone(p.Says)...)
	default:
		r.Reasons = append(slices.Clone(r.Reasons), p.Says...)
	}
	return r
}
