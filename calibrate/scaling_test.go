package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// onFewer is the fixture with a journal of the same thing on 2 of its 8 GPUs,
// at a share of its speed per GPU.
func onFewer(share float64, bend func(*AnchorJournal)) *fixture {
	f, small := newFixture(), newFixture()
	small.curve.Fingerprint.GPUs, small.curve.Fingerprint.Labels["workers"] = 2, "2"
	small.attempts(sweep.Confirm, 128, scaled(healthyX(), share), healthyP99())
	a := AnchorJournal{Source{"small.jsonl", otherHash}, small.curve}
	if bend != nil {
		bend(&a)
	}
	f.policy.Scaling = []AnchorJournal{a}
	return f
}

func comment(p Proposal) string { return strings.Join(p.Comment, " ") }

// The fixture's runs have sd .0107, below the floor of .015: the 90 % interval
// of 5 and 5 runs is ±t(.95, 8)·.015·√(2/5) = ±1.8595·.0094868 = ±.017641.
func TestScalingIsEarned(t *testing.T) {
	for _, c := range []struct {
		name  string
		share float64
		want  string
		says  string
	}{
		{"the same", 1, linear, "Valid for 1 to 8 GPUs a frontend: throughput per GPU is x1.000 of that on fewer (90 % interval 0.983 to 1.018, within 10 %)"},
		{"just within, above", math.Exp(0.01775) / 1.1, linear, ""},
		{"just outside, above", math.Exp(0.01755) / 1.1, notLinear, ""},
		{"just within", 1 / (0.9 * math.Exp(0.01775)), linear, "Valid for 1 to 8"},
		{"just outside", 1 / (0.9 * math.Exp(0.01755)), notLinear, "Valid for 8 GPUs only: throughput per GPU is x0.916"},
		{"a shared ceiling", 1.5, notLinear, "so it does not scale linearly"},
		{"more than linear", 0.8, notLinear, "x1.250"},
	} {
		p := onFewer(c.share, nil).propose()
		v := p.Validity
		if v.Scaling != c.want || v.MaxGPUs != 8 || (v.MinGPUs == 1) != (c.want == linear) || !strings.Contains(comment(p), c.says) {
			t.Errorf("%s: %+v: %s", c.name, v, comment(p))
		}
	}
}

// What was not shown is not claimed.
func TestScalingIsNotAssumed(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(*AnchorJournal)
		says string
	}{
		{"as many GPUs", func(a *AnchorJournal) { a.Curve.Fingerprint.GPUs = 8 }, "fewer than 8 are needed"},
		{"another image", func(a *AnchorJournal) { a.Curve.Fingerprint.Labels["image"] = "other" }, "measured something else (labels.image"},
		{"a simulation", func(a *AnchorJournal) { a.Curve.Fingerprint.Simulated = true }, "simulation"},
		{"two runs", func(a *AnchorJournal) { a.Curve.Runs = a.Curve.Runs[:4] }, "2 valid gate runs there"},
		{"unsteady", func(a *AnchorJournal) { a.Curve.Runs[0].Result.WholeRun.OutputTokPerSec /= 2 }, "fall apart"},
	} {
		p := onFewer(1, c.bend).propose()
		if v := p.Validity; v.Scaling != untested || v.MinGPUs != 8 || !strings.Contains(strings.Join(p.Reasons, " "), c.says) {
			t.Errorf("%s: %+v, %q", c.name, v, p.Reasons)
		}
		if !strings.Contains(comment(p), "Valid for 8 GPUs only: that throughput scales with GPUs is not tested.") {
			t.Errorf("%s: %s", c.name, comment(p))
		}
	}
	// A journal that contradicts is not outvoted by one that agrees.
	f := onFewer(1.5, nil)
	f.policy.Scaling = append(f.policy.Scaling, onFewer(1, nil).policy.Scaling...)
	if v := f.propose().Validity; v.Scaling != notLinear || len(v.Notes) != 2 {
		t.Errorf("%+v", v)
	}
}

// The comment says whether the largest node of the place is covered.
func TestLargestNode(t *testing.T) {
	for _, c := range []struct {
		accelerator, service string
		gpus                 int
		says                 string
	}{
		{"h100", "eks", 8, "That is the largest known node of h100 on eks (p5.48xlarge)"},
		{"h100", "eks", 2, "The largest known node of h100 on eks (p5.48xlarge) has 8 GPUs: it is not covered"},
		{"gb300", "eks", 8, "has 4 GPUs: more than one was measured"},
		{"h100", "oke", 8, "The largest node of this accelerator and service is not known here"},
		{"", "", 8, "is not known here"},
	} {
		f := newFixture()
		f.curve.Fingerprint.GPUs = c.gpus
		f.curve.Fingerprint.Labels["gpu_product"] = c.accelerator // an overlay of another GPU gets no gate
		f.attempts(sweep.Confirm, 128, healthyX(), healthyP99())
		f.policy.Accelerator, f.policy.Service = c.accelerator, c.service
		if got := comment(f.propose()); !strings.Contains(got, c.says) {
			t.Errorf("%s on %s with %d: %s", c.accelerator, c.service, c.gpus, got)
		}
	}
	f := newFixture()
	f.policy.TTFTOnly = true
	if got := comment(f.propose()); strings.Contains(got, "Valid for") {
		t.Errorf("without a floor nothing scales: %s", got)
	}
}
