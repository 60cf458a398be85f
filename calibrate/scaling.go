package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// Validity says for how many GPUs a floor per GPU was shown to hold.
type Validity struct {
	MinGPUs int `json:"min_gpus"`
	MaxGPUs int `json:"max_gpus"`
	// Scaling is linear, not linear, or untested.
	Scaling string `json:"scaling"`
	// Ratio is the throughput per GPU here over that on fewer GPUs, with its
	// 90 % interval.
	Ratio     float64 `json:"throughput_ratio,omitempty"`
	RatioLow  float64 `json:"throughput_ratio_low,omitempty"`
	RatioHigh float64 `json:"throughput_ratio_high,omitempty"`
	// FrontendBound says that frontends ended the curve: MaxGPUs is then the
	// number of GPUs that one of them served.
	FrontendBound bool `json:"frontend_bound,omitempty"`
	// Notes say what became of the journals that were offered.
	Notes []string `json:"notes,omitempty"`
}

const (
	linear    = "linear"
	notLinear = "not linear"
	untested  = "untested"
	// scalingBand: two sizes are equivalent when the interval of their ratio lies
	// within 10 % of one (two one-sided tests at 5 %).
	scalingBand = 0.10
	scalingRuns = 3
)

// nodeShape is the largest node on record of an accelerator and a service.
type nodeShape struct {
	accelerator, service string
	gpus                 int
	instance             string
}

// nodeShapes are those that AICR's inference overlays name.
func nodeShapes() []nodeShape {
	return []nodeShape{
		{"h100", "eks", 8, "p5.48xlarge"},
		{"h100", "gke", 8, "a3-megagpu-8g"},
		{"h100", "aks", 8, "Standard_ND96isr_H100_v5"},
		{"gb200", "eks", 4, "p6e-gb200.36xlarge"},
		{"gb200", "gke", 4, "a4x-highgpu-4g"},
		{"gb300", "eks", 4, "p6e-gb300r.36xlarge"},
		{"gb300", "gke", 4, "a4x-max"},
		{"rtx-pro-6000", "eks", 8, "g7e.48xlarge"},
	}
}

// validity asks whether throughput per GPU was shown not to depend on how many
// there are. That is earned by measuring a smaller size too, never assumed: a
// shared frontend has one ceiling for all of them.
func (e *evidence) validity() Validity {
	g := e.curve.Fingerprint.GPUs
	out := Validity{MinGPUs: g, MaxGPUs: g, Scaling: untested}
	for _, a := range e.policy.Scaling {
		if a.Curve.Rejudged != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("of %s, %s", printable(a.Name), a.Curve.Rejudged))
		}
		x, why := e.smaller(a)
		if why != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("%s does not show how it scales: %s", printable(a.Name), why))
			continue
		}
		ratio, low, high := ratioInterval(e.attempts.throughputs(), x)
		out.Notes = append(out.Notes, fmt.Sprintf("%s: x%.3f per GPU of that on %s, %.3f to %.3f", printable(a.Name), ratio, plural.Of(a.Curve.Fingerprint.GPUs, "GPU"), low, high))
		if out.Scaling == notLinear {
			continue // one that contradicts is not outvoted
		}
		out.Ratio, out.RatioLow, out.RatioHigh = ratio, low, high
		out.Scaling = linear
		if !(low >= 1-scalingBand && high <= 1+scalingBand) {
			out.Scaling = notLinear
		}
	}
	if out.Scaling == linear {
		out.MinGPUs = 1
	}
	if e.policy.FrontendBound {
		out.FrontendBound = true
		out.MaxGPUs = max(1, g/max(1, e.policy.Frontends))
		out.MinGPUs = min(out.MinGPUs, out.MaxGPUs)
	}
	return out
}

