package recipes

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// threshold reads a gate as AICR does: its comparator first, then a number that
// Go's parser takes, up to the first space. Both are read after the benchmark.
func (e *emulation) threshold(value, op, name, what string) (float64, bool) {
	v := strings.TrimSpace(value)
	rest, ok := strings.CutPrefix(v, op)
	if !ok {
		e.fail(CodeInvalidRequest, "%s constraint must start with %q (got %q); inference-perf uses a narrower operator subset than the general contract — only the operator the evaluator actually honors is accepted", name, op, value)
		return 0, false
	}
	if rest = strings.TrimLeft(rest, " "); rest != "" && strings.ContainsRune("><=!", rune(rest[0])) {
		e.fail(CodeInvalidRequest, "%s constraint must start with exactly %q (got %q); extra operator characters after the expected prefix would be silently stripped by the threshold parser and misread", name, op, value)
		return 0, false
	}
	number, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(v, "><=! ")), " ")
	if number == "" {
		e.fail(CodeInvalidRequest, "invalid %s threshold: [%s] invalid threshold: no numeric value found in %q", what, CodeInvalidRequest, value)
		return 0, false
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		e.fail(CodeInvalidRequest, "invalid %s threshold: [%s] invalid threshold format: %v", what, CodeInvalidRequest, err)
		return 0, false
	}
	if _, p := readNumber(number, ""); p != nil {
		switch always := math.IsNaN(f) || op == ">=" && f <= 0 || op == "<=" && math.IsInf(f, 1); {
		case always:
			e.note("%s is %q, which no measurement can fail", name, value)
		default:
			e.note("%s is %q, which AICR reads as %v", name, value, f)
		}
	}
	return f, true
}

// overlooked says what AICR's conclusion rests on that it does not look at.
func (e *emulation) overlooked() {
	seen := map[string]bool{}
	for _, c := range e.in.Constraints {
		switch {
		case c.Name == NameFloorPerGPU:
			e.note("%s is ignored: AICR does not know the name (NVIDIA/aicr#1254)", NameFloorPerGPU)
		case seen[c.Name]:
			e.note("%s stands there twice: the first counts", clip(c.Name))
		case !slices.Contains(knownNames(), c.Name):
			e.note("%s is ignored: AICR does not know the name", clip(c.Name))
		}
		seen[c.Name] = true
	}
	if !e.out.Benchmarked {
		return
	}
	if e.out.Code == CodeInvalidRequest {
		e.note("this is said after the benchmark, whatever it measured")
	}
	m := e.in.Measured
	if _, ok := e.find(NameCeiling); ok && m.TTFTP99MS == 0 {
		e.note("TTFT p99 is missing: AICR reads 0, which passes every ceiling")
	}
	if _, ok := e.find(NameFloor); ok && m.TokPerSec == 0 {
		e.note("the throughput is missing: AICR reads 0, which fails every floor")
	}
}
