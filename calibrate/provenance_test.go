package calibrate

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

func writtenAt() time.Time { return time.Date(2026, 9, 3, 10, 0, 0, 0, time.UTC) }

func proved(f *fixture) (Provenance, Proposal) {
	p := f.propose()
	e := Edit{Overlay: "dir/o.yaml", Old: []byte("old"), New: []byte("new"), Gate: p.Gate, At: writtenAt()}
	return NewProvenance(f.curve, p, f.policy, e, nil), p
}

func encoded(t *testing.T, p Provenance) []byte {
	t.Helper()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestProvenanceRoundTrip(t *testing.T) {
	f := newFixture().simulated()
	f.curve.Fingerprint.ExtraBody = map[string]json.RawMessage{"a": json.RawMessage(`{"b":[1,2]}`)}
	p, proposal := proved(f)
	b := encoded(t, p)
	back, err := ParseProvenance("o.provenance.json", b)
	if err != nil {
		t.Fatal(err)
	}
	if again := encoded(t, back); !bytes.Equal(b, again) {
		t.Errorf("read and written again it differs:\n%s\n%s", b, again)
	}
	if len(back.BaselineRuns) != 5 || back.BaselineRuns[0].TokPerSecPerGPU != 21197 || back.BaselineRuns[0].TTFTP99MS != 677 {
		t.Errorf("baseline runs %+v", back.BaselineRuns)
	}
	for what, ok := range map[string]bool{
		"dates":   back.Measured == "2026-09-02T08:08:00Z" && back.Written == "2026-09-03T10:00:00Z" && back.CampaignStarted == "2026-09-01T08:00:00Z",
		"floors":  back.Limits.Portable == proposal.Limits.Portable && back.Limits.Regression > back.Limits.Portable,
		"knee":    back.Knee.Knee == 200 && back.Knee.Low == 150 && back.Knee.High == 260 && back.Knee.Status == "knee",
		"overlay": back.Overlay == "o.yaml" && back.OverlaySHA256 != back.ReplacedOverlaySHA256,
		"lists":   reflect.DeepEqual(back.FaultPower, proposal.Sensitivity) && len(back.BlindSpots) > 0 && len(back.NotKnown) > 0,
		"rule":    strings.HasPrefix(back.Rule, "floor = min(0.85 x median") && back.Estimator == "whole_run" && back.RunKind == "gate",
	} {
		if !ok {
			t.Errorf("%s are wrong in\n%s", what, b)
		}
	}
}

// An edit that changes nothing keeps the sidecar's bytes, at whatever time.
func TestProvenanceIdempotent(t *testing.T) {
	f := newFixture().simulated()
	first, p := proved(f)
	e := Edit{Overlay: "dir/o.yaml", Old: []byte("new"), New: []byte("new"), Gate: p.Gate, At: writtenAt().Add(time.Hour)}
	if again := NewProvenance(f.curve, p, f.policy, e, &first); !bytes.Equal(encoded(t, first), encoded(t, again)) {
		t.Error("a second write of the same changes the sidecar")
	}
	if other := NewProvenance(f.curve, p, f.policy, e, nil); other.Written == first.Written {
		t.Error("a sidecar that was lost cannot keep its date")
	}
}

// Each key that is removed, nulled or misspelt is an error that names it.
func TestParseProvenanceStrict(t *testing.T) {
	p, _ := proved(newFixture().simulated())
	b := encoded(t, p)
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		t.Fatal(err)
	}
	refused := func(what, key string, m map[string]json.RawMessage) {
		t.Helper()
		bent, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ParseProvenance("side.json", bent)
		if err == nil || !strings.Contains(err.Error(), "side.json") || !strings.Contains(err.Error(), key) {
			t.Errorf("%s %s: %v", key, what, err)
		}
	}
	for k := range keys {
		m := maps.Clone(keys)
		delete(m, k)
		refused("missing", k, m)
		m[strings.ToUpper(k)] = keys[k]
		refused("misspelt", k, m)
		m = maps.Clone(keys)
		m[k] = json.RawMessage("null")
		refused("null", k, m)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"schema_version": 1`, `"schema_version": 2`, "schema_version is 2"},
		{`"tool_version"`, `"more": 1, "tool_version"`, `"more" is not known`},
		{`"ttft_p50_ms": 200,`, ``, "baseline_runs[0].ttft_p50_ms is missing"},
		{`"degrees_of_freedom"`, `"freedom"`, "limits.degrees_of_freedom is missing"},
		{`"gpus": 8`, `"gpus": 4`, "fingerprint_sha256"},
		{`"concurrency_per_gpu": 128,`, `"concurrency_per_gpu": 64,`, "gate_sha256"},
		{`"evaluator_tolerance_ratio": 0.1`, `"evaluator_tolerance_ratio": 7`, "evaluator_tolerance_ratio"},
		{`"outcome": "SIMULATED"`, `"outcome": "PROVISIONAL"`, "outcome"},
		{`"written": "2026`, `"written": "soon`, "written"},
		{`"validity": {
    "min_gpus": `, `"validity": {
    "min_gpus": -`, "validity.min_gpus"},
		{`"s_within": `, `"s_within": -`, "limits.s_within"},
		{"\"effective_gate\": {\n    \"floor_output_tok_per_s_per_gpu\": ", "\"effective_gate\": {\n    \"floor_output_tok_per_s_per_gpu\": -", "effective_gate.floor"},
		{`"measured": "` + p.Measured, `"measured": "`, "measured is empty"},
		{`"node_gpus": `, `"node_gpus": -1`, "node_gpus"},
		{`"output_tok_per_s_per_gpu": 21197`, `"output_tok_per_s_per_gpu": -1`, "baseline_runs[0]"},
	} {
		bent := strings.Replace(string(b), c.from, c.to, 1)
		if bent == string(b) {
			t.Fatalf("%s does not occur", c.from)
		}
		if _, err := ParseProvenance("side.json", []byte(bent)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
	for _, junk := range []string{"", "null", "[]", "{}", string(b) + "{}", string(b[:len(b)/2])} {
		if _, err := ParseProvenance("side.json", []byte(junk)); err == nil {
			t.Errorf("%.20q was read", junk)
		}
	}
}

func FuzzParseProvenance(f *testing.F) {
	p, _ := proved(newFixture().simulated())
	b, err := p.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema_version":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseProvenance("side.json", b)
		if err != nil {
			return
		}
		again := encoded(t, p)
		if back, err := ParseProvenance("side.json", again); err != nil || !bytes.Equal(again, encoded(t, back)) {
			t.Errorf("what was read cannot be written and read again: %v", err)
		}
		JudgeProvenance("side.json", &p, OverlayState{}, sweep.Curve{})
	})
}

func TestJudgeProvenance(t *testing.T) {
	label := func(k, v string) func(*sweep.Fingerprint) {
		return func(f *sweep.Fingerprint) { f.Labels[k] = v }
	}
	for _, c := range []struct {
		name  string
		was   func(*fixture)
		now   func(*sweep.Fingerprint)
		gate  func(*recipes.Gate)
		bytes string
		state ProvenanceState
		says  string
	}{
		{name: "the same", state: ProvenanceMatches},
		{name: "elsewhere", now: func(f *sweep.Fingerprint) { f.Target = "sim:gb300?gpus=8&x=1"; f.Labels["node"] = "b" }, state: ProvenanceMatches},
		{name: "another build", now: func(f *sweep.Fingerprint) { f.ToolVersion = "v9" }, state: ProvenanceMatches},
		{name: "a smaller node, portable", now: func(f *sweep.Fingerprint) { f.GPUs = 4; f.Labels["workers"] = "4" }, state: ProvenanceMatches, says: "measured on 4 GPUs, the floor was shown to hold for 8 to 8"},
		{name: "a smaller node, regression", was: func(f *fixture) { f.policy.Profile = Regression }, now: func(f *sweep.Fingerprint) { f.GPUs = 4 }, state: ProvenanceStale, says: "gpus: 8, now 4"},
		{name: "another model", now: func(f *sweep.Fingerprint) { f.Model = "other" }, state: ProvenanceStale, says: "stale, re-baseline"},
		{name: "another workload", now: func(f *sweep.Fingerprint) { f.Workload.OSL = 256 }, state: ProvenanceStale, says: "workload.osl: 128, now 256"},
		{name: "another product", now: label("gpu_product", "H100"), state: ProvenanceStale, says: "gpu_product: GB300, now H100"},
		{name: "FP8 against NVFP4", was: func(f *fixture) { f.curve.Fingerprint.Labels["precision"] = "FP8" }, now: label("precision", "NVFP4"), state: ProvenanceStale, says: "precision: FP8, now NVFP4"},
		{name: "another tensor parallel size", was: func(f *fixture) { f.curve.Fingerprint.Labels["gpus_per_worker"] = "2" }, now: label("gpus_per_worker", "4"), state: ProvenanceStale, says: "gpus_per_worker: 2, now 4"},
		{name: "precision not stated now", was: func(f *fixture) { f.curve.Fingerprint.Labels["precision"] = "FP8" }, now: func(f *sweep.Fingerprint) { delete(f.Labels, "precision") }, state: ProvenanceUnproved, says: "precision: calibrated FP8, now not stated"},
		{name: "precision not stated then", now: label("precision", "FP8"), state: ProvenanceUnproved, says: "precision: calibrated not stated, now FP8"},
		{name: "image not stated then", now: label("image", "b"), state: ProvenanceMatches, says: "image: calibrated not stated, now b"},
		{name: "edited", gate: func(g *recipes.Gate) { g.FloorPerGPU = 17000 }, state: ProvenanceEdited, says: "inference-throughput-per-gpu: calibrated 18000, now 17000"},
		{name: "edited in the fifth digit", gate: func(g *recipes.Gate) { g.CeilingTTFTP99MS += 0.001 }, state: ProvenanceEdited, says: "fourth digit"},
		{name: "edited and stale", gate: func(g *recipes.Gate) { g.FloorPerGPU = 17000 }, now: func(f *sweep.Fingerprint) { f.Model = "other" }, state: ProvenanceStale, says: "edited after"},
		{name: "interrupted", gate: func(g *recipes.Gate) { g.FloorPerGPU = 17000 }, bytes: "old", state: ProvenanceInterrupted, says: "never written"},
		{name: "written again unchanged", bytes: "old", state: ProvenanceMatches},
	} {
		f := newFixture().simulated()
		if c.was != nil {
			c.was(f)
		}
		p, _ := proved(f)
		o := OverlayState{Bytes: []byte("new"), Gate: p.Gate}
		if c.bytes != "" {
			o.Bytes = []byte(c.bytes)
		}
		if c.gate != nil {
			c.gate(&o.Gate)
		}
		now := f.curve
		now.Fingerprint.Labels = maps.Clone(now.Fingerprint.Labels)
		if c.now != nil {
			c.now(&now.Fingerprint)
		}
		got := JudgeProvenance("o.provenance.json", &p, o, now)
		if says := strings.Join(got.Says, "; "); got.State != c.state || !strings.Contains(says, c.says) || (c.says == "") != (says == "") {
			t.Errorf("%s: %s %q, want %s %q", c.name, got.State, says, c.state, c.says)
		}
	}
	if got := JudgeProvenance("x", nil, OverlayState{}, sweep.Curve{}); got.State != ProvenanceMissing || len(got.Says) != 1 {
		t.Errorf("no sidecar: %+v", got)
	}
}

// A stale run is never called a regression, and what was inconclusive stays so.
func TestCheckWithProvenance(t *testing.T) {
	says := []string{"stale, re-baseline"}
	for _, v := range []Verdict{Pass, Fail, Inconclusive} {
		r := CheckResult{Verdict: v, Reasons: []string{"throughput is below the floor"}}
		r.Effective.Pass, r.Effective.Reasons = v == Pass, []string{"x"}
		got := r.With(ProvenanceResult{State: ProvenanceStale, Says: says})
		if got.Verdict != Inconclusive || got.Reasons[0] != says[0] || got.Effective.Pass || len(got.Effective.Reasons) > 0 {
			t.Errorf("%s: %+v", v, got)
		}
		if kept := len(got.Reasons) > 1; kept != (v == Inconclusive) {
			t.Errorf("%s: reasons %q", v, got.Reasons)
		}
		for _, s := range []ProvenanceState{ProvenanceMatches, ProvenanceEdited, ProvenanceMissing} {
			if got := r.With(ProvenanceResult{State: s, Says: says}); got.Verdict != v || len(got.Reasons) != 2 {
				t.Errorf("%s, %s: %+v", v, s, got)
			}
		}
	}
}

// The noise that a matching sidecar keeps scales C1 as a baseline's does; that of
// something else does not.
func TestSidecarNoise(t *testing.T) {
	f := newFixture()
	f.fit.Noise = 0.05
	p, _ := proved(f)
	if p.Knee.NoiseSD != 0.05 || p.Knee.NoiseDF != 12 {
		t.Fatalf("%+v", p.Knee)
	}
	wide := []float64{21197, 21197, 21197 * 0.83} // T(3, .05, 12) = .2867, 15 % = .1625
	for _, c := range []struct {
		name string
		bend func(p *Provenance, o *OverlayState, now *sweep.Curve)
		c1   bool
	}{
		{"matching", func(*Provenance, *OverlayState, *sweep.Curve) {}, false},
		{"few degrees of freedom", func(p *Provenance, _ *OverlayState, _ *sweep.Curve) { p.Knee.NoiseDF = 3 }, true},
		{"a quiet sweep", func(p *Provenance, _ *OverlayState, _ *sweep.Curve) { p.Knee.NoiseSD = 0.01 }, true},
		{"another workload", func(_ *Provenance, _ *OverlayState, now *sweep.Curve) { now.Fingerprint.Workload.Seed = 7 }, true},
		{"an edited gate", func(_ *Provenance, o *OverlayState, _ *sweep.Curve) { o.Gate.FloorPerGPU-- }, true},
	} {
		side, state := p, OverlayState{Bytes: []byte("new"), Gate: p.Gate}
		now := checkFixture(wide, steadyP99[:3]).curve
		c.bend(&side, &state, &now)
		r := Sidecar{Name: "o.provenance.json", Provenance: &side, Overlay: state}.Check(p.Gate, now, 8, nil)
		if got := strings.Contains(strings.Join(r.Reasons, "\n"), "(C1: gap"); got != c.c1 || !c.c1 && r.Verdict != Pass {
			t.Errorf("%s: %s %q", c.name, r.Verdict, r.Reasons)
		}
		if got := Check(p.Gate, now, 8, nil); !strings.Contains(strings.Join(got.Reasons, "\n"), "(C1: gap") {
			t.Errorf("%s: without a sidecar the 15 %% rule holds: %q", c.name, got.Reasons)
		}
	}
}
