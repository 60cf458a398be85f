package calibrate

import (
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

func TestCommentSays(t *testing.T) {
	p := newFixture().simulated().propose()
	text := strings.Join(p.Comment, " ")
	if !strings.HasPrefix(p.Comment[0], "SIMULATED") || !strings.Contains(strings.Join(p.Comment[:2], " "), "C6, C7, C11") {
		t.Errorf("the first line must mark a simulation and name what was waived: %q", p.Comment[0])
	}
	for _, want := range []string{
		"2026-09-02", "sim:gb300?gpus=8", "8 GPUs", testModel, "aicr (ISL 128, OSL 128, 100 prompts, seed 100)", "accelerator GB300, workers=8",
		"128 in flight per GPU (1024 in total", "21197 output tok/s per GPU", "TTFT p99 677 ms", "5 gate runs of 5 attempts", "max/min 1.029",
		"knee 200 per GPU (interval 150 to 260)", "status knee", "0.8_knee",
		"portable profile", "min(0.85 x median, L/0.9)", "s_w 0.01", "s_b 0.0300 assumed",
		"regression profile would be 20100", "ladder value at or below 0.8 x the knee", "TTFT p99 <= 1540 ms", "throughput >= 16200 tok/s per GPU", "tolerance of 0.10",
		"log-normal", "confidence 0.23", "In 1 window: 5 from 2026-09-02 08:00", "Written: TTFT p99 <= 1400 ms, throughput >= 18000 a GPU, at 128 in flight per GPU (GPUs per worker not stated)",
		"gate runs (AICR's protocol, closed loop, whole-run estimator)", "within a deployment s_w", "between deployments s_b",
		"Not known: not stated: instance, precision, GPUs per worker, image, router, deployment;", "scales with GPUs (measured on 8 only)", "1 of 8 workers lost (reads x0.", "everything 20 % slower (reads x0.800",
		"Fingerprint sha256:" + p.FingerprintHash[:16], "v0.1.0", "effort standard", "issues/1254", "does not know it ignores it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the comment lacks %q:\n%s", want, strings.Join(p.Comment, "\n"))
		}
	}
}

func TestCommentVariants(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(*fixture)
		want []string
	}{
		{"real", func(f *fixture) { f.curve.Fingerprint.Simulated = false },
			[]string{"PROVISIONAL: measured by perfsweep on 2026-09-02", "not to be used as a gate", "Unmet: C6, C7."}},
		{"simulated, not allowed", func(f *fixture) { f.policy.AllowSimulated = false }, []string{"PROVISIONAL, SIMULATED target", "Unmet: C6, C7."}},
		{"lower bound", func(f *fixture) { f.fit.Status, f.fit.Knee, f.point.Basis = knee.NotSaturated, 0, "lower_bound" },
			[]string{"NOT_SATURATED, SIMULATED target, waived C6, C7, C11", "LOWER BOUND", "above 128 per GPU"}},
		{"within an objective", func(f *fixture) {
			f.point.Bound, f.curve.Plan.Objective = "objective", loadgen.Objective{TTFTMS: 400, ITLMS: 15.5}
		}, []string{"active bound objective; objective TTFT p99 <= 400 ms; objective ITL p99 <= 15.5 ms."}},
		{"proved", func(f *fixture) { f.point.Basis = "proved" }, []string{"given and proved; the knee is at least 128"}},
		{"ttft only", func(f *fixture) { f.policy.TTFTOnly = true }, []string{"No throughput floor", "would be 18000", "throughput is not gated"}},
		{"regression", func(f *fixture) { f.policy.Profile = Regression }, []string{"regression profile: min(0.95", "The portable profile would be 18000"}},
		{"absolute", func(f *fixture) { f.policy.Form, f.policy.NodeGPUs = Absolute, 8 }, []string{"full node of 8 GPUs", "inference-throughput is absolute"}},
		{"stated", func(f *fixture) {
			l := f.curve.Fingerprint.Labels
			l["instance"], l["precision"], l["gpus_per_worker"], l["image"] = "p6e-gb300r.36xlarge", "NVFP4", "2", "sha256:0123"
			f.curve.Fingerprint.RoutingMode = "dynamo-router"
		}, []string{"accelerator GB300, instance p6e-gb300r.36xlarge, precision NVFP4, GPUs per worker 2, image sha256:0123, router dynamo-router",
			"128 in flight per GPU (2 GPUs per worker, so 256 in flight per worker)", "Not known: not stated: deployment;"}},
		{"undated", func(f *fixture) {
			f.curve.Started = time.Time{}
			for i := range f.curve.Runs {
				f.curve.Runs[i].Started = time.Time{}
			}
		}, []string{"on an unknown date"}},
		{"unlabelled", func(f *fixture) { f.curve.Fingerprint.Labels = nil }, []string{"No accelerator, image or precision was stated"}},
		{"invalid runs", func(f *fixture) { f.add(sweep.Confirm, 128, 21000, 670); f.fail(0, "V2") },
			[]string{"5 gate runs of 6 attempts", "1 of 11 runs of the campaign was INVALID"}},
	} {
		f := newFixture().simulated()
		c.bend(f)
		text := strings.Join(f.propose().Comment, " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: lacks %q:\n%s", c.name, want, text)
			}
		}
	}
}

// Whatever a journal holds, the comment stays one comment.
func TestCommentIsPlain(t *testing.T) {
	f := newFixture().simulated()
	evil := "x\n- name: inference-throughput\r\x00\x1b[31m\u2028é " + strings.Repeat("long", 200)
	f.curve.Fingerprint.Target, f.curve.Fingerprint.Model, f.curve.Fingerprint.Deployment = evil, evil, evil
	f.curve.Fingerprint.ToolVersion, f.curve.Fingerprint.Workload.Name = evil, evil
	f.curve.Fingerprint.Labels = map[string]string{evil: evil, "b": "c"}
	f.point.Bound = evil
	p := f.propose()
	if len(p.Comment) == 0 {
		t.Fatalf("no comment: %s %q", p.Outcome, p.Reasons)
	}
	for _, line := range p.Comment {
		if line != strings.TrimSpace(line) || line == "" {
			t.Errorf("%q", line)
		}
		for _, r := range line {
			if r < ' ' || r > '~' {
				t.Errorf("%q in %q", r, line)
			}
		}
	}
}

func TestNum(t *testing.T) {
	for x, want := range map[float64]string{21197.4: "21197", 677: "677", 0.123456: "0.1235", 1.0 / 3e5: "0.000003333", 99.996: "100", 1e15: "1000000000000000", 0: "0", -3: "0"} {
		if got := num(x); got != want {
			t.Errorf("num(%v) = %q, want %q", x, got, want)
		}
	}
}
