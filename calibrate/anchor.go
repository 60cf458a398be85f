package calibrate

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// Source names a journal and the state of it that was read.
type Source struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// SourceOf names a journal of a path in the state of its bytes.
func SourceOf(path string, b []byte) Source { return Source{filepath.Base(path), hash(b)} }

// AnchorJournal is a journal from outside the campaign, which the campaign is
// held against: an approved baseline, or the same thing measured on a second
// node or cluster or on a device known to be good.
type AnchorJournal struct {
	Source
	Curve sweep.Curve
}

// Strength says what an anchor is worth.
type Strength string

// A strong anchor is an independent measurement that agrees. A human one is a
// person's word, or the public record: it carries a portable floor only.
const (
	Strong Strength = "strong"
	Human  Strength = "human"
)

// AnchorResult is what C7 rests on.
type AnchorResult struct {
	Strength Strength `json:"strength,omitempty"`
	// Label says for a reader what the anchor is.
	Label string `json:"label,omitempty"`
	// Ratio is the campaign's throughput per GPU over that of a strong anchor or
	// of the public record.
	Ratio float64 `json:"throughput_ratio,omitempty"`
	// TTFTP99Ratio is the same of TTFT p99, of a strong anchor.
	TTFTP99Ratio float64 `json:"ttft_p99_ratio,omitempty"`
	// Warnings tell a TTFT p99 that is far longer than an anchor's. They refuse
	// nothing.
	Warnings []string `json:"warnings,omitempty"`
	// Notes say of every journal that was offered what became of it.
	Notes []string `json:"notes,omitempty"`
	// Vetoes can refuse whatever vouches.
	Vetoes []Veto `json:"vetoes,omitempty"`
	// Refuses: something that was measured speaks against the campaign, which
	// no anchor and no waiver outweighs.
	Refuses bool `json:"refuses,omitempty"`
}

const (
	// anchorAtLeast is how much of an anchor a campaign must reach. The rule has
	// one side: a cluster that is faster than its anchor is not sick, and
	// ±12 % on five runs refuses up to 9 % of healthy campaigns.
	anchorAtLeast = 0.90
	// anchorRenew is the ratio above which an anchor is out of date.
	anchorRenew = 1.12
	// anchorRuns is the fewest gate runs of an anchor at the point.
	anchorRuns = 3
)

// findAnchor looks at everything that was offered. Of several anchors each must
// agree: one that does not is not outvoted.
func (e *evidence) findAnchor() AnchorResult {
	var out AnchorResult
	for _, a := range e.policy.Anchors {
		if a.Curve.Rejudged != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("of %s, %s", printable(a.Name), a.Curve.Rejudged))
		}
		if why := e.comparable(a); why != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("%s is no anchor: %s", printable(a.Name), why))
			continue
		}
		label, doubt := e.place(a)
		runs := anchorAttempts(a.Curve, e.op())
		x := sweep.Median(runs.throughputs())
		r := sweep.Median(e.attempts.throughputs()) / x
		note := fmt.Sprintf("%s: x%.3f of its %s tok/s per GPU", label, r, num(x))
		ttft, late := e.ttftAgainst(printable(a.Name), runs)
		if ttft > 0 {
			note += fmt.Sprintf(", TTFT p99 x%.2f of its %s ms", ttft, num(sweep.Median(runs.p99s())))
		}
		if late != "" {
			out.Warnings = append(out.Warnings, late)
		}
		if r > anchorRenew {
			note += fmt.Sprintf(" (above %.2f: renew the anchor)", anchorRenew)
		}
		out.Notes = append(out.Notes, note)
		if !(r >= anchorAtLeast) {
			out.Refuses = true
		}
		if doubt != "" { // it can speak against the campaign, and not for it
			out.Notes = append(out.Notes, fmt.Sprintf("%s is no anchor: %s", printable(a.Name), doubt))
			continue
		}
		if out.Strength == "" || r < out.Ratio {
			out.Strength, out.Label, out.Ratio, out.TTFTP99Ratio = Strong, label, r, ttft
		}
	}
	if out.Strength == "" {
		e.humanAnchor(&out)
	}
	if out.Strength == "" && e.policy.PublicAnchor {
		e.publicAnchor(&out)
	}
	out.Vetoes = e.vetoes()
	for _, v := range out.Vetoes {
		out.Refuses = out.Refuses || v.Fired
	}
	return out
}