// smaller returns the gate runs of a journal of the same thing on fewer GPUs.
func (e *evidence) smaller(a AnchorJournal) (x []float64, why string) {
	f, g := e.curve.Fingerprint, a.Curve.Fingerprint
	if g.GPUs >= f.GPUs {
		return nil, fmt.Sprintf("it has %s, and fewer than %d are needed", plural.Of(g.GPUs, "GPU"), f.GPUs)
	}
	if f.Simulated != g.Simulated {
		return nil, "a simulation and a measurement say nothing of each other"
	}
	var differs []string
	for _, d := range f.Diff(g) {
		switch field, _, _ := strings.Cut(d, ":"); field {
		case "gpus", "target", "deployment_id", "tool_version", "labels.node", "labels.cluster", "labels.hostname", "labels.workers":
		default:
			differs = append(differs, printable(d))
		}
	}
	if len(differs) > 0 {
		return nil, "it measured something else (" + strings.Join(differs, "; ") + ")"
	}
	runs := anchorAttempts(a.Curve, e.op())
	x = runs.throughputs()
	if len(x) < scalingRuns || len(e.attempts.valid) < scalingRuns {
		return nil, fmt.Sprintf("%s there and %d here at %d per GPU, %d of each are needed", plural.Of(len(x), "valid gate run"), len(e.attempts.valid), e.op(), scalingRuns)
	}
	if _, _, split := splitGap(x, noise{}); split {
		return nil, "its own gate runs fall apart (C1)"
	}
	if k, ok := runs.kinds(); ok && k.apart() {
		return nil, "its own runs contradict each other (C4: " + k.text() + ")"
	}
	return x, ""
}

// ratioInterval is the ratio of two geometric means with its 90 % interval, of
// run-to-run noise that is never taken for less than the floor of the limits.
func ratioInterval(a, b []float64) (ratio, low, high float64) {
	logs := func(v []float64) []float64 {
		out := slices.Clone(v)
		for i := range out {
			out[i] = exact.Log(out[i])
		}
		return out
	}
	la, lb := logs(a), logs(b)
	na, nb := float64(len(a)), float64(len(b))
	df := na + nb - 2
	s2 := max(swFloor*swFloor, (float64((na-1)*exact.Variance(la))+float64((nb-1)*exact.Variance(lb)))/df)
	half := float64(studentsT(df, 0.95) * math.Sqrt(s2*(1/na+1/nb)))
	d := exact.Mean(la) - exact.Mean(lb)
	return exact.Exp(d), exact.Exp(d - half), exact.Exp(d + half)
}

// validityLine is the comment's paragraph: what the floor is valid for, and
// whether that is the largest node.
func (j *judgement) validityLine() string {
	v := j.valid
	if j.policy.TTFTOnly {
		return ""
	}
	var s string
	switch v.Scaling {
	case linear:
		s = fmt.Sprintf("Valid for 1 to %s a frontend: throughput per GPU is x%.3f of that on fewer (90 %% interval %.3f to %.3f, within 10 %%).", plural.Of(v.MaxGPUs, "GPU"), v.Ratio, v.RatioLow, v.RatioHigh)
	case notLinear:
		s = fmt.Sprintf("Valid for %s only: throughput per GPU is x%.3f of that on fewer (90 %% interval %.3f to %.3f), so it does not scale linearly.", plural.Of(v.MaxGPUs, "GPU"), v.Ratio, v.RatioLow, v.RatioHigh)
	default:
		s = fmt.Sprintf("Valid for %s only: that throughput scales with GPUs is not tested.", plural.Of(v.MaxGPUs, "GPU"))
	}
	if v.FrontendBound {
		s += fmt.Sprintf(" The frontend, not the engines, ends this curve: the floor holds only up to %s a frontend.", plural.Of(v.MaxGPUs, "GPU"))
	}
	return s + " " + j.shapeNote()
}

func (j *judgement) shapeNote() string {
	p := j.policy
	i := slices.IndexFunc(nodeShapes(), func(n nodeShape) bool { return n.accelerator == p.Accelerator && n.service == p.Service })
	if i < 0 {
		return "The largest node of this accelerator and service is not known here."
	}
	n := nodeShapes()[i]
	switch g := j.curve.Fingerprint.GPUs; {
	case g < n.gpus:
		return fmt.Sprintf("The largest known node of %s on %s (%s) has %s: it is not covered.", n.accelerator, n.service, n.instance, plural.Of(n.gpus, "GPU"))
	case g == n.gpus:
		return fmt.Sprintf("That is the largest known node of %s on %s (%s).", n.accelerator, n.service, n.instance)
	}
	return fmt.Sprintf("The largest known node of %s on %s (%s) has %s: more than one was measured.", n.accelerator, n.service, n.instance, plural.Of(n.gpus, "GPU"))
}
