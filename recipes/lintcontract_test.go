package recipes

import (
	"slices"
	"strings"
	"testing"
)

// contractRule is something that AICR's contract says, by the section of
// aicr.md that records it, with the rules of lint that hold a file to it.
// Examples of each rule, a failing and a passing one, are in ruleExamples.
type contractRule struct {
	section, says, rules string
}

func contractRules() []contractRule {
	return []contractRule{
		{"1.1", "one YAML document a file, of kind RecipeMetadata, with a name", "multi-document not-an-overlay yaml-syntax encoding"},
		{"1.1", "a phase has lists of checks and constraints; a constraint has name and value", "bad-structure"},
		{"1.1", "the constraints of the check stand in spec.validation.performance; spec.constraints are readiness", "misplaced-gate"},
		{"1.1", "a disabled leaf has no checks", "gate-without-check"},
		{"1.3", "an overlay is found by its name, and cycles are rejected", "duplicate-name missing-parent inheritance-cycle chain-too-deep unread-overlay"},
		{"1.4", "mixins come last and hold constraints and componentRefs only", "missing-mixin mixin-phase"},
		{"1.4", "checks and constraints are united by name; the March snapshot replaced a phase", "merge-dependent duplicate-check duplicate-constraint"},
		{"1.4", "an explicit empty list clears what is inherited", "check-without-gate"},
		{"1.5", "an unquoted comparator is a parse error, an unquoted number is decoded as text", "unquoted-comparator unquoted-value"},
		{"1.5", "no duplicate keys", "duplicate-key"},
		{"1.5", ".yamllint.yaml: indentation, length, line ends, blanks, comments, values, brackets",
			"yamllint-indentation yamllint-line-length yamllint-new-lines yamllint-trailing-spaces yamllint-empty-lines yamllint-comments yamllint-comments-indentation yamllint-empty-values yamllint-braces yamllint-brackets"},
		{"1.5", "generated files are overwritten", "generated-file"},
		{"1.6", "the comment says what was measured", "no-provenance stale-provenance"},
		{"1.6", "the NOTE about the full node and #1254", "full-node-note"},
		{"1.6", "placeholder blocks say so in the text", "provisional"},
		{"2.1", "the names of gates and inputs; others are ignored", "unknown-constraint per-gpu-name"},
		{"2.1", "the check is inference-perf, once proposed as inference-throughput", "unknown-check"},
		{"2.1", "the model is a Hugging Face id", "bad-model"},
		{"2.1", "the concurrency is a positive integer", "bad-integer"},
		{"2.1", "the routing mode is one of two", "bad-routing-mode"},
		{"2.1", "the storage class is a bare name", "bad-storage-class"},
		{"2.1", "blank inputs fall back; model, load and both gates are pinned together", "no-model no-concurrency one-threshold"},
		{"2.2", "one operator a threshold, nothing of it twice", "wrong-operator empty-value"},
		{"2.2", "ParseFloat takes NaN, infinities, negatives, exponents and hexadecimals", "not-finite not-positive number-form"},
		{"2.2", "50,000 and 50000tok/s fail; what follows a space is not read", "thousands-separator unit-glued wrong-unit"},
		{"2.3", "neither gate: skip", "check-without-gate"},
		{"2.3", "dynamo-platform not in componentRefs: skip", "no-platform"},
		{"2.3", "TTFT in ms", "implausible-ceiling"},
		{"2.4", "both throughput names contradict each other", "both-floors"},
		{"2.5", "an older validator runs its own defaults", "old-validator"},
		{"3.1", "the knobs of a catalog move the benchmark, and a bad one is refused", "catalog-override catalog-value catalog-unknown"},
		{"6", "floors far below, or above, what was measured", "floor-slack floor-above-measured"},
	}
}

// Every rule comes from the contract, or keeps hostile input and what perfsweep
// cannot edit out; and the contract names no rule that is not there.
func TestRulesAndContract(t *testing.T) {
	own := "too-large tab too-deep anchor-alias managed-comment"
	var have, named []string
	for _, r := range Rules() {
		have = append(have, r.Name)
	}
	for _, c := range contractRules() {
		named = append(named, strings.Fields(c.rules)...)
	}
	for _, n := range named {
		if !slices.Contains(have, n) {
			t.Errorf("the contract names %s, which is no rule", n)
		}
	}
	for _, n := range have {
		if !slices.Contains(named, n) && !slices.Contains(strings.Fields(own), n) {
			t.Errorf("%s holds to nothing of the contract", n)
		}
	}
	if slices.Sort(have); len(slices.Compact(have)) != len(Rules()) {
		t.Error("a rule twice")
	}
}
