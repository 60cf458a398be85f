package calibrate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// bridgedSide is the sidecar of a gate that was written through a bridge: 17100 tok/s
// per GPU and 2300 ms, by hand x0.94996 of 18000.67 and x1.62865 of 1412.2.
func bridgedSide(t *testing.T, pairs ...sweep.BridgePair) (Provenance, OverlayState) {
	t.Helper()
	f := newFixture()
	f.curve.Bridge = pairs
	p, _ := proved(f)
	comment := "# Bridge: none; floor and ceiling are perfsweep's own readings.\n"
	if p.Bridge.Stands() {
		comment = "      # Calibrated.\n      # Bridge: AIPerf 0.13.0, 3 pairs with\n      # perfsweep in turns.\n"
	}
	return p, OverlayState{Bytes: []byte(comment), Gate: p.Gate}
}

// TestCheckOfABridgedGate: this tool's readings are held against what the gate is in
// its own readings, and where that is not known nothing passes that could fail.
func TestCheckOfABridgedGate(t *testing.T) {
	written, _ := bridgedSide(t, threePairs()...)
	if g := written.Gate; g.FloorPerGPU != 17100 || g.CeilingTTFTP99MS != 2300 {
		t.Fatalf("%+v", g)
	}
	asWritten := func(*Sidecar, *recipes.Gate) {}
	gone := func(s *Sidecar, _ *recipes.Gate) { s.Provenance = nil }
	bare := func(s *Sidecar, _ *recipes.Gate) { p := *s.Provenance; p.Bridge = nil; s.Provenance = &p }
	edit := func(change func(*recipes.Gate)) func(*Sidecar, *recipes.Gate) {
		return func(s *Sidecar, g *recipes.Gate) { change(g); s.Overlay.Gate = *g }
	}
	lower := edit(func(g *recipes.Gate) { g.FloorPerGPU = 17000 })
	later := edit(func(g *recipes.Gate) { g.CeilingTTFTP99MS = 2400 })
	routed := edit(func(g *recipes.Gate) { g.RoutingMode = "" })
	unsaid := func(s *Sidecar, _ *recipes.Gate) {
		s.Provenance, s.Overlay.Bytes = nil, []byte("# Bridge: none; AIPerf reads less.\n")
	}
	const healthy, between, slow = 21000, 16000, 15000 // written it acts at 15390, in this tool's readings at 16200.5
	const early, late, tooLate = 680, 1800, 2600       // and at 2530 and 1553
	for _, c := range []struct {
		name   string
		change func(*Sidecar, *recipes.Gate)
		x, p99 float64
		want   Verdict
		reason string
	}{
		{"healthy", asWritten, healthy, early, Pass, "at least 16201 tok/s per GPU, where AIPerf's are against 15390, and a TTFT p99 of at most 1553 ms, where AIPerf's is against 2530 ms"},
		{"just above", asWritten, 16201, early, Pass, "by the sidecar's bridge"},
		{"just below", asWritten, 16200, early, Fail, "output throughput 129600.00 tok/s is below 129604.32 (floor 18000.6 per GPU × 8, less 10 %)"},
		{"slow", asWritten, slow, early, Fail, "by the sidecar's bridge"},
		{"late", asWritten, healthy, late, Fail, "TTFT p99 1800.00 ms is above 1553.44 (ceiling 1412.22, plus 10 %)"},
		{"no sidecar", gone, healthy, early, Inconclusive, "there is no sidecar o.provenance.json: by how much perfsweep reads more is not known"},
		{"no sidecar, between", gone, between, early, Inconclusive, "name the sidecar with --sidecar"},
		{"no sidecar, slow", gone, slow, early, Fail, "is below 123120"},
		{"no sidecar, too late", gone, healthy, tooLate, Fail, "is above 2530"},
		{"a sidecar without a bridge", bare, healthy, early, Inconclusive, "o.provenance.json has no bridge"},
		{"no bridge is spoken of", unsaid, between, early, Pass, "no sidecar"},
		{"an edited floor", lower, healthy, early, Pass, "the gate was edited"},
		{"an edited floor, between", lower, between, early, Inconclusive, "whether its values are that still is not known"},
		{"an edited floor, slow", lower, slow, early, Fail, "is below"},
		{"an edited ceiling, late", later, healthy, late, Inconclusive, "whether its values are that still is not known"},
		{"an edited ceiling, too late", later, healthy, 2700, Fail, "is above"},
		{"another value edited, between", routed, between, early, Fail, "is below"},
	} {
		p, o := bridgedSide(t, threePairs()...)
		s, g := Sidecar{Name: "o.provenance.json", Provenance: &p, Overlay: o}, p.Gate
		c.change(&s, &g)
		now := checkFixture([]float64{c.x, c.x, c.x}, []float64{c.p99, c.p99, c.p99}).curve
		r := s.Check(g, now, 8, nil)
		if text := strings.Join(r.Reasons, "\n"); r.Verdict != c.want || !strings.Contains(text, c.reason) {
			t.Errorf("%s: %s, want %s with %q:\n%s", c.name, r.Verdict, c.want, c.reason, text)
		}
		if r.Verdict != Pass && r.Effective.Pass {
			t.Errorf("%s: %s, and the evaluation passes", c.name, r.Verdict)
		}
		if r.Gate != g {
			t.Errorf("%s: the gate is %+v, written is %+v", c.name, r.Gate, g)
		}
		if known := s.Provenance != nil && s.Provenance.Bridge != nil; known != (r.Bridge != nil) {
			t.Errorf("%s: %+v", c.name, r.Bridge)
		}
	}
}

