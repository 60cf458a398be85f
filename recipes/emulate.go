package recipes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// AICRInput is what AICR's inference check sees.
type AICRInput struct {
	Checks      []string
	Constraints []Constraint // of the performance phase, resolved, in order
	Components  []string     // names of componentRefs
	// OperatorMissing says that the cluster has no DynamoGraphDeployment
	// resource, which nothing but the cluster knows.
	OperatorMissing bool
	// IgnoresInputs is a validator from before recipes could pin model and load.
	IgnoresInputs bool
	Env           map[string]string // AICR_INFERENCE_PERF_…, of the validator
	Measured      Measured          // a missing metric is 0, as AICR reads it
}

// AICRStatus is the status of a check in AICR's report.
type AICRStatus string

// The statuses. NotRun is a check that the recipe does not list.
const (
	AICRPassed  AICRStatus = "passed"
	AICRFailed  AICRStatus = "failed"
	AICRSkipped AICRStatus = "skipped"
	AICRNotRun  AICRStatus = "not run"
)

// AICROutcome is what AICR concludes.
type AICROutcome struct {
	Status  AICRStatus `json:"status"`
	Code    string     `json:"code,omitempty"`    // of a failure, as AICR names its errors
	Message string     `json:"message,omitempty"` // of its report and termination log
	Stdout  []string   `json:"stdout"`
	// ContainerExit is 0 passed, 1 failed, 2 skipped; ValidateExit is that of
	// aicr validate, were this its only check.
	ContainerExit int `json:"container_exit"`
	ValidateExit  int `json:"validate_exit"`
	// Benchmarked says that the workload was deployed and measured before that.
	Benchmarked       bool   `json:"benchmarked"`
	Model             string `json:"model,omitempty"` // that AICR would ask for
	ConcurrencyPerGPU int    `json:"concurrency_per_gpu,omitempty"`
	// Notes are what this conclusion overlooks, and what of it is not known.
	Notes []string `json:"notes"`
}

// emulation walks AICR's steps; done ends the walk.
type emulation struct {
	in   AICRInput
	out  AICROutcome
	done bool
}

// EmulateAICR gives the conclusion of AICR's inference check from the same
// numbers: in its order, with its text and exit code, mistakes included. It
// follows validators/performance/{inference_perf,inference_perf_constraint}.go
// and validators/runner.go of NVIDIA/aicr as read in 2026; what could not be read
// is said in Notes. Evaluate is what the check should conclude.
func EmulateAICR(in AICRInput) AICROutcome {
	e := &emulation{in: in, out: AICROutcome{Status: AICRPassed, Stdout: []string{}, Notes: []string{}}}
	for _, step := range []func(){e.listed, e.gated, e.knobs, e.platform, e.inputs, e.results, e.throughput, e.ttft} {
		if !e.done {
			step()
		}
	}
	e.overlooked()
	return e.out
}

func (e *emulation) note(format string, args ...any) {
	e.out.Notes = append(e.out.Notes, fmt.Sprintf(format, args...))
}

// fail ends with an error of AICR's, rendered as its structured errors are.
func (e *emulation) fail(code, format string, args ...any) {
	e.done = true
	e.out.Status, e.out.Code, e.out.ContainerExit, e.out.ValidateExit = AICRFailed, code, 1, 8
	e.out.Message = fmt.Sprintf("[%s] %s", code, fmt.Sprintf(format, args...))
	if code == CodeInvalidRequest {
		e.note("AICR's documentation gives 2 for this; its code makes a failed check of it, which is 8")
	}
}

// skip ends with a skip, which AICR wraps as an internal error.
func (e *emulation) skip(reason string) {
	e.done = true
	e.out.Status, e.out.ContainerExit = AICRSkipped, 2
	e.out.Message = fmt.Sprintf("[%s] %s: skip", CodeInternal, reason)
	e.note("a skip ends aicr validate with 0, as a pass does")
}

// find is AICR's look-up: the first of a name counts.
func (e *emulation) find(name string) (string, bool) {
	i := slices.IndexFunc(e.in.Constraints, func(c Constraint) bool { return c.Name == name })
	if i < 0 {
		return "", false
	}
	return e.in.Constraints[i].Value, true
}

func (e *emulation) listed() {
	if slices.Contains(e.in.Checks, CheckName) {
		return
	}
	e.done, e.out.Status = true, AICRNotRun
	e.note("%s is in no checks of the recipe: nothing is judged, and aicr validate ends with 0", CheckName)
}

func (e *emulation) gated() {
	_, floor := e.find(NameFloor)
	_, ceiling := e.find(NameCeiling)
	if !floor && !ceiling {
		e.skip("no inference-throughput or inference-ttft-p99 constraint in recipe")
	}
}

const envPrefix = "AICR_INFERENCE_PERF_"

