package recipes

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// checkBeforeDeploying is what AICR's check would do first: a recipe that
// contradicts itself, or a comparator that no run can satisfy, must not cost a
// deployment and a benchmark.
func checkBeforeDeploying(recipe []Constraint) (gate Gate, skip bool, err error) {
	gate, err = GateOf(recipe)
	if err != nil {
		return Gate{}, false, err // INVALID_REQUEST
	}
	return gate, gate.Empty(), nil // neither gate: skip, and say so
}

// judgeAfterBenchmark turns a measurement into AICR's lines and its error.
func judgeAfterBenchmark(gate Gate, m Measured) (lines []string, err error) {
	lines = []string{
		fmt.Sprintf("RESULT: Inference throughput: %.2f tokens/sec", m.TokPerSec),
		fmt.Sprintf("RESULT: Inference TTFT p99: %.2f ms", m.TTFTP99MS),
	}
	verdict, err := Evaluate(gate, m)
	if err != nil {
		return lines, err // fails closed: nothing measured is no pass
	}
	if !verdict.Pass {
		return lines, errors.New("INTERNAL: " + verdict.Reasons[0])
	}
	return append(lines, "PASS"), nil
}

// contractCase is a recipe, a measurement and what must come of them.
type contractCase struct {
	name   string
	recipe string // "name value" a line
	m      Measured
	want   string // pass, skip, the beginning of the failure, or the code of the error
}

// contractCases are the cases of NVIDIA/aicr#1254 and of the evaluator that it
// extends: grammar, tolerance, partial occupancy, skip.
func contractCases() []contractCase {
	ok := Measured{TokPerSec: 108790, TTFTP99MS: 688, GPUs: 8, GPUsPerNode: 8}
	at := func(tokPerSec float64, gpus, node int) Measured {
		return Measured{TokPerSec: tokPerSec, TTFTP99MS: 500, GPUs: gpus, GPUsPerNode: node}
	}
	const floor, perGPU, ttft = "inference-throughput >= 50000", "inference-throughput-per-gpu >= 6800", "inference-ttft-p99 <= 2000"
	list := []contractCase{
		{"the pair of 2026", floor + "\n" + ttft, ok, "pass"},
		{"at the floor less 10 %", floor, at(45000, 8, 8), "pass"},
		{"below it", floor, at(44999.99, 8, 8), "output throughput"},
		{"at the ceiling plus 10 %", ttft, Measured{TTFTP99MS: 2200}, "pass"},
		{"above it", ttft, Measured{TTFTP99MS: 2200.01}, "TTFT"},
		{"both fail, throughput is said first", floor + "\n" + ttft, Measured{20769, 33320, 4, 4}, "output throughput"},
		{"4 of 8 GPUs", floor, at(22500, 4, 8), "pass"},
		{"2 of 8 GPUs", floor, at(11249, 2, 8), "output throughput"},
		{"GPU count unknown, absolute", floor, at(44999, 0, 8), "output throughput"},
		{"node size unknown, absolute", floor, at(44999, 4, 0), "output throughput"},
		{"more GPUs than the node", floor, at(44999, 16, 8), "output throughput"},
		{"a full small node, absolute", floor, at(27000, 2, 2), "output throughput"}, // the false failure of #1254
		{"a full small node, per GPU", perGPU, at(27000, 2, 2), "pass"},
		{"a full large node, per GPU", perGPU, at(48960, 8, 8), "pass"},
		{"just below, per GPU", perGPU, at(48959, 8, 8), "output throughput"},
		{"partial occupancy, per GPU", perGPU, at(24480, 4, 8), "pass"},
		{"one GPU", perGPU, at(6120, 1, 1), "pass"},
		{"no GPU count, per GPU", perGPU, at(108790, 0, 8), CodeInternal},
		{"negative GPU count", perGPU, at(108790, -1, 8), CodeInternal},
		{"both names", perGPU + "\n" + floor, ok, CodeInvalidRequest},
		{"a name twice", floor + "\n" + floor, ok, CodeInvalidRequest},
		{"neither gate", "inference-model Qwen/Qwen3-8B", ok, "skip"},
		{"another name", "inference-throughputs >= 1", ok, "skip"},
		{"TTFT missing", ttft, Measured{TokPerSec: 108790, GPUs: 8, GPUsPerNode: 8}, CodeInternal},
		{"TTFT missing beside a floor", floor + "\n" + ttft, Measured{TokPerSec: 108790, GPUs: 8, GPUsPerNode: 8}, CodeInternal},
		{"throughput missing", floor, at(0, 8, 8), CodeInternal},
		{"throughput missing, TTFT only", ttft, at(0, 8, 8), "pass"},
		{"model with a space", floor + "\ninference-model a b", ok, CodeInvalidRequest},
		{"blank model", floor + "\ninference-model  ", ok, "pass"},
		{"concurrency 0", floor + "\ninference-concurrency-per-gpu 0", ok, CodeInvalidRequest},
		{"concurrency 1.5", floor + "\ninference-concurrency-per-gpu 1.5", ok, CodeInvalidRequest},
		{"router kv", floor + "\ninference-routing-mode kv", ok, CodeInvalidRequest},
		{"router gateway", floor + "\ninference-routing-mode gateway-epp", ok, "pass"},
	}
	for _, v := range []string{"> 5000", "== 5000", "!= 5000", "5000", "<= 5000", ">== 5000", ">= =5000", ">= 50,000", ">= 5000tok/s", ">= NaN", ">= Inf", ">= -1", ">= 0", ">= 1e5", ">= 0x10", ">=", ""} {
		list = append(list, contractCase{"floor " + v, "inference-throughput " + v, ok, CodeInvalidRequest}, contractCase{"per GPU " + v, "inference-throughput-per-gpu " + v, ok, CodeInvalidRequest})
	}
	for _, v := range []string{"< 200", "== 200", "200", ">= 200", "<== 200", "<= =200", "<= 200ms", "<= NaN", "<= -1"} {
		list = append(list, contractCase{"ceiling " + v, "inference-ttft-p99 " + v, ok, CodeInvalidRequest})
	}
	for _, v := range []string{">=5000", ">= 5000 tok/s", "  >= 5000"} {
		list = append(list, contractCase{"floor " + v, "inference-throughput " + v, ok, "pass"})
	}
	for _, v := range []string{"<=2000.5", "<= 2000 ms"} {
		list = append(list, contractCase{"ceiling " + v, "inference-ttft-p99 " + v, ok, "pass"})
	}
	return list
}

