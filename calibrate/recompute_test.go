package calibrate

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/recipes"
)

// TestRecompute: a sidecar follows from its own runs to the last bit, in every
// form, with several windows and clusters.
func TestRecompute(t *testing.T) {
	sides := map[string]Provenance{"clusters": poolSidecar(pooled(t, clustersOf(t, 1, 0.97, 1.02)))}
	for name, bend := range map[string]func(*fixture){
		"portable":   func(*fixture) {},
		"regression": func(f *fixture) { f.policy.Profile = Regression },
		"absolute":   func(f *fixture) { f.policy.Form, f.policy.NodeGPUs = Absolute, 7 },
		"ttft only":  func(f *fixture) { f.policy.TTFTOnly = true },
		"windows":    func(f *fixture) { f.on("a").window(2, "b", time.Hour, 21000, 21100, 20900) },
	} {
		f := newFixture().simulated()
		bend(f)
		sides[name], _ = proved(f)
	}
	for name, p := range sides {
		read, err := ParseProvenance(name, encoded(t, p))
		if err != nil {
			t.Fatal(err)
		}
		again, err := read.Recompute()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := encoded(t, read), encoded(t, again); !bytes.Equal(a, b) {
			t.Errorf("%s:\n%s\nbecame\n%s", name, a, b)
		}
	}
}

// TestRecomputeFinds each number that is not what the runs make it.
func TestRecomputeFinds(t *testing.T) {
	for name, bend := range map[string]func(*Provenance){
		"a run":      func(p *Provenance) { p.BaselineRuns[1].TokPerSecPerGPU++ },
		"a TTFT":     func(p *Provenance) { p.BaselineRuns[1].TTFTP99MS += 50 },
		"a cluster":  func(p *Provenance) { p.BaselineRuns[0].Deployment = "cluster b" },
		"s_b":        func(p *Provenance) { p.Limits.SB *= 1.0000001 },
		"L":          func(p *Provenance) { p.Limits.L-- },
		"the floor":  func(p *Provenance) { p.Gate.FloorPerGPU += 10 },
		"ceiling":    func(p *Provenance) { p.Gate.CeilingTTFTP99MS += 10 },
		"evaluator":  func(p *Provenance) { p.Effective.FloorPerGPU *= 1.0000001 },
		"of cluster": func(p *Provenance) { p.Clusters[0].TokPerSecPerGPU++ },
	} {
		p := poolSidecar(pooled(t, clustersOf(t, 1, 1)))
		p.BaselineRuns, p.Clusters = slices.Clone(p.BaselineRuns), slices.Clone(p.Clusters)
		bend(&p)
		again, err := p.Recompute()
		if err != nil || bytes.Equal(encoded(t, p), encoded(t, again)) {
			t.Errorf("%s: nothing differs, %v", name, err)
		}
	}
	var none Provenance
	if _, err := none.Recompute(); err == nil {
		t.Error("no runs give no limit")
	}
}

func TestMismatches(t *testing.T) {
	p, _ := proved(newFixture().simulated())
	for name, c := range map[string]struct {
		bytes string
		bend  func(*recipes.Gate)
		want  []string
	}{
		"as written": {"new", func(*recipes.Gate) {}, nil},
		"a comment":  {"new #", func(*recipes.Gate) {}, []string{"overlay_sha256"}},
		"the floor":  {"other", func(g *recipes.Gate) { g.FloorPerGPU-- }, []string{recipes.NameFloorPerGPU, "overlay_sha256"}},
	} {
		g := p.Gate
		c.bend(&g)
		var got []string
		for _, m := range p.Mismatches(OverlayState{Bytes: []byte(c.bytes), Gate: g}) {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
