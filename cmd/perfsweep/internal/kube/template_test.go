package kube

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/perfsweep/perfsweep/recipes"
)

const testModel = "Qwen/Qwen3-8B"

func testSpec() DeploySpec {
	return DeploySpec{Namespace: "bench", Name: "perf", Model: testModel, GPUs: 4}.WithDefaults()
}

// asFile is objects as kubectl would print them.
func asFile(t testing.TB, objects ...map[string]any) []byte {
	t.Helper()
	var out []byte
	for _, o := range objects {
		b, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, "---\n"...), b...)
	}
	return out
}

// objects are all that a spec makes in a version.
func (s DeploySpec) objects(version string) []map[string]any {
	out := []map[string]any{s.DGD(version)}
	if s.GPUAccess == DRA {
		out = append(out, s.ClaimTemplate("v1"))
	}
	if s.cacheMade() {
		out = append(out, s.CacheClaim(), s.PopulateJob())
	}
	return out
}

// What is deployed without a word is what AICR's evaluator deploys, as the
// comparison of gate C11 reads it, in both versions and for both ways to a GPU.
func TestDeploymentIsTheTemplate(t *testing.T) {
	for _, version := range []string{v1beta1, v1alpha1} {
		for _, access := range []string{DevicePlugin, DRA} {
			for _, off := range []bool{false, true} {
				s := testSpec()
				s.GPUAccess, s.ModelCache.Off = access, off
				if err := s.Validate(); err != nil {
					t.Fatal(err)
				}
				d, err := recipes.ParseDeployment("d", asFile(t, s.objects(version)...))
				if err != nil {
					t.Fatal(err)
				}
				if differs, unknown := d.Differences(4, testModel); len(differs)+len(unknown) > 0 {
					t.Errorf("%s, %s, cache off %v: differs %q, unknown %q", version, access, off, differs, unknown)
				}
			}
		}
	}
}

// Each field alone: what of the objects tells that it arrived, in both versions.
func TestEachField(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*DeploySpec)
		want []string
	}{
		"image":              {func(s *DeploySpec) { s.Image = "example.com/x:2" }, []string{`"image":"example.com/x:2"`}},
		"registry":           {func(s *DeploySpec) { s.ImageRegistry = "mirror.local:5000/nv/" }, []string{`"image":"mirror.local:5000/nv/nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13"`}},
		"pull secrets":       {func(s *DeploySpec) { s.ImagePullSecrets = []string{"ngc"} }, []string{`"imagePullSecrets":[{"name":"ngc"}]`}},
		"GPUs a worker":      {func(s *DeploySpec) { s.GPUsPerWorker = 2 }, []string{`"--tensor-parallel-size","2"`, `"replicas":2`, `gpu":"2"`}},
		"router":             {func(s *DeploySpec) { s.RouterMode = "kv" }, []string{`{"name":"DYN_ROUTER_MODE","value":"kv"}`}},
		"frontends":          {func(s *DeploySpec) { s.Frontends = 3 }, []string{`"replicas":3`}},
		"node selector":      {func(s *DeploySpec) { s.NodeSelector = map[string]string{"pool": "a"} }, []string{`"nodeSelector":{"pool":"a"}`}},
		"toleration":         {func(s *DeploySpec) { s.Tolerations = []Toleration{{Key: "gpu", Effect: "NoSchedule"}} }, []string{`{"effect":"NoSchedule","key":"gpu","operator":"Exists"}`}},
		"toleration's value": {func(s *DeploySpec) { s.Tolerations = []Toleration{{Key: "gpu", Value: "x"}} }, []string{`{"key":"gpu","operator":"Equal","value":"x"}`}},
		"scheduler":          {func(s *DeploySpec) { s.Scheduler = "mine" }, []string{`"schedulerName":"mine"`}},
		"KAI":                {func(s *DeploySpec) { s.KAIQueue = "team" }, []string{`"kai.scheduler/queue":"team"`, `"nvidia.com/kai-scheduler-queue":"team"`, `"schedulerName":"kai-scheduler"`}},
		"Kueue":              {func(s *DeploySpec) { s.KueueQueue = "team" }, []string{`"kueue.x-k8s.io/queue-name":"team"`}},
		"DRA":                {func(s *DeploySpec) { s.GPUAccess = DRA }, []string{`"resourceClaimTemplateName":"perf-gpu"`, `"claims":[{"name":"gpu"}]`, `"kind":"ResourceClaimTemplate"`}},
		"CA":                 {func(s *DeploySpec) { s.CABundle.ConfigMap = "corp" }, []string{`"configMap":{"name":"corp"}`, `"SSL_CERT_FILE","value":"/etc/perfsweep-ca/ca.crt"`}},
		"storage class":      {func(s *DeploySpec) { s.ModelCache.StorageClass = "fast" }, []string{`"storageClassName":"fast"`}},
		"token":              {func(s *DeploySpec) { s.ModelCache.TokenSecret = "hf" }, []string{`"secretKeyRef":{"key":"token","name":"hf"}`}},
		"size":               {func(s *DeploySpec) { s.ModelCache.Size = "1Ti" }, []string{`"storage":"1Ti"`}},
		"own volume":         {func(s *DeploySpec) { s.ModelPVC = "models" }, []string{`"claimName":"models"`}},
	} {
		for _, version := range []string{v1beta1, v1alpha1} {
			s := testSpec()
			c.set(&s)
			s = s.WithDefaults()
			if err := s.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			plain, _ := json.Marshal(testSpec().objects(version))
			got, err := json.Marshal(s.objects(version))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(string(got), w) {
					t.Errorf("%s in %s: no %s in\n%s", name, version, w, got)
				}
				if strings.Contains(string(plain), w) {
					t.Errorf("%s in %s: %s is there without it", name, version, w)
				}
			}
		}
	}
}

