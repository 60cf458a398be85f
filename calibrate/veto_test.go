package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// judged is a campaign whose single stream can be judged: Qwen3-8B in BF16 on
// one H100 a worker, 2·6.95/3.35 = 4.149 to 2.5·2·8.2/3.35+3 = 15.24 ms.
func judged(itl float64) *fixture {
	f := newFixture()
	f.curve.Preflight.StreamITLMS = itl
	f.curve.Fingerprint.Labels = map[string]string{"gpu_product": "NVIDIA-H100-80GB-HBM3", "precision": "bf16", "workers": "8"}
	return f
}

// One case a line: each bound from both sides, and each thing that may be
// unknown, which is said and does not fire.
func TestStreamVeto(t *testing.T) {
	label := func(k, v string) func(*fixture) {
		return func(f *fixture) { f.curve.Fingerprint.Labels[k] = v }
	}
	for _, c := range []struct {
		name  string
		itl   float64
		bend  func(*fixture)
		fired bool
		says  string
	}{
		{"a real H100", 6.8, nil, false, "holds: 6.8 ms, 4.149 to 15.24 ms"},
		{"just fast enough", 15.23, nil, false, "holds"},
		{"too slow", 15.25, nil, true, "VETO, single-stream ITL: 15.25 ms"},
		{"just possible", 4.16, nil, false, "holds"},
		{"impossible", 4.14, nil, true, "faster than memory can be read"},
		{"two GPUs a worker", 7.7, label("gpus_per_worker", "2"), false, "2.075 to 9.119 ms"},
		{"too slow for two", 9.2, label("gpus_per_worker", "2"), true, "VETO"},
		{"too slow for FP8", 9.2, label("precision", "FP8"), true, "VETO"},
		{"GPUs a worker by division", 9.2, label("workers", "4"), true, "on 2 x H100"},
		{"workers that do not divide", 9.2, label("workers", "3"), false, "not judged: the GPUs of a worker"},
		{"no ITL", 0, nil, false, "not judged: the journal has no single-stream ITL"},
		{"no number", math.NaN(), nil, false, "not judged"},
		{"no GPU", 99, label("gpu_product", ""), false, "not judged: the GPU is not stated"},
		{"unknown GPU", 99, label("gpu_product", "TPU v9"), false, `not judged: the memory bandwidth of "TPU v9" is not known`},
		{"mixed GPUs", 99, label("gpu_product", "H100,B200"), false, "not judged: the memory bandwidth"},
		{"no precision", 99, label("precision", ""), false, "not judged: the precision is not stated"},
		{"unknown precision", 99, label("precision", "int3"), false, "not judged: the precision"},
		{"no workers", 99, label("workers", ""), false, "not judged: the GPUs of a worker are not stated"},
		{"unknown model", 99, func(f *fixture) { f.curve.Fingerprint.Model = "org/secret" }, false, `not judged: the size of model "org/secret" is not known`},
		{"small model", 3.5, func(f *fixture) { f.curve.Fingerprint.Model = "Qwen/Qwen3-0.6B" }, false, "0.2627 to 3.896 ms"},
		{"quantised twin", 5, func(f *fixture) { f.curve.Fingerprint.Model = "Qwen/Qwen3-8B-FP8"; label("precision", "fp8")(f) }, false, "holds"},
	} {
		f := judged(c.itl)
		if c.bend != nil {
			c.bend(f)
		}
		p := f.propose()
		v := p.Anchor.Vetoes[0]
		if v.Fired != c.fired || !strings.Contains(v.text(), c.says) || v.Judged == strings.Contains(c.says, "not judged") {
			t.Errorf("%s: %+v", c.name, v)
		}
		if !strings.Contains(gate(p, "C7").Observed, v.text()) {
			t.Errorf("%s: C7 does not say it: %s", c.name, gate(p, "C7").Observed)
		}
		if c.fired && (p.Outcome != OutcomeDegraded || p.Writable) {
			t.Errorf("%s: %s", c.name, p.Outcome)
		}
	}
}