// TestBridgedCheckCancels: whatever AIPerf reads, a check of the bridged gate stands
// where one of the unbridged gate does, but for the digits that are rounded; one that
// reads more loosens nothing.
func TestBridgedCheckCancels(t *testing.T) {
	plain, _ := bridgedSide(t)
	now := checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3]).curve
	for _, share := range []float64{0.7, 0.8, 0.9, 0.95, 1, 1.05} {
		for _, multiple := range []float64{0.8, 1, 1.2} {
			p, o := bridgedSide(t, bridgePair(0, share, multiple), bridgePair(1, share, multiple), bridgePair(2, share, multiple))
			r := Sidecar{Name: "o.provenance.json", Provenance: &p, Overlay: o}.Check(p.Gate, now, 8, nil)
			floor, ceiling := r.Effective.EffectiveFloorTokPerSec/8, r.Effective.EffectiveCeilingTTFTP99MS
			if f, c := floor/plain.Effective.FloorPerGPU, ceiling/plain.Effective.CeilingTTFTP99MS; r.Bridge == nil || math.Abs(f-1) > 0.01 || math.Abs(c-1) > 0.1 {
				t.Errorf("x%v of the throughput, x%v of the TTFT: acts at %v and %v, unbridged %+v", share, multiple, floor, ceiling, plain.Effective)
			}
			if floor < p.Effective.FloorPerGPU-1e-6 || ceiling > p.Effective.CeilingTTFTP99MS+1e-6 {
				t.Errorf("x%v, x%v: %v and %v are laxer than the written %+v", share, multiple, floor, ceiling, p.Effective)
			}
		}
	}
}

// TestBridgedPower: what a check of a bridged gate catches is what one of the
// unbridged gate does; what AICR's evaluator catches is computed as AIPerf reads.
func TestBridgedPower(t *testing.T) {
	f, plain := newFixture().simulated(), newFixture().simulated().propose()
	f.curve.Bridge = []sweep.BridgePair{bridgePair(0, 0.8, 1), bridgePair(1, 0.8, 1), bridgePair(2, 0.8, 1)}
	for i, s := range f.propose().Sensitivity {
		if was := plain.Sensitivity[i]; math.Abs(s.CheckCaught-was.CheckCaught) > 0.1 || math.Abs(s.Caught-was.Caught) > 0.1 {
			t.Errorf("%s: a check catches it with %.3f, without the bridge %.3f; AICR %.3f, %.3f", s.Loss, s.CheckCaught, was.CheckCaught, s.Caught, was.Caught)
		}
	}
}

func TestSaysBridged(t *testing.T) {
	for text, want := range map[string]bool{
		"# Bridge: AIPerf 0.13.0, 3 pairs": true, "a: b\n   #Bridge: AIPerf 1\n": true, "\t## Bridge: AIPerf x": true,
		"# Bridge: none; AIPerf": false, "name: 'Bridge: AIPerf 1'": false, "# see Bridge: AIPerf 1": false, "": false,
	} {
		if got := saysBridged([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	f := newFixture().simulated()
	f.curve.Bridge = threePairs()
	var lines []string
	for _, paragraph := range f.propose().Comment {
		lines = append(lines, fmt.Sprint("# ", paragraph))
	}
	if !saysBridged([]byte(strings.Join(lines, "\n"))) {
		t.Error("the comment of a bridged gate is not told")
	}
}
