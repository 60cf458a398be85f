package calibrate

import (
	"regexp"
	"strings"
	"testing"
)

// commentItem is something that the comment of an overlay must say, or say that
// it is unknown.
type commentItem struct {
	name, known string
	unknown     string // "" where there is always a value
}

func commentItems() []commentItem {
	const number = `[0-9][0-9.]*`
	unstated := func(name string) string { return `Not known: not stated: [^;]*\b` + name + `\b` }
	return []commentItem{
		{"accelerator", `Stated: accelerator \S+,`, unstated("accelerator")},
		{"instance", `\binstance \S+,`, unstated("instance")},
		{"GPUs", number + ` GPUs?; model`, ""},
		{"model", `model \S+; workload`, ""},
		{"workload", `workload \S+ \(ISL ` + number + `, OSL ` + number, ""},
		{"precision", `\bprecision \S+,`, unstated("precision")},
		{"GPUs per worker", `GPUs per worker ` + number, unstated("GPUs per worker")},
		{"GPUs per worker beside the concurrency", `at ` + number + ` in flight per GPU \(` + number + ` GPUs per worker`, `\(GPUs per worker not stated\)`},
		{"concurrency", `Measured at ` + number + ` in flight per GPU \(` + number + ` in total`, ""},
		{"median throughput", `median ` + number + ` output tok/s per GPU`, ""},
		{"median TTFT p99", `TTFT p99 ` + number + ` ms, over`, ""},
		{"spread within a deployment", `within a deployment s_w ` + number, ""},
		{"spread between deployments", `between deployments s_b ` + number + ` [^a]`, `between deployments s_b ` + number + ` assumed`},
		{"runs", number + ` gate runs of ` + number + ` attempts`, ""},
		{"windows", `In ` + number + ` windows?: `, ""},
		{"dates", `windows?: .* from [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]+ UTC`, `on an unknown date`},
		{"image", `\bimage \S+,`, unstated("image")},
		{"router", `\brouter \S+[,.]`, unstated("router")},
		{"run kind", `Both rest on gate runs \(AICR's protocol`, ""},
		{"estimator", `whole-run estimator\); the knee on steady runs \(window estimator\)`, ""},
		{"tolerance assumed", `Effective after the evaluator's tolerance of 0\.10`, ""},
		{"rule of the floor", `Floor, portable profile: min\(0\.85 x median, L/0\.9\)`, ""},
		{"rule of the ceiling", `Ceiling: 2 x the median TTFT p99`, ""},
		{"rule of the point", `0\.8 x the knee`, ""},
		{"knee", `knee ` + number + ` per GPU \(interval ` + number + ` to ` + number + `\)`, ""},
		{"written gate", `Written: TTFT p99 <= ` + number + ` ms, throughput >= ` + number + ` a GPU`, ""},
		{"effective gate", `TTFT p99 <= ` + number + ` ms, throughput >= ` + number + ` tok/s per GPU \(` + number + ` % of the median`, ""},
		{"other profile", `The regression profile would be ` + number, ""},
		{"anchor", `Anchor: (strong|HUMAN)`, `Anchor: none`},
		{"equivalence to AICR's template", `evaluator's template: (equal|differs)`, `evaluator's template: unverified`},
		{"validity over node sizes", `Valid for 1 to ` + number, `Valid for ` + number + ` GPUs? only`},
		{"blind spots", `Likely missed by one gate run: .*\(reads x` + number + `, caught ` + number + ` %`, ""},
		{"what is not known", `Not known: `, ""},
		{"fingerprint and tool", `Fingerprint sha256:[0-9a-f]{16}, perfsweep \S+, profile portable, effort standard`, ""},
		{"what an older evaluator does", `an evaluator that does not know it ignores it`, ""},
	}
}

// Every item stands in the comment with a value, or as unknown, and never as both.
func TestCommentHasEveryItem(t *testing.T) {
	stated := newFixture()
	stated.curve.Fingerprint.Simulated = false
	l := stated.curve.Fingerprint.Labels
	l["instance"], l["precision"], l["gpus_per_worker"], l["image"] = "p6e-gb300r.36xlarge", "NVFP4", "2", "r/vllm-runtime:1.2.1"
	stated.curve.Fingerprint.RoutingMode = "least-loaded"
	silent := newFixture().simulated()
	silent.curve.Fingerprint.Labels = nil
	for name, f := range map[string]*fixture{"stated": stated, "silent": silent} {
		text := strings.Join(f.propose().Comment, " ")
		for _, i := range commentItems() {
			known := regexp.MustCompile(i.known).MatchString(text)
			unknown := i.unknown != "" && regexp.MustCompile(i.unknown).MatchString(text)
			if known == unknown {
				t.Errorf("%s: %s: with a value %v, as unknown %v:\n%s", name, i.name, known, unknown, text)
			}
			label := strings.Contains(i.unknown, "not stated")
			if label && known != (name == "stated") {
				t.Errorf("%s: %s is said to be known: %v", name, i.name, known)
			}
		}
	}
}

// Answers that say another model than was asked for are told beside its name.
func TestCommentTellsOfServedModel(t *testing.T) {
	for served, want := range map[string]string{
		"":                   "model " + testModel + "; workload",
		"org/other\u202e\n{": "model " + testModel + " (its answers say org/other",
	} {
		f := newFixture()
		f.curve.Preflight.ServedModel = served
		if text := strings.Join(f.propose().Comment, " "); !strings.Contains(text, want) || strings.ContainsAny(text, "\u202e\n") {
			t.Errorf("%q: %s", served, text)
		}
	}
}
