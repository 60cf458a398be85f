package report

import (
	"io"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/sweep"
)

// Reconfirm is a gate that was measured again and is kept, or that cannot be
// confirmed.
type Reconfirm struct {
	Overlay, Sidecar string
	Point            int
	Curve            sweep.Curve
	Result           calibrate.Reconfirmation
	Wrote            bool
}

type reconfirmDoc struct {
	SchemaVersion     int                      `json:"schema_version"`
	Outcome           string                   `json:"outcome"`
	Simulated         bool                     `json:"simulated"`
	Reasons           []string                 `json:"reasons"`
	ConcurrencyPerGPU int                      `json:"concurrency_per_gpu"`
	Result            calibrate.Reconfirmation `json:"reconfirmation"`
	Runs              []runDoc                 `json:"runs"`
	Fingerprint       sweep.Fingerprint        `json:"fingerprint"`
	Wrote             bool                     `json:"wrote"`
	Sidecar           string                   `json:"sidecar,omitempty"`
}

// outcome is a word for programs.
func (r Reconfirm) outcome() string {
	if r.Result.State == calibrate.ReconfirmKept {
		return "KEPT"
	}
	return "RECALIBRATE"
}

// ReconfirmJSON writes a gate that was measured again.
func ReconfirmJSON(w io.Writer, r Reconfirm) error {
	doc := reconfirmDoc{
		SchemaVersion: schemaVersion, Outcome: r.outcome(), Simulated: r.Curve.Fingerprint.Simulated, Reasons: list(r.Result.Reasons),
		ConcurrencyPerGPU: r.Point, Result: r.Result, Runs: runDocs(r.Curve.Runs), Fingerprint: r.Curve.Fingerprint, Wrote: r.Wrote,
	}
	if r.Wrote {
		doc.Sidecar = r.Sidecar
	}
	return encode(w, doc)
}

// ReconfirmText writes the same for people.
func ReconfirmText(w io.Writer, r Reconfirm) error {
	p := &printer{w: w}
	p.line("%s: %s at %d per GPU", r.outcome(), r.Overlay, r.Point)
	for _, why := range r.Result.Reasons {
		p.line("  %s", why)
	}
	for _, d := range r.Result.Differences {
		p.line("  across %s", d)
	}
	switch {
	case r.Wrote:
		p.line("recorded in %s; the overlay is unchanged", r.Sidecar)
	case r.Result.State == calibrate.ReconfirmKept:
		p.line("add --write to record it in %s; the overlay stays as it is", r.Sidecar)
	}
	return p.err
}