// The single-stream ITL that every preflight measures is not in the journal, and
// all else is: the veto could have fired, so that nothing vouches. Where it could
// not be judged anyway, and in a simulation, it is told only.
func TestLostStream(t *testing.T) {
	vouched := func(itl float64) *fixture {
		f := judged(itl)
		f.policy.Journal, f.policy.Approvals = Source{"own.jsonl", ownHash}, []Approval{{JournalSHA256: ownHash, By: "A", Why: "B", Approved: "2026-09-03"}}
		return f
	}
	if g := gate(vouched(6.8).propose(), "C7"); g.State != Met {
		t.Fatalf("%+v", g)
	}
	p := vouched(0).propose()
	if g := gate(p, "C7"); g.State != Unmet || !strings.Contains(g.Observed, "no single-stream ITL") || !strings.Contains(g.Remedy, "preflight") || p.Writable {
		t.Errorf("%+v", g)
	}
	f := vouched(0)
	f.curve.Fingerprint.Labels["precision"] = ""
	if g := gate(f.propose(), "C7"); g.State != Met {
		t.Errorf("without a precision: %+v", g)
	}
	if g := gate(vouched(0).simulated().propose(), "C7"); g.State == Unmet {
		t.Errorf("simulated: %+v", g)
	}
}

// A veto refuses whatever vouches, and whatever is waived.
func TestVetoBeatsEveryAnchor(t *testing.T) {
	f := withAnchor(1, nil)
	f.policy.Approvals = []Approval{{JournalSHA256: ownHash, By: "A", Why: "B", Approved: "2026-09-03"}}
	f.curve.Fingerprint.Labels["gpu_product"] = "GB300"
	f.policy.Anchors[0].Curve.Fingerprint.Labels["gpu_product"] = "GB300"
	if g := gate(f.propose(), "C7"); g.State != Met {
		t.Fatalf("%+v", g)
	}
	f.curve.Preflight.StreamITLMS = 30
	if g := gate(f.propose(), "C7"); g.State != Unmet || !strings.Contains(g.Observed, "VETO") || g.Remedy == "" {
		t.Errorf("%+v", g)
	}
	s := judged(30).simulated()
	if p := s.propose(); gate(p, "C7").State != Unmet || p.Writable {
		t.Errorf("simulated: %+v", gate(p, "C7"))
	}
}

func TestDevices(t *testing.T) {
	for product, want := range map[string]string{
		"NVIDIA-H100-80GB-HBM3": "H100", "NVIDIA-H100-NVL": "H100 NVL", "NVIDIA H100 PCIe": "H100 PCIe", "h100": "H100",
		"NVIDIA-GB200": "GB200", "NVIDIA-B200": "B200", "GB300": "GB300", "NVIDIA-H200": "H200", "NVIDIA-A100-SXM4-40GB": "A100 40GB", "NVIDIA-A100-SXM4-80GB": "A100",
		"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition": "RTX PRO 6000 Server Edition", "rtx-pro-6000": "RTX PRO 6000",
		"": "", "H1000": "", "XB200": "", "RTX 6000": "", "H100 and H200": "",
	} {
		if d, ok := deviceOf(product); ok != (want != "") || d.name != want {
			t.Errorf("%q: %q, %v", product, d.name, ok)
		}
	}
}

// The reference of the k/W signature, as a journal whose fit has a plateau: a
// capped curve at 100 tok/s a stream up to 128 per GPU, measured to 512.
func plateauRuns(c *sweep.Curve, share float64) {
	seq := 0
	c.Runs = nil
	for _, n := range []int{8, 16, 32, 64, 128, 256, 512} {
		for i := range 2 {
			seq++
			x := 100 * math.Min(float64(n), 128*share) * (1 + 0.01*float64(i))
			p99 := 100.0
			if float64(n) > 128*share {
				p99 = 3000
			}
			r := run(c.Runs, sweep.Coarse, "steady", n, x*testGPUs, p99)
			r.Seq = seq
			c.Runs = append(c.Runs, r)
		}
	}
}

