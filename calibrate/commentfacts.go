package calibrate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// ceilingRule is how the TTFT ceiling follows from the runs.
const ceilingRule = "2 x the median TTFT p99 or its upper tolerance limit"

// subject names what was measured. lint reads GPUs and model from it.
func (j *judgement) subject() string {
	f, model := j.curve.Fingerprint, printable(j.model())
	if served := j.curve.Preflight.ServedModel; served != "" {
		model += " (its answers say " + printable(served) + ")"
	}
	return fmt.Sprintf("Target %s; %s; model %s; workload %s.", printable(f.Target), plural.Of(f.GPUs, "GPU"), model, workload(f.Workload))
}

// fact is something that a URL does not tell and a gate depends on.
type fact struct {
	name  string
	label string // "" for a field of the fingerprint
	value string
}

func facts(f sweep.Fingerprint) []fact {
	out := []fact{
		{"accelerator", "gpu_product", ""}, {"instance", "instance", ""}, {"precision", "precision", ""},
		{"GPUs per worker", "gpus_per_worker", ""}, {"image", "image", ""},
	}
	for i := range out {
		out[i].value = f.Labels[out[i].label]
	}
	return append(out, fact{"router", "", f.RoutingMode}, fact{"deployment", "", f.Deployment})
}

// stated lists what was said of the deployment. What was not is among what is
// not known.
func (j *judgement) stated() string {
	labels := maps.Clone(j.curve.Fingerprint.Labels)
	var out []string
	for _, f := range facts(j.curve.Fingerprint) {
		if f.value == "" {
			continue
		}
		delete(labels, f.label)
		out = append(out, f.name+" "+printable(f.value))
	}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, printable(k)+"="+printable(labels[k]))
	}
	if len(out) == 0 {
		return "No accelerator, image or precision was stated (--label)."
	}
	return "Stated: " + strings.Join(out, ", ") + "."
}

// notKnown lists what a reader of the gate might take for known.
func (j *judgement) notKnown() []string {
	var out, unstated []string
	for _, f := range facts(j.curve.Fingerprint) {
		if f.value == "" {
			unstated = append(unstated, f.name)
		}
	}
	if len(unstated) > 0 {
		out = append(out, "not stated: "+strings.Join(unstated, ", "))
	}
	if j.limits.SBBasis == "assumed" {
		out = append(out, fmt.Sprintf("what deployments differ by (s_b %.4f is assumed)", j.limits.SB))
	}
	if j.valid.Scaling == untested {
		out = append(out, fmt.Sprintf("whether throughput scales with GPUs (measured on %d only)", j.curve.Fingerprint.GPUs))
	}
	var unseen []string
	for _, g := range runGates(j.curve) {
		if g.State == Unobserved {
			unseen = append(unseen, g.ID+" "+g.Name)
		}
	}
	if len(unseen) > 0 {
		out = append(out, "not observed: "+strings.Join(unseen, ", "))
	}
	if j.equivalent.State == unverified {
		out = append(out, "whether the deployment is the evaluator's")
	}
	return out
}

// floorRule is how the floor of the policy's profile follows from the runs.
func (j *judgement) floorRule() string {
	share := portableShare
	if j.policy.Profile == Regression {
		share = regressionShare
	}
	speaksOf := "fresh deployment"
	if len(j.policy.Clusters) > 0 {
		speaksOf = "further cluster"
	}
	return fmt.Sprintf("min(%.2f x median, L/0.9) rounded down to 3 digits, L the 95/95 tolerance limit of a %s", share, speaksOf)
}

// rule is both rules, for the sidecar.
func (j *judgement) rule() string {
	if j.policy.TTFTOnly {
		return "no floor; ceiling = " + ceilingRule + j.bridged()
	}
	return "floor = " + j.floorRule() + "; ceiling = " + ceilingRule + j.bridged()
}

// writtenLine says what is written, and of which runs it is the measure. The
// GPUs of a worker stand beside the concurrency, which is per GPU.
func (j *judgement) writtenLine(p Proposal) string {
	s := fmt.Sprintf("Written: TTFT p99 <= %s ms", num(p.Gate.CeilingTTFTP99MS))
	switch g := p.Gate; {
	case g.FloorPerGPU > 0:
		s += fmt.Sprintf(", throughput >= %s a GPU", num(g.FloorPerGPU))
	case g.Floor > 0:
		s += fmt.Sprintf(", throughput >= %s a node", num(g.Floor))
	}
	worker := "GPUs per worker not stated"
	if v := j.curve.Fingerprint.Labels["gpus_per_worker"]; v != "" {
		n, err := strconv.Atoi(v)
		worker = printable(v) + " " + plural.Noun(n, "GPU") + " per worker"
		if err == nil && n > 1 {
			worker += fmt.Sprintf(", so %d in flight per worker", n*j.op())
		}
	}
	return s + fmt.Sprintf(", at %d in flight per GPU (%s). Both rest on gate runs (AICR's protocol, closed loop, whole-run estimator); the knee on steady runs (window estimator).",
		j.op(), worker)
}
