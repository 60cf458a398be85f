package kube

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
)

// claimed4 replaces the workers' limits, and the operator's count, with a DRA claim.
func claimed4(more ...string) []string {
	return append([]string{
		`resources: {limits: {nvidia.com/gpu: "4"}}
status:`, `resources: {claims: [{name: gpu}]}
        resourceClaims: [{name: gpu, resourceClaimTemplateName: four}, {name: unused, resourceClaimTemplateName: none}]
status:`,
		", gpusPerReplica: 4", "",
		`, resources: {limits: {nvidia.com/gpu: "4"}}}]}`, "}]}",
	}, more...)
}

const claimTemplate = `
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: four, namespace: team}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, allocationMode: ExactCount, count: 4}}, {name: nic, exactly: {deviceClassName: nic.example.com, count: 1}}]}}}
`

// The count names its source, and is none where two disagree (G14).
func TestGPUs(t *testing.T) {
	noStatus := []string{", gpusPerReplica: 4", ""}
	for _, tt := range []struct {
		name, more string
		replace    []string
		gpus       int
		want       string // the source, or why unknown
	}{
		{"status", "", nil, 8, "status"},
		{"limits", "", noStatus, 8, "limits"},
		{"requests", "", append([]string{`limits: {nvidia.com/gpu: "4"}`, `requests: {nvidia.com/gpu: 4}`}, noStatus...), 8, "limits"},
		{"multinode", "", append([]string{"replicas: 2\n", "replicas: 1\n    multinode: {nodeCount: 2}\n"}, noStatus...), 8, "limits"},
		{"claims", claimTemplate, claimed4(), 8, "DRA claims"},
		{"claims before v1", strings.NewReplacer("/v1\n", "/v1beta1\n", "exactly: {deviceClassName: gpu.nvidia.com, allocationMode: ExactCount, count: 4}", "deviceClassName: gpu.nvidia.com, count: 4").Replace(claimTemplate), claimed4(), 8, "DRA claims"},
		{"claim of one", strings.Replace(claimTemplate, ", count: 4", "", 1), claimed4(), 2, "DRA claims"},
		{"all devices", strings.Replace(claimTemplate, "ExactCount, count: 4", "All", 1), claimed4(), 0, "no certain number"},
		{"first available", strings.Replace(claimTemplate, "exactly: {deviceClassName: gpu.nvidia.com, allocationMode: ExactCount, count: 4}", "firstAvailable: [{deviceClassName: gpu.nvidia.com}]", 1), claimed4(), 0, "no certain number"},
		{"claimed slices", strings.Replace(claimTemplate, "gpu.nvidia.com", "mig.nvidia.com", 1), claimed4(), 0, "parts of GPUs"},
		{"no template", "", claimed4(), 0, "get resourceclaimtemplates.resource.k8s.io four in namespace team"},
		{"shared claim", "", claimed4("resourceClaimTemplateName: four", "resourceClaimName: one"), 0, "share the claim one"},
		{"limits and claims", claimTemplate, append(claimed4(), "{claims: [{name: gpu}]}", `{claims: [{name: gpu}], limits: {nvidia.com/gpu: "2"}}`), 0, "asks for GPUs twice: 2 by limits and 4 by DRA claims"},
		{"slices", "", append([]string{`limits: {nvidia.com/gpu: "4"}`, `limits: {nvidia.com/mig-1g.10gb: "4"}`}, noStatus...), 0, "parts of GPUs (nvidia.com/mig-1g.10gb)"},
		{"pods disagree with the status", "", []string{"gpusPerReplica: 4", "gpusPerReplica: 8"}, 0, "16 GPUs by its status, and its running pods have limits of 8"},
		{"pods disagree with the limits", "", append([]string{`resources: {limits: {nvidia.com/gpu: "4"}}}]}`, "}]}"}, noStatus...), 0, "8 GPUs by its limits, and its running pods have limits of 0"},
		{"none", "", append([]string{`resources: {limits: {nvidia.com/gpu: "4"}}`, "resources: {}"}, noStatus...), 0, "asks for no GPU"},
		{"absurd", "", append([]string{`gpu: "4"`, `gpu: "9999999999999999999"`}, noStatus...), 0, "asks for no GPU"},
		{"negative", "", []string{"gpusPerReplica: 4", "gpusPerReplica: -4"}, 8, "limits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := open(t, recorded(t, "beta.yaml", tt.replace...)+tt.more)
			d, err := c.Deployment(t.Context(), "team", "qwen")
			if err != nil {
				t.Fatal(err)
			}
			if d.GPUs != tt.gpus || !strings.Contains(d.GPUsFrom+d.GPUsUnknown, tt.want) || (d.GPUs == 0) != (d.GPUsUnknown != "") {
				t.Errorf("%d GPUs by %q, unknown because %q; want %d, %q", d.GPUs, d.GPUsFrom, d.GPUsUnknown, tt.gpus, tt.want)
			}
		})
	}
}

// A product is known where every worker's node has the same; nothing is guessed.
func TestGPUProduct(t *testing.T) {
	const second = "name: gpu-1, labels: {nvidia.com/gpu.product: NVIDIA-GB300"
	for _, tt := range []struct {
		name, product, mixed, note string
		replace                    []string
		change                     func(*kubetest.Cluster)
	}{
		{"one", "NVIDIA-GB300", "", "", nil, nil},
		{"a longer name is another product", "", "NVIDIA-GB300 NVIDIA-GB300-NVL", "", []string{second, second + "-NVL"}, nil},
		{"one node without", "", "", "node gpu-1 has no label", []string{second, "name: gpu-1, labels: {x: y"}, nil},
		{"not to be read", "", "", `a ClusterRole with the rule {apiGroups: [""], resources: ["nodes"], verbs: ["get"]}`, nil, func(k *kubetest.Cluster) { k.Refuse["get nodes"] = 403 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, k := open(t, recorded(t, "beta.yaml", tt.replace...))
			if tt.change != nil {
				tt.change(k)
			}
			d, err := c.Deployment(t.Context(), "team", "qwen")
			if err != nil {
				t.Fatal(err)
			}
			if d.GPUProduct != tt.product || strings.Join(d.Mixed, " ") != tt.mixed || !strings.Contains(strings.Join(d.Notes, "\n"), tt.note) || d.Labels["gpu_product"] != tt.product {
				t.Errorf("product %q, mixed %q, notes %q", d.GPUProduct, d.Mixed, d.Notes)
			}
		})
	}
	for product, want := range map[string]string{
		"NVIDIA-GB300-SHARED":                         "its NVIDIA-GB300 are shared in time",
		"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb":            "parts of GPUs (MIG 1g.5gb of NVIDIA-A100-SXM4-40GB)",
		"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb.me-SHARED": "parts of GPUs (MIG 1g.10gb.me of NVIDIA-H100-80GB-HBM3)",
	} {
		c, _ := open(t, recorded(t, "beta.yaml", "NVIDIA-GB300", product))
		if d, err := c.Deployment(t.Context(), "team", "qwen"); err != nil || d.GPUs != 0 || !strings.Contains(d.GPUsUnknown, want) {
			t.Errorf("%d GPUs of %s (%q), error %v", d.GPUs, product, d.GPUsUnknown, err)
		}
	}
}