// comparable says why the campaign cannot be held against a journal, "" if it can.
func (e *evidence) comparable(a AnchorJournal) string {
	if why := e.sameThing(a); why != "" {
		return why
	}
	runs := anchorAttempts(a.Curve, e.op())
	x := runs.throughputs()
	if len(x) < anchorRuns {
		return fmt.Sprintf("it has %s at %d per GPU, %d are needed", plural.Of(len(x), "valid gate run"), e.op(), anchorRuns)
	}
	if len(e.attempts.valid) == 0 {
		return "this campaign has no valid gate run to compare"
	}
	if _, _, split := splitGap(x, noise{}); split || tailApart(runs.p99s(), runs.p50s(), split) {
		return "its own gate runs fall apart (C1, C2)"
	}
	if k, ok := runs.kinds(); ok && k.apart() {
		return "its own runs contradict each other (C4: " + k.text() + ")"
	}
	return ""
}

// sameThing reports why a journal measured another thing than this campaign,
// "" if it did not.
func (e *evidence) sameThing(a AnchorJournal) string {
	f, g := e.curve.Fingerprint, a.Curve.Fingerprint
	if f.Simulated != g.Simulated {
		return "a simulation and a measurement say nothing of each other"
	}
	if a.SHA256 == e.policy.Journal.SHA256 || sharesRuns(e.curve, a.Curve) {
		return "it holds runs of this campaign, and no campaign vouches for itself"
	}
	if !f.Simulated {
		for _, k := range anchorLabels() {
			if f.Labels[k] == "" || g.Labels[k] == "" {
				return fmt.Sprintf("%s is not stated in both journals (--label %s=...)", k, k)
			}
		}
	}
	if differs := differences(f.Diff(g)); len(differs) > 0 {
		return "it measured something else (" + strings.Join(differs, "; ") + ")"
	}
	return ""
}

// anchorAttempts are the gate runs of a journal at a point, of whichever
// command: a check measures the same protocol as a confirmation.
func anchorAttempts(c sweep.Curve, n int) attempts {
	if n <= 0 {
		return attempts{}
	}
	a := attemptsAt(c, n, sweep.Confirm)
	if len(a.valid) == 0 {
		return attemptsAt(c, n, sweep.Check)
	}
	return a
}

// elsewherePoint is the point nearest to this campaign's at which an anchor that
// was offered measured enough gate runs of the same thing, 0 where there is
// none: healthy sweeps of one deployment often end a ladder step apart.
func (e *evidence) elsewherePoint() (n int, anchor string) {
	for _, a := range e.policy.Anchors {
		if e.op() <= 0 || e.sameThing(a) != "" || len(anchorAttempts(a.Curve, e.op()).valid) >= anchorRuns {
			continue
		}
		for _, r := range a.Curve.Runs {
			q := r.Step.ConcurrencyPerGPU
			far := func(n int) float64 { return math.Abs(exact.Log(float64(n) / float64(e.op()))) }
			if r.Step.Kind == loadgen.Gate && q != n && (n == 0 || far(q) < far(n)) && len(anchorAttempts(a.Curve, q).valid) >= anchorRuns {
				n, anchor = q, printable(a.Name)
			}
		}
	}
	return n, anchor
}

