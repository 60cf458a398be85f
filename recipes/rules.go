package recipes

// Rule is one thing that lint looks for.
type Rule struct {
	Name     string
	Severity string // the usual one; a finding says its own
	Summary  string
	Remedy   string
}

// Rules lists every rule of Lint and Resolve, grouped by what they look at.
func Rules() []Rule {
	const e, w = SeverityError, SeverityWarning
	return append([]Rule{
		{"too-large", e, "The file is larger than an overlay can be.", "Check that it is an overlay."},
		{"encoding", e, "The file is not UTF-8, or holds characters that are no text.", "Save it as UTF-8 with \\n or \\r\\n."},
		{"tab", e, "A tab stands outside of a comment.", "Use spaces; inside a quoted string write \\t."},
		{"yaml-syntax", e, "The file is not YAML.", "Correct it at the given line."},
		{"unquoted-comparator", e, "An unquoted > begins a folded block, so the file does not parse.", "Quote the value: \">= N\"."},
		{"multi-document", e, "The file holds more than one YAML document.", "Keep one overlay a file."},
		{"too-deep", e, "The nesting is deeper than an overlay can be.", "Check that it is an overlay."},
		{"anchor-alias", e, "An anchor, alias or merge key makes one text stand in several places.", "Write the value out where it is used."},
		{"duplicate-key", e, "A mapping holds a key twice, and readers differ in which one they take.", "Keep one."},
		{"not-an-overlay", e, "The document is no overlay.", "An overlay is of kind RecipeMetadata and has a metadata.name."},
		{"bad-structure", e, "A part of the performance phase has another shape than AICR reads.", "Write checks as names, constraints as name and value."},
		{"generated-file", w, "The file says that it is generated.", "Change what generates it, or the edit is lost."},
		{"misplaced-gate", e, "A part of the gate stands where the check does not read it.", "Move it to spec.validation.performance."},
		{"managed-comment", e, "The markers of the comment that perfsweep writes do not match.", "Remove the old perfsweep comment by hand."},

		{"duplicate-constraint", e, "A constraint name is given twice.", "Keep one."},
		{"both-floors", e, "Both throughput names are set, in one file or in the inherited chain.", "Keep inference-throughput-per-gpu or inference-throughput, not both."},
		{"unknown-constraint", e, "AICR ignores constraint names that it does not know.", "Correct the name."},
		{"per-gpu-name", w, "An AICR evaluator without NVIDIA/aicr#1254 ignores the per-GPU name, or skips the whole check.", "Check that your validator knows the name, or write inference-throughput for one node shape."},
		{"unquoted-value", w, "A value without quotes: YAML readers differ in what they make of it.", "Quote it."},
		{"empty-value", e, "A threshold is empty.", "Write \">= N\" or \"<= N\"."},
		{"wrong-operator", e, "A threshold has another operator than the only one allowed.", "Write \">= N\" for throughput and \"<= N\" for TTFT."},
		{"not-finite", e, "A threshold is NaN or infinite, so the gate could not fail.", "Write a plain decimal number."},
		{"not-positive", e, "A threshold is zero or negative, so the gate says nothing.", "Write a number greater than 0."},
		{"thousands-separator", e, "A number has a thousands separator.", "Write digits only."},
		{"number-form", e, "A number is hexadecimal, has an exponent or is not plain.", "Write a plain decimal number."},
		{"unit-glued", e, "A unit is glued to the number, which AICR refuses.", "Leave the unit out."},
		{"wrong-unit", e, "A unit is not the one that AICR assumes, and AICR would ignore it.", "Write tok/s and milliseconds, without a unit."},
		{"bad-integer", e, "The concurrency per GPU is not a positive whole number.", "Write digits only, such as \"256\"."},
		{"bad-model", e, "The model is not a Hugging Face repository id.", "Write an id such as Qwen/Qwen3-8B."},
		{"bad-routing-mode", e, "The routing mode is not one that AICR knows.", "Write dynamo-router or gateway-epp."},
		{"bad-storage-class", e, "The storage class of the model cache is no name of one.", "Write the bare name of a StorageClass."},
		{"implausible-ceiling", w, "A TTFT ceiling below 10 ms or above 10 minutes; the unit is milliseconds.", "Check the unit."},

		{"check-without-gate", w, "inference-perf is enabled and nothing is demanded, so AICR skips it and exits 0.", "Add a floor and a ceiling."},
		{"gate-without-check", w, "Something is demanded but inference-perf is not in checks.", "Add it to checks, or remove the gate."},
		{"unknown-check", e, "A check has a name that is nearly that of the inference check, so nothing runs.", "Write inference-perf."},
		{"duplicate-check", w, "A check is listed twice.", "Keep one."},
		{"one-threshold", w, "The gate has a floor or a ceiling only.", "Demand both, or say in the comment that throughput is not gated."},
		{"full-node-note", w, "An absolute floor is of a full node, and the comment does not say which.", "Add a NOTE with the node and NVIDIA/aicr#1254."},
		{"no-model", w, "The gate pins no model, so a compiled default can move it.", "Add inference-model."},
		{"no-concurrency", w, "The gate pins no concurrency, so a compiled default can move it.", "Add inference-concurrency-per-gpu."},
		{"old-validator", e, "The validator does not read the concurrency or the model of an overlay and runs its defaults.", "Use a validator that reads them."},

		{"provisional", w, "The comment says that the values were not calibrated.", "Run perfsweep calibrate on this overlay."},
		{"no-provenance", w, "No comment in the performance phase says what was measured.", "Run perfsweep calibrate, or write down throughput, GPUs, load and date."},
		{"stale-provenance", w, "The recorded measurement is old, or was made with another model or load than the file pins.", "Run perfsweep calibrate again."},
		{"floor-slack", w, "The floor is below half of the recorded measurement.", "Derive it from the measured spread: perfsweep calibrate."},
		{"floor-above-measured", w, "The floor is above the recorded measurement.", "Derive it from the measured spread: perfsweep calibrate."},

		{"catalog-override", e, "A validator catalog changes router or workload, so thresholds measured without that are void.", "Remove the override, or calibrate under it."},
		{"catalog-value", e, "A validator catalog sets a knob to a value that AICR refuses at run time.", "Correct the value."},
		{"catalog-unknown", w, "A validator catalog sets a variable that the check does not read, sets one twice, or takes it from elsewhere.", "Check the name, and write the value."},

		{"missing-parent", e, "spec.base names an overlay that is not there.", "Name the recipe folder that holds it (--recipes)."},
		{"missing-mixin", e, "spec.mixins names a mixin that is not there.", "Name the recipe folder that holds it (--recipes)."},
		{"inheritance-cycle", e, "An overlay is its own ancestor.", "Let spec.base lead to base."},
		{"chain-too-deep", e, "The chain of ancestors is too long.", "Shorten it."},
		{"unread-overlay", w, "A file of the recipe folder is refused, so what it demands is unknown; an error where the chain needs it.", "Correct that file."},
		{"duplicate-name", e, "Two files of the recipe folder have one metadata.name, and AICR takes one of them.", "Rename or remove one of the two."},
		{"mixin-phase", e, "A mixin holds what AICR refuses or ignores there.", "Move it to the performance phase of an overlay."},
		{"no-platform", e, "dynamo-platform is in no componentRefs of the chain, so AICR skips the check and exits 0; a warning where a parent may have it.", "Add the component, or take the check out."},
		{"merge-dependent", w, "An AICR from before NVIDIA/aicr#1000 would make another gate of the chain.", "Write check, inputs and thresholds in the leaf as well."},
	}, styleRules()...)
}

// styleRules are those of AICR's .yamllint.yaml.
func styleRules() []Rule {
	var list []Rule
	for _, r := range [][2]string{
		{"indentation", "Indent by 2 spaces; a list may stand below its key."},
		{"line-length", "Break lines of more than 200 characters."},
		{"new-lines", "Save the file with \\n."},
		{"trailing-spaces", "Remove spaces at line ends."},
		{"empty-lines", "Keep at most 2 blank lines together, and none at the beginning and the end."},
		{"comments", "Put a space behind the # of a comment."},
		{"comments-indentation", "Indent a comment like what it speaks of."},
		{"empty-values", "Write a value, or remove the key."},
		{"braces", "Keep at most one space inside of braces."},
		{"brackets", "Keep no space inside of brackets."},
	} {
		list = append(list, Rule{"yamllint-" + r[0], SeverityWarning, "AICR's yamllint refuses the file: " + r[0] + ".", r[1]})
	}
	return list
}
