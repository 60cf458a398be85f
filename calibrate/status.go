package calibrate

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/recipes"
)

// StatusState says how far the gate of an overlay can be relied on today.
type StatusState string

// The states, the worst first: an overlay has the first that fits.
const (
	// StatusInvalid: lint finds an error, so that nothing can be said of the gate.
	StatusInvalid StatusState = "invalid"
	// StatusNone: the overlay has no performance gate, and disabled: it has one,
	// or its inputs, and AICR does not run the check.
	StatusNone     StatusState = "no_gate"
	StatusDisabled StatusState = "disabled"
	// StatusProvisional: the values are said not to be calibrated.
	StatusProvisional StatusState = "provisional"
	// StatusStale: something else was measured than what the gate is held against
	// now, or long ago, or the gate was edited.
	StatusStale StatusState = "stale"
	// StatusNoEvidence: no sidecar says what was measured.
	StatusNoEvidence StatusState = "no_evidence"
	StatusCurrent    StatusState = "current"
)

// Status is one overlay in a listing of many. Rates are output tokens a second.
type Status struct {
	Overlay string      `json:"overlay"` // metadata.name
	File    string      `json:"file"`
	State   StatusState `json:"state"`
	Why     []string    `json:"why"`
	// What the gate is, and what its sidecar says was measured; absent if unknown.
	Gate            *recipes.Gate `json:"gate,omitempty"`
	Measured        string        `json:"measured,omitempty"`
	Image           string        `json:"image,omitempty"`
	GPUProduct      string        `json:"gpu_product,omitempty"`
	GPUs            int           `json:"gpus,omitempty"`
	TokPerSecPerGPU float64       `json:"output_tok_per_s_per_gpu,omitempty"`
}

// StatusOf sorts an overlay by what its lint found, sidecar included. image,
// unless "", is the runtime image that the overlays are to hold for: a digest, a
// tag or a whole reference.
func StatusOf(s SidecarLint, findings []recipes.Finding, image string) Status {
	out := Status{File: s.File, State: StatusCurrent, Why: []string{}}
	if s.Overlay != nil {
		out.Overlay = s.Overlay.Name()
	}
	if why := messages(findings, func(f recipes.Finding) bool { return f.Severity == recipes.SeverityError && !outdated(f.Rule) }); len(why) > 0 {
		out.State, out.Why = StatusInvalid, why
		return out
	}
	g, enabled, err := s.Overlay.Gate()
	if s.Resolved != nil && err == nil {
		g = s.Resolved.Gate
	}
	if !g.Empty() {
		out.Gate = &g
	}
	why := messages(findings, func(f recipes.Finding) bool { return outdated(f.Rule) })
	switch {
	case err != nil:
		out.State, out.Why = StatusInvalid, []string{err.Error()}
		return out
	case !enabled && g == (recipes.Gate{}) && len(why) == 0:
		out.State = StatusNone
		return out
	case !enabled && g != (recipes.Gate{}):
		out.State, out.Why = StatusDisabled, []string{"the check inference-perf is not in the list of the performance phase"}
		return out
	}
	p, err := ParseProvenance(s.Name, s.Content)
	known := s.Content != nil && err == nil
	if known {
		out.record(p)
	}
	if said := messages(findings, func(f recipes.Finding) bool { return f.Rule == "provisional" }); len(said) > 0 {
		out.State, out.Why = StatusProvisional, said
		return out
	}
	if known && image != "" && !sameImage(out.Image, image) {
		why = append(why, fmt.Sprintf("measured with image %s, not with %s", orNotStated(printable(out.Image)), printable(image)))
	}
	switch {
	case len(why) > 0:
		out.State, out.Why = StatusStale, why
	case !known:
		out.State, out.Why = StatusNoEvidence, []string{fmt.Sprintf("no sidecar %s says what was measured", s.Name)}
	}
	return out
}

// record takes what the sidecar says was measured.
func (s *Status) record(p Provenance) {
	measured, on := p.latest()
	s.Measured, _, _ = strings.Cut(measured, "T")
	s.Image, s.GPUProduct = on.Labels["image"], p.Fingerprint.Labels["gpu_product"]
	s.GPUs, s.TokPerSecPerGPU = p.Fingerprint.GPUs, p.Limits.Median
}

// outdated are the rules that say that a gate is no longer what was measured.
func outdated(rule string) bool {
	switch rule {
	case "stale-provenance", "gate-edited", "sidecar-interrupted", "sidecar-damaged":
		return true
	}
	return false
}

func messages(findings []recipes.Finding, keep func(recipes.Finding) bool) []string {
	var out []string
	for _, f := range findings {
		if keep(f) {
			out = append(out, f.Message)
		}
	}
	return out
}

// sameImage reports whether a recorded image is the wanted one: by digest where
// both have one, for a tag can move; else by the whole reference or the tag. One
// that was not recorded is no image's.
func sameImage(recorded, want string) bool {
	split := func(ref string) (name, digest string) {
		lower := strings.ToLower(strings.TrimSpace(ref)) // as registries write a digest
		switch {
		case strings.HasPrefix(lower, "sha256:"):
			return "", lower
		case isSHA256(lower):
			return "", "sha256:" + lower
		}
		name, digest, _ = strings.Cut(strings.TrimSpace(ref), "@")
		return name, strings.ToLower(digest)
	}
	was, wasDigest := split(recorded)
	now, nowDigest := split(want)
	switch {
	case wasDigest != "" && nowDigest != "":
		return wasDigest == nowDigest
	case nowDigest != "" || was == "":
		return false
	}
	return was == now || strings.HasSuffix(was[strings.LastIndex(was, "/")+1:], ":"+now)
}
