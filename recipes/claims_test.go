package recipes

import (
	"slices"
	"strings"
	"testing"
)

// claimed is AICR's deployment on a node that offers GPUs by dynamic resource
// allocation, with its claim template as resource.k8s.io/v1 has it.
func claimed() string {
	text := strings.Replace(template, `                limits: {nvidia.com/gpu: "1"}
`, `                claims: [{name: gpu}]
          resourceClaims:
            - name: gpu
              resourceClaimTemplateName: aicr-inference-gpu-claim
`, 1)
	return text + `---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: aicr-inference-gpu-claim
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            allocationMode: ExactCount
            count: 1
`
}

// The claim is AICR's template as much as the limit is, in either layout of the
// deployment and of the claim, in any order, and as kubectl prints a list.
func TestClaimedTemplateEqualsItself(t *testing.T) {
	deployment, claim, _ := strings.Cut(claimed(), "---\n")
	flat := strings.Replace(claim, "          exactly:\n            deviceClassName: gpu.nvidia.com\n            allocationMode: ExactCount\n            count: 1\n", "          deviceClassName: gpu.nvidia.com\n", 1)
	if flat == claim {
		t.Fatal("the claim was not changed")
	}
	old := strings.Replace(older, `      resources: {limits: {gpu: "1"}}
      extraPodSpec:
        mainContainer:
`, `      extraPodSpec:
        resourceClaims: [{name: gpu, resourceClaimTemplateName: aicr-inference-gpu-claim}]
        mainContainer:
          resources: {claims: [{name: gpu}]}
`, 1)
	item := func(s string) string {
		return "  - " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ") + "\n"
	}
	for name, text := range map[string]string{
		"v1":                  claimed(),
		"the claim first":     claim + "---\n" + deployment,
		"v1beta1 of both":     deployment + "---\n" + flat,
		"the older layout":    old + "---\n" + claim,
		"a list":              "kind: List\nitems:\n" + item(deployment) + item(claim),
		"beside other things": "kind: Namespace\n---\n" + claimed() + "---\n---\nkind: Secret\n",
	} {
		if differs, unknown := differences(t, text, 4); len(differs)+len(unknown) != 0 {
			t.Errorf("%s: differs %q, unknown %q", name, differs, unknown)
		}
	}
}

// One field a line: the edit of the claim, and the one thing that is said of it.
func TestEachDifferenceOfAClaim(t *testing.T) {
	for _, c := range []struct{ from, to, says, asks string }{
		{"count: 1", "count: 2", "GPUs of a worker: 2, not 1", ""},
		{"deviceClassName: gpu.nvidia.com", "deviceClassName: mig.nvidia.com", "asks for device class mig.nvidia.com", ""},
		{"ExactCount", "All", "has allocation mode All", ""},
		{"            count: 1\n", "            count: 1\n            selectors: [{cel: {expression: 'true'}}]\n", "selects among GPUs", ""},
		{"          exactly:\n", "          firstAvailable: [{name: a}]\n          exactly:\n", "takes the first available", ""},
		{"    devices:\n", "    devices:\n      config: [{}]\n", "has constraints or a configuration", ""},
		{"resourceClaimTemplateName: aicr-inference-gpu-claim", "resourceClaimName: shared", "gpu is one claim for all pods", ""},
		{"claims: [{name: gpu}]", "claims: [{name: gpu}]\n                limits: {nvidia.com/gpu: 1}", "GPUs are limited as well", ""},
		{"  name: aicr-inference-gpu-claim\nspec", "  name: other\nspec", "", "no ResourceClaimTemplate aicr-inference-gpu-claim"},
		{"            - name: gpu\n", "            - name: gpus\n", "", "no ResourceClaimTemplate gpu"},
		{"claims: [{name: gpu}]", "claims: []", "", "neither a limit nor a claim"},
		{"              env:\n", "              resources: {limits: {nvidia.com/gpu: 1}}\n              env:\n", "GPUs of the frontend: 1, not 0", ""},
	} {
		text := strings.Replace(claimed(), c.from, c.to, 1)
		if text == claimed() {
			t.Fatalf("%q is not in the template", c.from)
		}
		differs, unknown := differences(t, text, 4)
		says, asks := strings.Join(differs, "; "), strings.Join(unknown, "; ")
		if len(differs) > 1 || len(unknown) > 1 || !strings.Contains(says, c.says) || !strings.Contains(asks, c.asks) || (c.says == "") != (says == "") || (c.asks == "") != (asks == "") {
			t.Errorf("%q: differs %q, unknown %q", c.to, differs, unknown)
		}
	}
}

func TestNoClaim(t *testing.T) {
	_, claim, _ := strings.Cut(claimed(), "---\n")
	for says, text := range map[string]string{
		"two deployments":      template + "---\n" + template,
		"two claim templates":  claimed() + "---\n" + claim,
		"more than 256":        strings.Repeat("a: b\n---\n", maxDocuments) + template,
		"its list has no":      "kind: List\nitems: 3\n",
		"its kind is \"List\"": "kind: List\nitems: []\n",
	} {
		if _, err := ParseDeployment("d.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	d, err := ParseDeployment("d.yaml", []byte(claimed()))
	if err != nil || !d.Workers[0].Claimed || d.Workers[0].GPUs != 1 || !slices.Equal(d.Workers[0].Claims, nil) {
		t.Errorf("%+v, %v", d, err)
	}
}