// knobs refuses a bad environment before anything is deployed.
func (e *emulation) knobs() {
	for _, name := range []string{"CONCURRENCY_PER_GPU", "WARMUP_PER_CONCURRENCY", "MIN_REQUESTS", "REQUESTS_PER_CONCURRENCY", "INPUT_TOKENS_MEAN", "OUTPUT_TOKENS_MEAN"} {
		if raw := e.in.Env[envPrefix+name]; raw != "" {
			if !acceptsCount(raw) {
				e.fail(CodeInvalidRequest, "invalid %s=%q: must be a positive integer", envPrefix+name, raw)
				return
			}
		}
	}
	for _, name := range []string{"ROUTER_MODE", "WORKLOAD_READY_TIMEOUT", "HEALTH_TIMEOUT", "MODEL_CACHE_POPULATE_TIMEOUT"} {
		if raw := strings.TrimSpace(e.in.Env[envPrefix+name]); raw != "" && !knobs()[name].accepts(raw) {
			e.fail(CodeInvalidRequest, "invalid %s=%q", envPrefix+name, raw)
			e.note("the text of this failure is not known to its end")
			return
		}
	}
}

func (e *emulation) platform() {
	switch {
	case !slices.Contains(e.in.Components, platform):
		e.skip("skipped - dynamo-platform not in recipe components")
	case e.in.OperatorMissing:
		e.fail("NOT_FOUND", "the DynamoGraphDeployment resource is not installed")
		e.note("since NVIDIA/aicr#2122, whose text is not known; before, and in the documentation, this is a skip")
	}
}

// inputs resolves what is benchmarked: recipe, then environment, then default.
func (e *emulation) inputs() {
	e.out.Model, e.out.ConcurrencyPerGPU = defaultModel, defaultConcurrency
	if n, err := strconv.Atoi(e.in.Env[envPrefix+"CONCURRENCY_PER_GPU"]); err == nil {
		e.out.ConcurrencyPerGPU = n
	}
	if m := strings.TrimSpace(e.in.Env[envPrefix+"MODEL"]); m != "" {
		e.out.Model = m
	}
	if e.in.IgnoresInputs {
		e.note("this validator reads no model and no load from a recipe: it runs %s at %d per GPU against these thresholds", e.out.Model, e.out.ConcurrencyPerGPU)
		return
	}
	if raw := e.input(NameConcurrency); raw != "" {
		n, err := strconv.Atoi(raw)
		if err != nil || n <= 0 {
			e.fail(CodeInvalidRequest, "invalid %s=%q: must be a positive integer", NameConcurrency, raw)
			return
		}
		e.out.ConcurrencyPerGPU = n
	}
	if m := e.input(NameModel); m != "" {
		e.out.Model = m
	}
	if !acceptsModel(e.out.Model) {
		e.fail(CodeInvalidRequest, "invalid inference model %q: must be a Hugging Face model ID (characters [A-Za-z0-9._/-])", e.out.Model)
		return
	}
	switch raw := e.input(NameRouting); raw {
	case "", "dynamo-router", "gateway-epp":
	default:
		e.fail(CodeInvalidRequest, "invalid %s=%q: must be %q or %q", NameRouting, raw, "dynamo-router", "gateway-epp")
	}
}

// input is an input constraint; a blank one is absent.
func (e *emulation) input(name string) string {
	v, _ := e.find(name)
	return strings.TrimSpace(v)
}

// results prints the two lines; from here on the benchmark has run.
func (e *emulation) results() {
	e.out.Benchmarked = true
	e.print("RESULT: Inference throughput: %.2f tokens/sec", e.in.Measured.TokPerSec)
	e.print("RESULT: Inference TTFT p99: %.2f ms", e.in.Measured.TTFTP99MS)
}

func (e *emulation) print(format string, args ...any) {
	e.out.Stdout = append(e.out.Stdout, fmt.Sprintf(format, args...))
}

func (e *emulation) throughput() {
	value, ok := e.find(NameFloor)
	if !ok {
		return
	}
	floor, ok := e.threshold(value, ">=", NameFloor, "throughput")
	if !ok {
		return
	}
	m := e.in.Measured
	if m.GPUs > 0 && m.GPUs < m.GPUsPerNode {
		floor *= float64(m.GPUs) / float64(m.GPUsPerNode)
		e.note("the floor is scaled to %s for %d of %s; how AICR prints that is not known", decimal(floor), m.GPUs, plural.Of(m.GPUsPerNode, "GPU"))
	}
	if m.TokPerSec < floor*0.9 {
		e.fail(CodeInternal, "inference throughput %.2f tokens/sec does not satisfy constraint %q (with 10%% tolerance)", m.TokPerSec, value)
		return
	}
	e.print("Throughput constraint: %s → PASS", value)
}

func (e *emulation) ttft() {
	value, ok := e.find(NameCeiling)
	if !ok {
		return
	}
	ceiling, ok := e.threshold(value, "<=", NameCeiling, "TTFT")
	if !ok {
		return
	}
	if m := e.in.Measured; m.TTFTP99MS > ceiling*1.1 {
		e.fail(CodeInternal, "inference TTFT p99 %.2f ms does not satisfy constraint %q (with 10%% tolerance)", m.TTFTP99MS, value)
		return
	}
	e.print("TTFT p99 constraint: %s → PASS", value)
}

// AICREnv picks AICR's variables from an environment of NAME=VALUE lines.
func AICREnv(environ []string) map[string]string {
	out := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, envPrefix) {
			out[name] = value
		}
	}
	return out
}

// Components are the names of componentRefs in the whole chain, sorted.
func (r *Resolved) Components() []string { return slices.Sorted(maps.Keys(r.components)) }