// sharesRuns reports whether two journals hold one and the same run, whatever its
// copy claims of when and where it was made.
func sharesRuns(a, b sweep.Curve) bool {
	type id struct {
		started int64
		rate    float64
	}
	seen, measured := map[id]bool{}, sweep.NewMeasured(a.Runs...)
	for _, r := range a.Runs {
		seen[id{r.Started.UnixNano(), r.Result.WholeRun.OutputTokPerSec}] = true
	}
	return slices.ContainsFunc(b.Runs, func(r sweep.Run) bool {
		_, copied := measured.Copied(r)
		return copied || seen[id{r.Started.UnixNano(), r.Result.WholeRun.OutputTokPerSec}]
	})
}

// humanAnchor looks for a person's word for this very journal.
func (e *evidence) humanAnchor(out *AnchorResult) {
	src := e.policy.Journal
	for _, a := range e.policy.Approvals {
		void := func(why string) {
			out.Notes = append(out.Notes, fmt.Sprintf("the approval by %s on %s is void: %s", printable(a.By), printable(a.Approved), why))
		}
		switch {
		case src.SHA256 != "" && a.JournalSHA256 == src.SHA256 && a.Simulated == e.curve.Fingerprint.Simulated:
			if odd := oddApproval(a.Approved, e.curve, e.policy.Now); odd != "" {
				void(odd)
			} else if out.Strength == "" {
				out.Strength, out.Label = Human, "approved by "+a.text()
			}
		case src.Name != "" && a.Journal == src.Name:
			void(printable(src.Name) + " has changed since")
		}
	}
}

// c7 asks for a witness from outside: an environment that is slow throughout
// looks perfectly steady from within.
func (e *evidence) c7() GateResult {
	g := GateResult{ID: "C7", Name: "external anchor", State: Unmet,
		Threshold: fmt.Sprintf("%.2f or more of an approved baseline, a reference device or a second node; or a human's approval, for the portable profile", anchorAtLeast),
		Remedy: "measure the same on another node or cluster and give that journal with --anchor; or compare the numbers with an independent measurement, " +
			"and approve this journal: calibrate --overlay FILE --approve JOURNAL --by NAME --why TEXT"}
	a := e.anchor
	if n, anchor := e.elsewherePoint(); n > 0 && a.Strength != Strong {
		g.Remedy = fmt.Sprintf("%s has its gate runs at %d per GPU: prove that point with --concurrency-per-gpu %d, into a new --journal; or %s", anchor, n, n, g.Remedy)
	}
	switch {
	case slices.ContainsFunc(a.Vetoes, func(v Veto) bool { return v.Fired }):
		g.Remedy = "physics or a reference speaks against the whole environment: find the cause before anything is promised from it"
	case a.Refuses:
		g.Remedy = "the campaign is slower than its anchor throughout: find out what differs before anything is promised from it"
	case slices.ContainsFunc(a.Vetoes, func(v Veto) bool { return v.lost }):
		g.Remedy = "the preflight of every campaign measures the time of a token with one request in flight, and its record is not in this journal, or a proxy on the way hands out whole answers: " +
			"measure the server itself, into a new journal"
	case a.Strength == Strong:
		g.State = Met
	case a.Strength == Human && e.policy.Profile != Portable:
		g.Remedy = "a human's word and the public record carry the portable profile only: give a strong anchor (--anchor), or use --floor-profile portable"
	case a.Strength == Human:
		g.State = Met
	case e.curve.Fingerprint.Simulated && e.policy.AllowSimulated:
		g.State, g.Remedy = Waived, ""
	}
	seen := a.Notes
	if a.Strength != Strong {
		label := "no anchor"
		if a.Strength != "" {
			label = fmt.Sprintf("%s anchor, %s", a.Strength, a.Label)
		}
		seen = append([]string{label}, seen...)
	}
	for _, v := range a.Vetoes {
		seen = append(seen, v.text())
	}
	g.Observed = strings.Join(seen, "; ")
	return result(g)
}

// slowerThanAnchor is the row of a campaign that a measurement from outside
// contradicts.
func (j *judgement) slowerThanAnchor() string {
	if !j.anchor.Refuses {
		return ""
	}
	return j.gates[slices.IndexFunc(j.gates, func(g GateResult) bool { return g.ID == "C7" })].text()
}