func TestModelVolumes(t *testing.T) {
	s := testSpec()
	s.ModelPVC = "models"
	if got := len(s.objects(v1beta1)); got != 1 {
		t.Errorf("a volume with the model: %d objects, want the deployment alone", got)
	}
	s = testSpec()
	s.ModelCache.Off = true
	b, _ := json.Marshal(s.objects(v1beta1))
	if strings.Contains(string(b), "HF_HUB_OFFLINE") || strings.Contains(string(b), "PersistentVolumeClaim") {
		t.Errorf("without a cache: %s", b)
	}
}

func TestPrecisionOfCheckpoint(t *testing.T) {
	for model, want := range map[string]string{
		"Qwen/Qwen3-8B": "", "Qwen/Qwen3-8B-FP8": "fp8", "nvidia/DeepSeek-R1-NVFP4": "nvfp4", "x/y-AWQ-1": "awq", "fp8tools/plain": "", "a/b_int4": "int4",
	} {
		if got := precisionOf(model); got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
	}
}

func TestSpecRefuses(t *testing.T) {
	for want, set := range map[string]func(*DeploySpec){
		"name ":                  func(s *DeploySpec) { s.Name = "-x" },
		"give --model":           func(s *DeploySpec) { s.Model = "" },
		"model \"a b\"":          func(s *DeploySpec) { s.Model = "a b" },
		"give --gpus":            func(s *DeploySpec) { s.GPUs = 0 },
		"workers of 3":           func(s *DeploySpec) { s.GPUsPerWorker = 3 },
		"router_mode":            func(s *DeploySpec) { s.RouterMode = "direct" },
		"gpu_access":             func(s *DeploySpec) { s.GPUAccess = "mig" },
		"frontends":              func(s *DeploySpec) { s.Frontends = -1 },
		"no image reference":     func(s *DeploySpec) { s.Image = "a b" },
		"model_cache.size":       func(s *DeploySpec) { s.ModelCache.Size = "big" },
		"one of them":            func(s *DeploySpec) { s.KAIQueue, s.KueueQueue = "a", "b" },
		"drop storage_class":     func(s *DeploySpec) { s.ModelPVC, s.ModelCache.StorageClass = "a", "b" },
		"scheduler: ":            func(s *DeploySpec) { s.Scheduler = "A B" },
		"image_pull_secrets: ":   func(s *DeploySpec) { s.ImagePullSecrets = []string{"A B"} },
		"has no key":             func(s *DeploySpec) { s.Tolerations = []Toleration{{Value: "x"}} },
		"ca_bundle.config_map: ": func(s *DeploySpec) { s.CABundle.ConfigMap = "A/B" },
	} {
		s := testSpec()
		set(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestParseDeploySpec(t *testing.T) {
	s, err := ParseDeploySpec("d.yaml", []byte("image: a/b:1\ntolerations: [{key: gpu}]\nmodel_cache: {off: true}\n"))
	if err != nil || s.Image != "a/b:1" || len(s.Tolerations) != 1 || !s.ModelCache.Off {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := ParseDeploySpec("d.yaml", nil); err != nil {
		t.Errorf("an empty file is the template: %v", err)
	}
	for _, bad := range []string{"imge: x", "gpus: 3", "a: b\n---\nc: d", "- x", strings.Repeat("#", maxDeploySpec+1)} {
		if _, err := ParseDeploySpec("d.yaml", []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "d.yaml: ") || strings.Contains(err.Error(), "kube.") {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

func TestStorageClassCheck(t *testing.T) {
	s := testSpec()
	for _, c := range []struct {
		class   string
		classes map[string]bool
		want    string
	}{
		{"", nil, "no default is set"},
		{"", map[string]bool{"a": false, "b": false}, "the cluster has a, b"},
		{"", map[string]bool{"a": true}, ""},
		{"b", map[string]bool{"a": true}, "needs StorageClass b, and the cluster has a"},
		{"a", map[string]bool{"a": false}, ""},
	} {
		s.ModelCache.StorageClass = c.class
		err := s.checkStorageClass(c.classes)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q of %v: %v, want %q", c.class, c.classes, err, c.want)
		}
	}
}

// Whatever a valid spec asks for, its workers have all of its GPUs, both
// versions say the same, and every object lies in its namespace.
func TestObjectsOfAnySpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := DeploySpec{
			Namespace: "bench", Name: "perf", Model: testModel,
			GPUsPerWorker: rapid.IntRange(1, 8).Draw(t, "per"), Frontends: rapid.IntRange(1, 4).Draw(t, "frontends"),
			RouterMode: rapid.SampledFrom(routerModes).Draw(t, "router"), GPUAccess: rapid.SampledFrom([]string{DRA, DevicePlugin}).Draw(t, "access"),
		}
		s.GPUs = s.GPUsPerWorker * rapid.IntRange(1, 16).Draw(t, "workers")
		s.ModelCache.Off = rapid.Bool().Draw(t, "off")
		s = s.WithDefaults()
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		var read []string
		for _, version := range []string{v1beta1, v1alpha1} {
			objects := s.objects(version)
			for _, o := range objects {
				if ns := child(o, "metadata")["namespace"]; ns != "bench" {
					t.Fatalf("%s lies in %v", o["kind"], ns)
				}
			}
			var file []byte
			for _, o := range objects {
				b, err := yaml.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				file = append(append(file, "---\n"...), b...)
			}
			d, err := recipes.ParseDeployment("d", file)
			if err != nil {
				t.Fatal(err)
			}
			w := d.Workers[0]
			if w.Replicas*w.GPUs != s.GPUs || d.RouterMode != s.RouterMode || d.Frontends[0].Replicas != s.Frontends {
				t.Fatalf("%s: %+v of %+v", version, d, s)
			}
			differs, unknown := d.Differences(s.GPUs, s.Model)
			read = append(read, fmt.Sprint(differs, unknown))
		}
		if !slices.Equal(read[:1], read[1:]) {
			t.Fatalf("v1beta1 %s\nv1alpha1 %s", read[0], read[1])
		}
	})
}
