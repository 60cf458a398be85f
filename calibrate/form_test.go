package calibrate

import (
	"errors"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
)

func TestResolveForm(t *testing.T) {
	perGPU, absolute := recipes.Gate{FloorPerGPU: 1}, recipes.Gate{Floor: 1}
	for _, c := range []struct {
		name    string
		current recipes.Gate
		policy  Policy
		want    Form
		err     string
	}{
		{"neither", recipes.Gate{}, Policy{}, PerGPU, ""},
		{"keeps per-GPU", perGPU, Policy{}, PerGPU, ""},
		{"keeps absolute", absolute, Policy{NodeGPUs: 8}, Absolute, ""},
		{"absolute needs the node", absolute, Policy{}, "", "--node-gpus"},
		{"changes to per-GPU when asked", absolute, Policy{Form: PerGPU}, PerGPU, ""},
		{"changes to absolute when asked", perGPU, Policy{Form: Absolute, NodeGPUs: 4}, Absolute, ""},
		{"asked for absolute without a node", perGPU, Policy{Form: Absolute}, "", "--node-gpus"},
		{"no floor needs no node", absolute, Policy{TTFTOnly: true}, Absolute, ""},
		{"both names", recipes.Gate{FloorPerGPU: 1, Floor: 1}, Policy{}, "", "remove one"},
		{"negative node", perGPU, Policy{NodeGPUs: -1}, "", "1 or more GPUs"},
		{"unknown form", perGPU, Policy{Form: "per-node"}, "", "unknown floor form"},
		{"unknown profile", perGPU, Policy{Profile: "strict"}, "", "unknown floor profile"},
	} {
		got, err := ResolveForm(c.current, c.policy)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.want, c.err)
		}
		var bad *PolicyError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %T is no *PolicyError", c.name, err)
		}
	}
}

func TestRouting(t *testing.T) {
	for _, c := range []struct{ measured, pinned, want, note string }{
		{"", "", "dynamo-router", "assumed"},
		{"", "gateway-epp", "gateway-epp", ""},
		{"gateway-epp", "", "gateway-epp", ""},
		{"gateway-epp", "gateway-epp", "gateway-epp", ""},
		{"gateway-epp", "dynamo-router", "gateway-epp", "changes from dynamo-router"},
		{"least-loaded", "gateway-epp", "gateway-epp", `"least-loaded" is neither`},
		{"least-loaded", "", "dynamo-router", "assumed"},
	} {
		got, note := routing(c.measured, c.pinned)
		if got != c.want || (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
			t.Errorf("%q, %q: %q %q", c.measured, c.pinned, got, note)
		}
	}
}

// The written floor follows form, profile and node; the effective one is per
// GPU, whatever the form.
func TestWrittenFloor(t *testing.T) {
	for _, c := range []struct {
		name      string
		current   recipes.Gate
		policy    Policy
		want      recipes.Gate
		effective float64
	}{
		{"default", recipes.Gate{}, Policy{}, recipes.Gate{FloorPerGPU: 18000}, 16200},
		{"regression", recipes.Gate{}, Policy{Profile: Regression}, recipes.Gate{FloorPerGPU: 19900}, 17910},
		// 0.85 × 21197 × 8 = 144139.6; not 18000 × 8.
		{"absolute", recipes.Gate{Floor: 50000}, Policy{NodeGPUs: 8}, recipes.Gate{Floor: 144000}, 16200},
		{"absolute, smaller node", recipes.Gate{}, Policy{Form: Absolute, NodeGPUs: 3}, recipes.Gate{Floor: 54000}, 16200},
		{"ttft only", recipes.Gate{FloorPerGPU: 9}, Policy{TTFTOnly: true}, recipes.Gate{}, 0},
	} {
		f := newFixture().simulated()
		f.current, f.policy = c.current, c.policy
		f.policy.AllowSimulated = true
		p := f.propose()
		want := c.want
		want.Model, want.ConcurrencyPerGPU, want.RoutingMode, want.CeilingTTFTP99MS = testModel, 128, "dynamo-router", 1400
		if c.policy.Profile == Regression {
			want.FloorPerGPU = p.Limits.Regression
		}
		if p.Gate != want || !p.Writable {
			t.Errorf("%s: %+v, want %+v (%s %q)", c.name, p.Gate, want, p.Outcome, p.Reasons)
		}
		if c.policy.Profile != Regression {
			near(t, c.name, p.EffectiveFloorPerGPU, c.effective, 1e-6)
		}
		near(t, c.name, p.EffectiveCeilingTTFTP99MS, 1540, 1e-6)
	}
}

// What the user asked for stands before what was measured.
func TestPolicyErrorRefuses(t *testing.T) {
	f := newFixture().simulated()
	f.policy.Form = Absolute
	p := f.propose()
	var bad *PolicyError
	if !errors.As(p.Err, &bad) || p.Outcome != OutcomeInvalid || p.Writable || !p.Gate.Empty() {
		t.Errorf("%v, %s, writable %v, %+v", p.Err, p.Outcome, p.Writable, p.Gate)
	}
}
