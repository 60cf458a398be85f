package recipes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// emulated is a case: a recipe, a measurement, AICR's conclusion, and what
// Evaluate concludes of the same.
type emulated struct {
	name   string
	recipe string // "name value" a line
	m      Measured
	want   string // AICR: passed, skipped, not run, or the code of the failure
	says   string // part of its message, or of a note where there is no message
	ours   string // pass, fail, or the code of the error
	bend   func(*AICRInput)
}

const (
	emFloor  = "inference-throughput >= 50000"
	emPerGPU = "inference-throughput-per-gpu >= 6800"
	emTTFT   = "inference-ttft-p99 <= 2000"
)

// emulatedCases are the rules of AICR's check one by one.
func emulatedCases() []emulated {
	ok := Measured{TokPerSec: 108789.87, TTFTP99MS: 687.5, GPUs: 8, GPUsPerNode: 8}
	at := func(tok, ttft float64, gpus, node int) Measured { return Measured{tok, ttft, gpus, node} }
	env := func(name, value string) func(*AICRInput) {
		return func(in *AICRInput) { in.Env[envPrefix+name] = value }
	}
	return []emulated{
		// The verdict and its order.
		{"the shared pair", emFloor + "\n" + emTTFT, ok, "passed", "", "pass", nil},
		{"at both tolerances", emFloor + "\n" + emTTFT, at(45000, 2200, 8, 8), "passed", "", "pass", nil},
		{"below the floor", emFloor, at(44999.99, 1, 8, 8), CodeInternal, `inference throughput 44999.99 tokens/sec does not satisfy constraint ">= 50000" (with 10% tolerance)`, "fail", nil},
		{"above the ceiling", emTTFT, at(1, 2200.01, 8, 8), CodeInternal, `inference TTFT p99 2200.01 ms does not satisfy constraint "<= 2000" (with 10% tolerance)`, "fail", nil},
		{"both fail, one is said", emFloor + "\n" + emTTFT, at(20769, 33320, 4, 4), CodeInternal, "[INTERNAL] inference throughput 20769.00", "fail", nil},
		{"no gate", "inference-model a/b", ok, "skipped", "[INTERNAL] no inference-throughput or inference-ttft-p99 constraint in recipe: skip", CodeNoGate, nil},
		{"check not listed", emFloor, at(1, 1, 8, 8), "not run", "nothing is judged", "fail", func(in *AICRInput) { in.Checks = nil }},
		{"no dynamo-platform", emFloor, at(1, 1, 8, 8), "skipped", "skipped - dynamo-platform not in recipe components", "fail", func(in *AICRInput) { in.Components = []string{"grove"} }},
		{"operator not installed", emFloor, ok, "NOT_FOUND", "DynamoGraphDeployment", "pass", func(in *AICRInput) { in.OperatorMissing = true }},

		// Partial occupancy, and what is not scaled.
		{"4 of 8 GPUs", emFloor, at(22500, 1, 4, 8), "passed", "scaled to 25000", "pass", nil},
		{"2 of 8 GPUs", emFloor, at(11249, 1, 2, 8), CodeInternal, "11249.00", "fail", nil},
		{"GPUs unknown", emFloor, at(44999, 1, 0, 8), CodeInternal, "44999.00", "fail", nil},
		{"node unknown", emFloor, at(44999, 1, 2, 0), CodeInternal, "44999.00", "fail", nil},
		{"more GPUs than the node", emFloor, at(44999, 1, 9, 8), CodeInternal, "44999.00", "fail", nil},
		{"a full small node", emFloor, at(27000, 1, 2, 2), CodeInternal, "27000.00", "fail", nil},
		{"TTFT is not scaled", emTTFT, at(1, 2200.01, 2, 8), CodeInternal, "2200.01", "fail", nil},

		// The per-GPU name is not known.
		{"per GPU alone", emPerGPU, at(1, 1, 8, 8), "skipped", "no inference-throughput or", "fail", nil},
		{"per GPU and TTFT", emPerGPU + "\n" + emTTFT, at(1, 688, 8, 8), "passed", "inference-throughput-per-gpu is ignored", "fail", nil},
		{"both floors", emPerGPU + "\n" + emFloor, at(45000, 1, 8, 8), "passed", "inference-throughput-per-gpu is ignored", CodeInvalidRequest, nil},
		{"per GPU without GPUs", emPerGPU + "\n" + emTTFT, at(1, 688, 0, 0), "passed", "is ignored", CodeInternal, nil},

		// Missing metrics read as 0.
		{"TTFT missing", emTTFT, at(108790, 0, 8, 8), "passed", "AICR reads 0, which passes every ceiling", CodeInternal, nil},
		{"TTFT missing beside a floor", emFloor + "\n" + emTTFT, at(108790, 0, 8, 8), "passed", "AICR reads 0", CodeInternal, nil},
		{"throughput missing", emFloor, at(0, 688, 8, 8), CodeInternal, "inference throughput 0.00", CodeInternal, nil},
		{"throughput missing, TTFT only", emTTFT, at(0, 688, 8, 8), "passed", "", "pass", nil},

		// Names.
		{"an unknown name", "inference-throughputs >= 1\n" + emTTFT, ok, "passed", "inference-throughputs is ignored", "pass", nil},
		{"a name twice", emFloor + "\ninference-throughput >= 1", at(2, 1, 8, 8), CodeInternal, ">= 50000", CodeInvalidRequest, nil},
		{"a name of another check", "nccl-all-reduce-bw >= 100\n" + emTTFT, ok, "passed", "", "pass", nil},

		// Inputs: recipe, then environment, then default.
		{"concurrency 0", emFloor + "\ninference-concurrency-per-gpu 0", ok, CodeInvalidRequest, `invalid inference-concurrency-per-gpu="0": must be a positive integer`, CodeInvalidRequest, nil},
		{"concurrency 1.5", emFloor + "\ninference-concurrency-per-gpu 1.5", ok, CodeInvalidRequest, `"1.5"`, CodeInvalidRequest, nil},
		{"concurrency +5", emFloor + "\ninference-concurrency-per-gpu +5", ok, "passed", "", CodeInvalidRequest, nil},
		{"model with a space", emFloor + "\ninference-model a b", ok, CodeInvalidRequest, `invalid inference model "a b": must be a Hugging Face model ID`, CodeInvalidRequest, nil},
		{"routing kv", emFloor + "\ninference-routing-mode kv", ok, CodeInvalidRequest, `invalid inference-routing-mode="kv": must be "dynamo-router" or "gateway-epp"`, CodeInvalidRequest, nil},
		{"routing gateway-epp", emFloor + "\ninference-routing-mode gateway-epp", ok, "passed", "", "pass", nil},
		{"bad knob", emFloor, ok, CodeInvalidRequest, `invalid AICR_INFERENCE_PERF_MIN_REQUESTS="many": must be a positive integer`, "pass", env("MIN_REQUESTS", "many")},
		{"bad knob that the recipe overrules", emFloor + "\ninference-concurrency-per-gpu 64", ok, CodeInvalidRequest, `="-1"`, "pass", env("CONCURRENCY_PER_GPU", "-1")},
		{"bad duration", emFloor, ok, CodeInvalidRequest, "HEALTH_TIMEOUT", "pass", env("HEALTH_TIMEOUT", "5")},
		{"bad populate timeout", emFloor, ok, CodeInvalidRequest, "MODEL_CACHE_POPULATE_TIMEOUT", "pass", env("MODEL_CACHE_POPULATE_TIMEOUT", "0s")},
		{"direct router", emFloor, ok, CodeInvalidRequest, `AICR_INFERENCE_PERF_ROUTER_MODE="direct"`, "pass", env("ROUTER_MODE", "direct")},
		{"kv router", emFloor, ok, "passed", "", "pass", env("ROUTER_MODE", "kv")},
		{"knob +8", emFloor, ok, "passed", "", "pass", env("REQUESTS_PER_CONCURRENCY", "+8")},
		{"a long model", emFloor + "\ninference-model " + strings.Repeat("m", 300), ok, "passed", "", CodeInvalidRequest, nil},
		{"spaces around inputs", emFloor + "\ninference-model  a/b \ninference-concurrency-per-gpu  64 ", ok, "passed", "", CodeInvalidRequest, nil},
		{"concurrency 064", emFloor + "\ninference-concurrency-per-gpu 064", ok, "passed", "", CodeInvalidRequest, nil},
		{"an underscore in a number", "inference-throughput >= 50_000", ok, "passed", "which AICR reads as 50000", CodeInvalidRequest, nil},
		{"what docs say of the exit", "inference-throughput 5", ok, CodeInvalidRequest, "documentation gives 2", CodeInvalidRequest, nil},
		{"another unit", "inference-throughput >= 50 ktok/s", ok, "passed", "", CodeInvalidRequest, nil},
		{"a ceiling in seconds", "inference-ttft-p99 <= 2 s", ok, CodeInternal, `"<= 2 s"`, CodeInvalidRequest, nil},
		{"no gate before bad knob", "inference-model a/b", ok, "skipped", "no inference-throughput", CodeNoGate, env("MIN_REQUESTS", "many")},
		{"bad knob before no platform", emFloor, ok, CodeInvalidRequest, "MIN_REQUESTS", "pass", func(in *AICRInput) { env("MIN_REQUESTS", "0")(in); in.Components = nil }},
		{"old validator", emFloor + "\ninference-concurrency-per-gpu 64", ok, "passed", "runs Qwen/Qwen3-8B at 256 per GPU", "pass", func(in *AICRInput) { in.IgnoresInputs = true }},
	}
}

