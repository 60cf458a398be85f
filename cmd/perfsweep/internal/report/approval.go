package report

import (
	"io"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// Approval is a person's word for a journal and where it was written.
type Approval struct {
	Entry                  calibrate.Approval
	Journal, Overlay, File string
}

type approvalDoc struct {
	SchemaVersion int                `json:"schema_version"`
	Approval      calibrate.Approval `json:"approval"`
	File          string             `json:"file"`
}

// ApprovalText says what was approved, and what to do with it.
func ApprovalText(w io.Writer, a Approval) error {
	p := &printer{w: w}
	e := a.Entry
	p.line("approved %s as it is now (sha256:%.16s)", a.Journal, e.JournalSHA256)
	p.line("  %s tok/s per GPU, TTFT p99 %s ms at %d per GPU on %s, %s",
		number(e.TokPerSecPerGPU), number(e.TTFTP99MS), e.ConcurrencyPerGPU, plural.Of(e.GPUs, "GPU"), plural.Of(e.ValidAttempts, "valid attempt"))
	p.line("  by %s: %s", e.By, e.Why)
	p.line("the entry is in %s: commit it with the overlay; calibrate --journal %s --overlay %s rests on it", a.File, a.Journal, a.Overlay)
	return p.err
}

// ApprovalJSON prints the entry.
func ApprovalJSON(w io.Writer, a Approval) error {
	return encode(w, approvalDoc{schemaVersion, a.Entry, a.File})
}
