package calibrate

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// maxReconfirmed bounds what a sidecar keeps of later measurements.
const maxReconfirmed = 100

// KeepReconfirmed records in a sidecar that its gate was confirmed on what c measured.
func (p Provenance) KeepReconfirmed(r Reconfirmation, c sweep.Curve, journal Source, at time.Time) Provenance {
	last, written := "", stamp(at)
	if len(r.Runs) > 0 {
		last = r.Runs[len(r.Runs)-1].Started
	}
	for _, o := range p.Reconfirmed { // the same again keeps its date
		if o.Journal.SHA256 == journal.SHA256 {
			written = o.Written
		}
	}
	kept := slices.DeleteFunc(slices.Clone(p.Reconfirmed), func(o Reconfirmed) bool { return o.Journal.SHA256 == journal.SHA256 })
	if n := len(kept); n >= maxReconfirmed {
		kept = kept[n-maxReconfirmed+1:]
	}
	p.Reconfirmed = append(kept, Reconfirmed{
		Measured: last, Written: written, ToolVersion: c.Fingerprint.ToolVersion, Throughput: r.Throughput, TTFTP99: r.TTFTP99,
		Runs: r.Runs, Fingerprint: c.Fingerprint, FingerprintSHA256: FingerprintHash(c.Fingerprint), Journal: journal,
	})
	return p
}

// latest is when the gate was last measured or confirmed, and on what.
func (p Provenance) latest() (measured string, f sweep.Fingerprint) {
	measured, f = p.Measured, p.Fingerprint
	if n := len(p.Reconfirmed); n > 0 {
		measured, f = p.Reconfirmed[n-1].Measured, p.Reconfirmed[n-1].Fingerprint
	}
	return measured, f
}

// validReconfirmed reports the first reconfirmation that contradicts itself.
func (p Provenance) validReconfirmed() error {
	if len(p.Reconfirmed) > maxReconfirmed {
		return badKey("reconfirmed", "has %s, more than %d", plural.Of(len(p.Reconfirmed), "entry"), maxReconfirmed)
	}
	for i, r := range p.Reconfirmed {
		key := fmt.Sprintf("reconfirmed[%d]", i)
		for _, d := range []string{r.Measured, r.Written} {
			if _, err := time.Parse(time.RFC3339, d); d != "" && err != nil {
				return badKey(key, "has %.80q, which is no date", d)
			}
		}
		switch {
		case r.FingerprintSHA256 != FingerprintHash(r.Fingerprint):
			return badKey(key+".fingerprint_sha256", "is not that of what it stands for: the file was edited")
		case r.Fingerprint.GPUs < 1:
			return badKey(key+".fingerprint.gpus", "is %d", r.Fingerprint.GPUs)
		case !r.Throughput.finite() || !r.TTFTP99.finite() || r.Throughput.Changed || r.TTFTP99.Changed:
			return badKey(key, "is none that keeps a gate")
		case len(r.Runs) < checkValid:
			return badKey(key+".runs", "has %s, %d at least are needed", plural.Of(len(r.Runs), "run"), checkValid)
		}
		for j, run := range r.Runs {
			if run.ConcurrencyPerGPU != p.Gate.ConcurrencyPerGPU || !positive(run.TokPerSecPerGPU) || !positive(run.TTFTP50MS) || !positive(run.TTFTP99MS) {
				return badKey(fmt.Sprintf("%s.runs[%d]", key, j), "is no gate run at %d per GPU", p.Gate.ConcurrencyPerGPU)
			}
		}
	}
	return nil
}