func TestEvaluatorContract(t *testing.T) {
	for _, c := range contractCases() {
		t.Run(c.name, func(t *testing.T) {
			var recipe []Constraint
			for line := range strings.SplitSeq(c.recipe, "\n") {
				name, value, _ := strings.Cut(line, " ")
				recipe = append(recipe, Constraint{name, value})
			}
			if got := outcome(recipe, c.m); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func outcome(recipe []Constraint, m Measured) string {
	gate, skip, err := checkBeforeDeploying(recipe)
	var code *EvaluateError
	switch {
	case errors.As(err, &code):
		return code.Code
	case skip:
		if _, err := Evaluate(gate, m); !errors.As(err, &code) || code.Code != CodeNoGate {
			return fmt.Sprint("skipped, but evaluates to ", err)
		}
		return "skip"
	}
	_, err = judgeAfterBenchmark(gate, m)
	switch {
	case errors.As(err, &code):
		return code.Code
	case err != nil:
		return strings.TrimPrefix(err.Error(), "INTERNAL: ")
	}
	return "pass"
}

// What the page for AICR shows as code is code of this file or this package.
func TestUpstreamPage(t *testing.T) {
	const page = "../docs/upstream-evaluator.md"
	read := func(path string) string {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	source := squeezed(read("upstream_test.go") + read("evaluate.go") + read("gate.go"))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(page), -1)
	if len(blocks) < 4 {
		t.Fatalf("%d excerpts", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(source, squeezed(b[1])) {
			t.Errorf("not in the code:\n%s", b[1])
		}
	}
	for _, name := range []string{NameFloorPerGPU, NameFloor, NameCeiling, CodeInvalidRequest, CodeInternal} {
		if !strings.Contains(read(page), "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
		}
	}
}

// squeezed makes indentation no difference.
func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }
