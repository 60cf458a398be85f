package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// Verification is what became of a bundle that was computed again.
type Verification struct {
	Bundle      string
	Maker, Here bundle.Maker
	Signature   bundle.SignatureState
	SignedBy    string
	Differences []bundle.Difference
	// Values is how many were compared, Runs how many were judged again.
	Values, Runs int
	Fingerprint  sweep.Fingerprint
	Proposal     calibrate.Proposal
	// Unread is why it could not be read; there is nothing else then.
	Unread error
}

// OK reports whether nothing differs and nothing is wrong with the signature.
func (v Verification) OK() bool {
	return v.Unread == nil && len(v.Differences) == 0 && v.Signature.Good()
}

// maxShown bounds what a reader is shown; -o json has every difference.
const maxShown = 25

// Verified prints what verify found.
func Verified(w io.Writer, format string, v Verification) error {
	switch format {
	case "json":
		return verifiedJSON(w, v)
	case "csv":
		rows := [][]string{{"part", "field", "recorded", "recomputed"}}
		for _, d := range v.Differences {
			rows = append(rows, []string{d.Part, d.Field, d.Recorded, d.Computed})
		}
		return csv.NewWriter(w).WriteAll(rows)
	}
	p := &printer{w: w}
	p.verified(v)
	return p.err
}

func (p *printer) verified(v Verification) {
	switch {
	case v.Unread != nil:
		p.line("UNREADABLE: %s: %s", v.Bundle, v.unread())
		return
	case len(v.Differences) > 0:
		p.line("DIFFERS: %s of %s", plural.Of(len(v.Differences), "value"), v.Bundle)
	case !v.Signature.Good():
		p.line("NOT VERIFIED: the signature of %s is %s", v.Bundle, v.Signature)
	default:
		p.line("VERIFIED: %s of %s follow from its %s to the last bit", plural.Of(v.Values, "value"), v.Bundle, plural.Of(v.Runs, "run"))
	}
	p.line("  signature: %s", signatureLine(v))
	p.line("  made by perfsweep %s on %s, verified by %s on %s", v.Maker.ToolVersion, v.Maker.Platform, v.Here.ToolVersion, v.Here.Platform)
	for i, d := range v.Differences {
		if i == maxShown {
			p.line("  and %d more; -o json lists all", len(v.Differences)-i)
			break
		}
		p.line("  %s: %s: recorded %s, recomputed %s", d.Part, d.Field, quoted(d.Recorded), quoted(d.Computed))
	}
	if len(v.Differences) > 0 && v.Maker.ToolVersion != v.Here.ToolVersion {
		p.line("  another version may judge by other rules: verify with perfsweep %s before this is held against the bundle", v.Maker.ToolVersion)
	}
	if r := v.Proposal; v.Runs > 0 && len(v.Differences) == 0 {
		p.line("  %s on %s, model %s: %s", v.Fingerprint.Target, plural.Of(v.Fingerprint.GPUs, "GPU"), v.Fingerprint.Model, r.Outcome)
		p.line("  %s", answer(Curve{Fit: r.Fit, Point: r.Point}))
		if r.Limits.Runs > 0 {
			p.line("  floor %s tok/s per GPU (%s), ceiling TTFT p99 %s ms", number(r.Gate.FloorPerGPU+r.Gate.Floor), r.Profile, number(r.CeilingMS))
		}
	}
}

func signatureLine(v Verification) string {
	if v.SignedBy == "" {
		return string(v.Signature)
	}
	return fmt.Sprintf("%s (key SHA-256 %s)", v.Signature, v.SignedBy)
}

// quoted bounds a value that may be a whole text.
func quoted(s string) string {
	const most = 160
	if s == "" {
		return "nothing"
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

type verifyDoc struct {
	SchemaVersion     int                    `json:"schema_version"`
	Bundle            string                 `json:"bundle"`
	Verdict           string                 `json:"verdict"` // verified, differs, signature, unreadable
	Error             string                 `json:"error,omitempty"`
	Differences       []bundle.Difference    `json:"differences"`
	Values            int                    `json:"values_compared"`
	Runs              int                    `json:"runs"`
	Signature         bundle.SignatureState  `json:"signature"`
	SignedBy          string                 `json:"signed_by_key_sha256,omitempty"`
	MadeBy            bundle.Maker           `json:"made_by"`
	VerifiedBy        bundle.Maker           `json:"verified_by"`
	Fingerprint       sweep.Fingerprint      `json:"fingerprint"`
	Outcome           calibrate.Outcome      `json:"outcome,omitempty"`
	Status            string                 `json:"status,omitempty"`
	Knee              float64                `json:"knee,omitempty"`
	KneeLow           float64                `json:"knee_low,omitempty"`
	KneeHigh          float64                `json:"knee_high,omitempty"`
	ConcurrencyPerGPU int                    `json:"concurrency_per_gpu,omitempty"`
	Floor             float64                `json:"floor,omitempty"`
	FloorForm         calibrate.Form         `json:"floor_form,omitempty"`
	FloorProfile      calibrate.Profile      `json:"floor_profile,omitempty"`
	CeilingMS         float64                `json:"ceiling_ms,omitempty"`
	Gates             []calibrate.GateResult `json:"gates,omitempty"`
}

func verifiedJSON(w io.Writer, v Verification) error { return encode(w, v.doc()) }

func (v Verification) doc() verifyDoc {
	if v.Differences == nil {
		v.Differences = []bundle.Difference{}
	}
	r := v.Proposal
	return verifyDoc{
		schemaVersion, v.Bundle, v.verdict(), v.unread(), v.Differences, v.Values, v.Runs, v.Signature, v.SignedBy, v.Maker, v.Here, v.Fingerprint,
		r.Outcome, string(r.Fit.Status), r.Fit.Knee, r.Fit.KneeLow, r.Fit.KneeHigh, r.Point.ConcurrencyPerGPU,
		r.Gate.FloorPerGPU + r.Gate.Floor, r.Form, r.Profile, r.CeilingMS, r.Gates,
	}
}
