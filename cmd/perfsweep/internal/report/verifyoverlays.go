package report

import (
	"encoding/csv"
	"io"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// OverlayState says what became of an overlay that was held against its sidecar.
type OverlayState string

// The states.
const (
	OverlayVerified   OverlayState = "verified"
	OverlayDiffers    OverlayState = "differs"
	OverlayNoEvidence OverlayState = "no_evidence"
)

// VerifiedOverlay is one overlay whose sidecar was computed again. Of a difference
// recorded is what the sidecar has, recomputed what its runs make it, or what the
// overlay has.
type VerifiedOverlay struct {
	Overlay     string              `json:"overlay"` // metadata.name
	File        string              `json:"file"`
	Sidecar     string              `json:"sidecar"`
	State       OverlayState        `json:"state"`
	Values      int                 `json:"values_compared"`
	Runs        int                 `json:"runs"`
	Differences []bundle.Difference `json:"differences"`
}

type verifiedOverlaysDoc struct {
	SchemaVersion int                  `json:"schema_version"`
	Counts        map[OverlayState]int `json:"counts"`
	Overlays      []VerifiedOverlay    `json:"overlays"`
}

// VerifiedOverlays prints what recipes verify found.
func VerifiedOverlays(w io.Writer, format string, list []VerifiedOverlay) error {
	counts := map[OverlayState]int{}
	for _, o := range list {
		counts[o.State]++
	}
	switch format {
	case "json":
		return encode(w, verifiedOverlaysDoc{schemaVersion, counts, append([]VerifiedOverlay{}, list...)})
	case "csv":
		rows := [][]string{{"file", "state", "part", "field", "recorded", "recomputed"}}
		for _, o := range list {
			for _, d := range o.Differences {
				rows = append(rows, []string{o.File, string(o.State), d.Part, d.Field, d.Recorded, d.Computed})
			}
			if len(o.Differences) == 0 {
				rows = append(rows, []string{o.File, string(o.State), "", "", "", ""})
			}
		}
		return csv.NewWriter(w).WriteAll(rows)
	}
	p := &printer{w: w}
	p.line("%s with a gate: %d verified, %d differ, %d without evidence", plural.Of(len(list), "overlay"),
		counts[OverlayVerified], counts[OverlayDiffers], counts[OverlayNoEvidence])
	for _, o := range list {
		switch o.State {
		case OverlayVerified:
			p.line("%s: verified: %s follow from its %s to the last bit", o.File, plural.Of(o.Values, "value"), plural.Of(o.Runs, "gate run"))
		case OverlayNoEvidence:
			p.line("%s: no_evidence: no sidecar %s says what was measured", o.File, o.Sidecar)
		}
		for i, d := range o.Differences {
			if i == maxShown {
				p.line("%s: and %d more; -o json lists all", o.File, len(o.Differences)-i)
				break
			}
			p.line("%s: differs: %s: %s: recorded %s, now %s", o.File, d.Part, d.Field, quoted(d.Recorded), quoted(d.Computed))
		}
	}
	return p.err
}
