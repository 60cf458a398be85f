package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

func TestOtherAccelerator(t *testing.T) {
	for _, c := range []struct {
		criterion, product string
		other              bool
	}{
		{"h100", "NVIDIA-H100-80GB-HBM3", false},
		{"h100", "NVIDIA-H100-NVL", false},
		{"gb300", "NVIDIA-GB300", false},
		{"rtx-pro-6000", "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", false},
		{"h100", "NVIDIA-GB300", true},
		{"h100", "NVIDIA-H200", true},
		{"b200", "NVIDIA-GB200", true},
		{"l40", "NVIDIA-L40S", true},
		// What is not stated or not known is no other one.
		{"", "NVIDIA-GB300", false},
		{"any", "NVIDIA-GB300", false},
		{"h100", "", false},
		{"h100", "TPU v9", false},
		{"tpu", "NVIDIA-H100-80GB-HBM3", false},
	} {
		why := OtherAccelerator(c.criterion, sweep.Fingerprint{Labels: map[string]string{"gpu_product": c.product}})
		if (why != "") != c.other || c.other && (!strings.Contains(why, c.criterion) || !strings.Contains(why, c.product)) {
			t.Errorf("%q against %q: %q", c.criterion, c.product, why)
		}
	}
}

// The overlay of another GPU is neither calibrated nor checked: a fast device at half
// of its speed would pass for a slow one, and the other way round be called slow.
func TestOverlayOfAnotherGPU(t *testing.T) {
	f := newFixture() // of GB300
	f.policy.Accelerator = "h100"
	if p := f.propose(); p.Writable || !p.Gate.Empty() || !strings.Contains(p.Reasons[0], "the overlay is for accelerator h100") {
		t.Errorf("calibrated: %s, %q", p.Outcome, p.Reasons)
	}
	f.policy.Accelerator = "gb300"
	if p := f.propose(); p.Gate.Empty() {
		t.Errorf("its own GPU is refused: %q", p.Reasons)
	}
	f = checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3])
	for accelerator, want := range map[string]Verdict{"h100": Inconclusive, "gb300": Pass, "": Pass} {
		r := Sidecar{Name: "o.provenance.json", Accelerator: accelerator}.Check(testGate(), f.curve, 8, nil)
		said := slices.ContainsFunc(r.Reasons, func(s string) bool { return strings.Contains(s, "for accelerator h100") })
		if r.Verdict != want || said != (want == Inconclusive) {
			t.Errorf("checked for %q: %s, %q", accelerator, r.Verdict, r.Reasons)
		}
	}
}