func TestMissingWorkersVeto(t *testing.T) {
	for _, c := range []struct {
		name  string
		share float64
		fired bool
		says  string
	}{
		{"all there", 1, false, "holds: x1.000 of other.jsonl at 512 per GPU"},
		{"noise", 0.95, false, "holds: x0.950"},
		{"5 of 8", 0.625, true, "as with 5 of 8 workers"},
		{"6 of 8", 0.75, true, "as with 6 of 8 workers"},
	} {
		f := withAnchor(1, nil)
		ref := &f.policy.Anchors[0].Curve
		plateauRuns(ref, 1)
		for i := range ref.Runs {
			ref.Runs[i].Started = ref.Runs[i].Started.AddDate(0, 0, 3)
		}
		own := f.curve
		plateauRuns(&own, c.share)
		f.fit = own.Fit()
		if !ref.Fit().HasKnee() || !f.fit.HasKnee() {
			t.Fatalf("%s: the fixture has no knee: %s %s", c.name, ref.Fit().Status, f.fit.Status)
		}
		v := f.propose().Anchor.Vetoes[1]
		if !v.Judged || v.Fired != c.fired || !strings.Contains(v.text(), c.says) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	// Without a saturated level in common nothing is judged.
	f := withAnchor(1, nil)
	if v := f.propose().Anchor.Vetoes[1]; v.Judged || v.Fired {
		t.Errorf("%+v", v)
	}
	f.curve.Fingerprint.Labels["workers"] = "1"
	if v := f.propose().Anchor.Vetoes[1]; v.Judged || !strings.Contains(v.Says, "one worker") {
		t.Errorf("%+v", v)
	}
}

// One level is below the knee: the survivors carry its load, and it says
// nothing of missing workers.
func TestSaturatedOnly(t *testing.T) {
	f := newFixture().fit
	if saturated(f, level(128, 21200, 640)) || saturated(f, level(256, 5192, 33320)) || !saturated(f, level(200, 23000, 2000)) {
		t.Error("below the knee, or in collapse, is not saturated")
	}
	if _, _, n := commonSaturated(f, knee.Fit{}); n != 0 {
		t.Errorf("no reference, and yet %d", n)
	}
}

func TestPublicAnchor(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(*fixture)
		want GateState
		says string
	}{
		{"agrees", func(*fixture) {}, Met, "human anchor, at x1.000 of the public record of GB300 on eks"},
		{"not asked for", func(f *fixture) { f.policy.PublicAnchor = false }, Unmet, "no anchor"},
		{"regression", func(f *fixture) { f.policy.Profile = Regression }, Unmet, "human anchor"},
		{"just within", func(f *fixture) { f.attempts(sweep.Confirm, 128, scaled(healthyX(), 0.751), healthyP99()) }, Met, "x0.751"},
		{"too slow", func(f *fixture) { f.attempts(sweep.Confirm, 128, scaled(healthyX(), 0.749), healthyP99()) }, Unmet, "vouches for nothing"},
		{"too fast", func(f *fixture) { f.attempts(sweep.Confirm, 128, scaled(healthyX(), 1.251), healthyP99()) }, Unmet, "vouches for nothing"},
		{"another service", func(f *fixture) { f.policy.Service = "gke" }, Unmet, "no healthy run of GB300 on gke"},
		{"no service", func(f *fixture) { f.policy.Service = "" }, Unmet, "does not state its service"},
		{"eight GPUs", func(f *fixture) { f.curve.Fingerprint.GPUs = 8 }, Unmet, "of 4 GPUs, not of 8"},
		{"another model", func(f *fixture) { f.curve.Fingerprint.Model = "other" }, Unmet, "not of other"},
		{"another workload", func(f *fixture) { f.curve.Fingerprint.Workload.OSL = 256 }, Unmet, "AICR's workload"},
		{"another device", func(f *fixture) { f.curve.Fingerprint.Labels["gpu_product"] = "B200" }, Unmet, "no healthy run of B200"},
		{"an unknown device", func(f *fixture) { f.curve.Fingerprint.Labels["gpu_product"] = "X" }, Unmet, "not stated or not known"},
		{"a load never measured", func(f *fixture) {
			f.curve.Fingerprint.Labels["gpu_product"], f.curve.Fingerprint.GPUs, f.policy.Service = "H100", 8, "aks"
			f.fit.Levels = f.fit.Levels[:5]
		}, Unmet, "256 per GPU, its load, was not measured"},
		{"the sweep's level of its load", func(f *fixture) {
			f.curve.Fingerprint.Labels["gpu_product"], f.curve.Fingerprint.GPUs, f.policy.Service = "H100", 8, "aks"
			f.level(256).TokPerSecPerGPU = 18000
		}, Met, "x0.994 of the public record of H100 on aks"},
		{"a flagged level", func(f *fixture) {
			f.curve.Fingerprint.Labels["gpu_product"], f.curve.Fingerprint.GPUs, f.policy.Service = "H100", 8, "aks"
			f.level(256).Flags = []string{"split"}
		}, Unmet, "is flagged"},
	} {
		f := newFixture()
		f.curve.Fingerprint.GPUs = 4
		f.attempts(sweep.Confirm, 128, healthyX(), healthyP99())
		f.policy.PublicAnchor, f.policy.Service = true, "eks"
		c.bend(f)
		if g := gate(f.propose(), "C7"); g.State != c.want || !strings.Contains(g.Observed, c.says) {
			t.Errorf("%s: %+v", c.name, g)
		}
	}
}
