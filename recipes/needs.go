package recipes

import "strings"

// Need is something that AICR's repository needs besides an edited overlay.
type Need struct {
	What string `json:"what"`
	How  string `json:"how"`
}

// UpstreamNeeds lists what a changed gate entails in AICR's repository, as its
// pull requests that changed one show (NVIDIA/aicr#2382, #2812).
func (o *Overlay) UpstreamNeeds(g Gate) []Need {
	var out []Need
	if o.Generated() {
		out = append(out, Need{"the generator", "this file says that it is generated: make the edit where it is generated from, else the next run undoes it"})
	}
	out = append(out,
		Need{"pinned tests", "search pkg/recipe for the overlay's name and its old values: some leaves are pinned in Go tests, such as AKS H100 and OKE GB200 (performance_goals_oke_test.go); then make test"},
		Need{"phases", "validation_phase_floor_test.go wants deployment and conformance phases in a leaf" + o.missingPhases()},
		Need{"lint", "yamllint -c .yamllint.yaml on the overlay, and make qualify"},
		Need{"generated docs", "make tuning-docs recipe-health-docs bom-docs, and commit what changes"},
		Need{"evidence", "signed evidence of this recipe is void, also where only a comment changed: run aicr validate --emit-attestation --push against this gate, and commit the pointer under recipes/evidence/"},
		Need{"validator image", "evidence refuses a mutable tag such as latest: pin a release, one that reads the pinned model and load (perfsweep lint --validator TAG)"},
		Need{"the numbers", "a minimal evidence bundle leaves the measured values out: put them, the sidecar and the journal into the pull request"})
	switch {
	case g.FloorPerGPU > 0:
		out = append(out, Need{"the evaluator", NameFloorPerGPU + " is the name proposed in NVIDIA/aicr#1254: until the validator knows it, it is ignored and throughput is not gated"})
	case g.Floor > 0:
		out = append(out, Need{"node shape", NameFloor + " is one of a whole node: overlays of other node sizes that inherit it need their own (NVIDIA/aicr#1254)"})
	default:
		out = append(out, Need{"throughput", "no floor is written: say in the pull request why, and what gates throughput instead"})
	}
	if o.licenceLess() {
		out = append(out, Need{"licence", "the file begins without the Apache-2.0 header that addlicense checks"})
	}
	if strings.HasSuffix(o.Name(), "-any") {
		out = append(out, Need{"other leaves", "this overlay is shared: each leaf that takes its gate is changed, and needs the above as well"})
	}
	return append(out, Need{"or none of it", "measured on other hardware than the shipped overlay is for: leave that alone, and give this file to aicr validate with --data, or propose it as an opt-in recipe (NVIDIA/aicr#2714)"})
}

// missingPhases names the phases that this file does not have itself.
func (o *Overlay) missingPhases() string {
	var missing []string
	for _, p := range []string{"deployment", "conformance"} {
		if !lookup(o.validation.val, p).present() {
			missing = append(missing, p)
		}
	}
	if missing == nil {
		return ", and this file has both"
	}
	return "; this file has no " + strings.Join(missing, " and no ") + ", so the chain must"
}

// licenceLess looks for a licence in the comment at the top.
func (o *Overlay) licenceLess() bool {
	for i, l := range o.text.lines {
		if !o.text.comment(i) && !o.text.blank(i) {
			break
		}
		if strings.Contains(l.body, "Apache License") || strings.Contains(l.body, "Apache-2.0") {
			return false
		}
	}
	return true
}