// emulate makes the input of a case.
func (c emulated) input() AICRInput {
	in := AICRInput{Checks: []string{"inference-perf"}, Components: []string{"grove", "dynamo-platform"}, Env: map[string]string{}, Measured: c.m}
	for line := range strings.SplitSeq(c.recipe, "\n") {
		name, value, _ := strings.Cut(line, " ")
		in.Constraints = append(in.Constraints, Constraint{name, value})
	}
	if c.bend != nil {
		c.bend(&in)
	}
	return in
}

// allEmulatedCases adds the grammar of the two thresholds, value by value.
func allEmulatedCases() []emulated {
	cases := emulatedCases()
	ok := Measured{TokPerSec: 108789.87, TTFTP99MS: 687.5, GPUs: 8, GPUsPerNode: 8}
	say := func(name, value, want, says, ours string) {
		cases = append(cases, emulated{name + " " + value, name + " " + value, ok, want, says, ours, nil})
	}
	for _, v := range []string{"> 5000", "== 5000", "!= 5000", "5000", "<= 5000", ""} {
		say(NameFloor, v, CodeInvalidRequest, fmt.Sprintf(`inference-throughput constraint must start with ">=" (got %q)`, v), CodeInvalidRequest)
	}
	for _, v := range []string{">== 5000", ">= =5000", ">=   !5000"} {
		say(NameFloor, v, CodeInvalidRequest, fmt.Sprintf(`must start with exactly ">=" (got %q)`, v), CodeInvalidRequest)
	}
	for _, v := range []string{"< 200", "== 200", "200", ">= 200"} {
		say(NameCeiling, v, CodeInvalidRequest, fmt.Sprintf(`inference-ttft-p99 constraint must start with "<=" (got %q)`, v), CodeInvalidRequest)
	}
	for _, v := range []string{"<== 200", "<= =200"} {
		say(NameCeiling, v, CodeInvalidRequest, `must start with exactly "<="`, CodeInvalidRequest)
	}
	for _, v := range []string{">=5000", ">= 5000 tok/s", "  >= 5000"} {
		say(NameFloor, v, "passed", "", "pass")
	}
	for _, v := range []string{"<=687.5", "<= 2000 ms"} {
		say(NameCeiling, v, "passed", "", "pass")
	}
	say(NameFloor, ">= 50,000", CodeInvalidRequest, `[INVALID_REQUEST] invalid throughput threshold: [INVALID_REQUEST] invalid threshold format: strconv.ParseFloat: parsing "50,000": invalid syntax`, CodeInvalidRequest)
	say(NameFloor, ">= 50000tok/s", CodeInvalidRequest, "invalid threshold format", CodeInvalidRequest)
	say(NameFloor, ">=", CodeInvalidRequest, `no numeric value found in ">="`, CodeInvalidRequest)
	say(NameCeiling, "<= 200ms", CodeInvalidRequest, "invalid TTFT threshold", CodeInvalidRequest)
	// What Go's number parser takes, and Evaluate does not.
	say(NameFloor, ">= NaN", "passed", "which no measurement can fail", CodeInvalidRequest)
	say(NameFloor, ">= -1", "passed", "which no measurement can fail", CodeInvalidRequest)
	say(NameFloor, ">= 0", "passed", "which no measurement can fail", CodeInvalidRequest)
	say(NameFloor, ">= 1e5", "passed", "AICR reads as 100000", CodeInvalidRequest)
	say(NameFloor, ">= 0x1p4", "passed", "AICR reads as 16", CodeInvalidRequest)
	say(NameFloor, ">= Inf", CodeInternal, "does not satisfy", CodeInvalidRequest)
	say(NameFloor, ">= 50 000", "passed", "", CodeInvalidRequest) // it reads 50
	say(NameCeiling, "<= Inf", "passed", "which no measurement can fail", CodeInvalidRequest)
	say(NameCeiling, "<= NaN", "passed", "which no measurement can fail", CodeInvalidRequest)
	say(NameCeiling, "<= -1", CodeInternal, "does not satisfy", CodeInvalidRequest)
	return cases
}

