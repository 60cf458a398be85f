package calibrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// Approval is a person's word for a journal. The journal itself stays the
// evidence: the numbers here are for the reviewer of the file, and only the
// hash decides whether the word is about the journal at hand.
type Approval struct {
	JournalSHA256     string  `json:"journal_sha256"`
	Journal           string  `json:"journal"`
	By                string  `json:"by"`
	Why               string  `json:"why"`
	Approved          string  `json:"approved"` // a date
	Simulated         bool    `json:"simulated,omitempty"`
	Target            string  `json:"target"`
	Model             string  `json:"model"`
	GPUs              int     `json:"gpus"`
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu"`
	TokPerSecPerGPU   float64 `json:"output_tok_per_s_per_gpu"`
	TTFTP99MS         float64 `json:"ttft_p99_ms"`
	ValidAttempts     int     `json:"valid_attempts"`
	FingerprintSHA256 string  `json:"fingerprint_sha256"`
}

// maxWord bounds a name and a reason: they go into an overlay's comment.
const maxWord = 300

// NotApprovableError says why a journal cannot be approved: it is a refusal,
// not bad input.
type NotApprovableError struct {
	Outcome Outcome
	Why     string
}

func (e *NotApprovableError) Error() string {
	return fmt.Sprintf("not approved (%s): %s", e.Outcome, e.Why)
}

// CheckWord reports why a name or a reason cannot stand under an approval:
// what is meant to be read by others must be there, and fit on a line.
func CheckWord(what, s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return policyErrorf("%s is empty: an approval needs a name and a reason", what)
	case len(s) > maxWord:
		return policyErrorf("%s is longer than %d bytes; say it shorter", what, maxWord)
	case strings.Contains(s, "perfsweep:"):
		return policyErrorf("%s contains the words that mark a managed comment; leave them out", what)
	case strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }):
		return policyErrorf("%s %q: use one line of printable text", what, s)
	}
	return nil
}

// Approve makes the entry by which by vouches for a journal. The campaign must
// be complete: every gate met but those that an approval is there to supply
// (C7) and that a flag of the calibration decides (C11). Errors are
// *PolicyError, or *NotApprovableError where the data stand in the way.
func Approve(journal Source, c sweep.Curve, current recipes.Gate, p Policy, by, why, date string) (Approval, error) {
	p.Journal, p.Approvals = journal, nil
	return approve(journal, c, Propose(c, current, p), p, by, why, date)
}

func approve(journal Source, c sweep.Curve, out Proposal, p Policy, by, why, date string) (Approval, error) {
	if err := errors.Join(CheckWord("the name (--by)", by), CheckWord("the reason (--why)", why)); err != nil {
		return Approval{}, err
	}
	if out.Err != nil {
		return Approval{}, out.Err
	}
	if why := out.notApprovable(c, p); why != "" {
		return Approval{}, &NotApprovableError{out.Outcome, why}
	}
	return Approval{
		JournalSHA256: journal.SHA256, Journal: journal.Name, By: strings.TrimSpace(by), Why: strings.TrimSpace(why), Approved: date,
		Simulated: c.Fingerprint.Simulated, Target: c.Fingerprint.Target, Model: modelOf(c), GPUs: c.Fingerprint.GPUs,
		ConcurrencyPerGPU: out.Point.ConcurrencyPerGPU, TokPerSecPerGPU: out.TokPerSecPerGPU, TTFTP99MS: out.TTFTP99MS,
		ValidAttempts: out.ValidAttempts, FingerprintSHA256: out.FingerprintHash,
	}, nil
}

func (p Proposal) notApprovable(c sweep.Curve, policy Policy) string {
	for _, g := range p.Gates {
		open := g.ID == "C11" || g.ID == "C7" && !p.Anchor.Refuses
		if g.State == Unmet && !open {
			return g.text()
		}
	}
	f := c.Fingerprint
	switch {
	case p.Gate.Empty() || p.Outcome == OutcomeNotSaturated:
		return p.Reasons[0]
	case crossCheck(f) != "":
		return crossCheck(f)
	case f.Simulated && !policy.AllowSimulated:
		return "a simulated journal is approved with --allow-simulated only, and vouches for simulations only"
	}
	return lookOnly(f)
}

// text is the entry as the comment of an overlay quotes it. A rate in it must
// not be taken for the measurement that the comment records.
func (a Approval) text() string {
	return fmt.Sprintf("%s on %s: %s", a.By, a.Approved, strings.ReplaceAll(a.Why, "/s", " a second"))
}

// approvalsFile is the file beside an overlay.
type approvalsFile struct {
	SchemaVersion int        `json:"schema_version"`
	Approvals     []Approval `json:"approvals"`
}

const approvalsVersion = 1

// ApprovalsType is the type of a file of approvals, for whoever publishes its schema.
func ApprovalsType() reflect.Type { return reflect.TypeFor[approvalsFile]() }

// ParseApprovals reads a file of approvals. name is for messages.
func ParseApprovals(name string, b []byte) ([]Approval, error) {
	var f approvalsFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: not a file of approvals: %w", name, loadgen.PlainJSON(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: there is more after the approvals", name)
	}
	if f.SchemaVersion != approvalsVersion {
		return nil, fmt.Errorf("%s: schema version %d, this perfsweep reads %d", name, f.SchemaVersion, approvalsVersion)
	}
	for i, a := range f.Approvals {
		err := errors.Join(CheckWord("by", a.By), CheckWord("why", a.Why), CheckWord("approved", a.Approved))
		if err == nil && !isSHA256(a.JournalSHA256) {
			err = fmt.Errorf("journal_sha256 %.80q is no SHA-256", a.JournalSHA256)
		}
		if _, odd := time.Parse(time.DateOnly, a.Approved); err == nil && odd != nil {
			err = fmt.Errorf("approved %.80q is no date, such as 2026-09-30", a.Approved)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: approval %d: %w", name, i+1, err)
		}
	}
	return f.Approvals, nil
}

func isSHA256(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// AddApproval returns the file with one more entry, as it is reviewed: indented,
// an entry a block. The same word for the same journal is not added twice.
func AddApproval(all []Approval, a Approval) ([]byte, error) {
	said := func(o Approval) bool {
		return o.JournalSHA256 == a.JournalSHA256 && o.By == a.By && o.Why == a.Why
	}
	if !slices.ContainsFunc(all, said) {
		all = append(slices.Clone(all), a)
	}
	b, err := json.MarshalIndent(approvalsFile{approvalsVersion, all}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing approvals: %w", err)
	}
	return append(b, '\n'), nil
}