func TestEmulateAICR(t *testing.T) {
	for _, c := range allEmulatedCases() {
		t.Run(c.name, func(t *testing.T) { c.judge(t) })
	}
}

func (c emulated) judge(t *testing.T) {
	in := c.input()
	out := EmulateAICR(in)
	got := string(out.Status)
	if out.Status == AICRFailed {
		got = out.Code
	}
	if got != c.want || !strings.Contains(out.Message+strings.Join(out.Notes, "\n"), c.says) {
		t.Errorf("%+v, want %s with %q", out, c.want, c.says)
	}
	exits := map[AICRStatus][2]int{AICRPassed: {0, 0}, AICRSkipped: {2, 0}, AICRNotRun: {0, 0}, AICRFailed: {1, 8}}
	if got := [2]int{out.ContainerExit, out.ValidateExit}; got != exits[out.Status] {
		t.Errorf("exits %v", got)
	}
	if out.Benchmarked != (len(out.Stdout) >= 2) || out.Status == AICRPassed && len(out.Stdout) < 3 {
		t.Errorf("%+v", out)
	}
	g, err := GateOf(in.Constraints)
	var e Evaluation
	if err == nil {
		e, err = Evaluate(g, c.m)
	}
	ours := map[bool]string{true: "pass", false: "fail"}[e.Pass]
	var code *EvaluateError
	if errors.As(err, &code) {
		ours = code.Code
	}
	if ours != c.ours {
		t.Errorf("Evaluate: %s (%v), want %s", ours, err, c.ours)
	}
}

// The inputs that AICR would run with.
func TestEmulateAICRInputs(t *testing.T) {
	const env = "env/model"
	for name, c := range map[string]struct {
		recipe string
		env    bool
		model  string
		conc   int
	}{
		"default": {emTTFT, false, "Qwen/Qwen3-8B", 256},
		"env":     {emTTFT, true, env, 32},
		"recipe":  {emTTFT + "\ninference-model a/b\ninference-concurrency-per-gpu 128", true, "a/b", 128},
		"blank":   {emTTFT + "\ninference-model  \ninference-concurrency-per-gpu ", true, env, 32},
	} {
		in := emulated{recipe: c.recipe, m: Measured{1, 1, 8, 8}}.input()
		if c.env {
			in.Env = AICREnv([]string{"PATH=/bin", "AICR_INFERENCE_PERF_MODEL=" + env, "AICR_INFERENCE_PERF_CONCURRENCY_PER_GPU=32"})
		}
		if out := EmulateAICR(in); out.Model != c.model || out.ConcurrencyPerGPU != c.conc {
			t.Errorf("%s: %+v", name, out)
		}
	}
	// AICR's own example, line by line.
	out := EmulateAICR(emulated{recipe: emFloor + "\n" + emTTFT, m: Measured{108789.87, 687.5, 8, 8}}.input())
	want := []string{"RESULT: Inference throughput: 108789.87 tokens/sec", "RESULT: Inference TTFT p99: 687.50 ms", "Throughput constraint: >= 50000 → PASS", "TTFT p99 constraint: <= 2000 → PASS"}
	if !slices.Equal(out.Stdout, want) || out.Message != "" || len(out.Notes) != 0 {
		t.Errorf("%+v", out)
	}
}
