package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// DeploySpec is a deployment to bring up. What it leaves out is as in the
// deployment that AICR's evaluator makes for itself.
type DeploySpec struct {
	Namespace string `yaml:"-"`
	Name      string `yaml:"-"`
	Model     string `yaml:"-"`
	GPUs      int    `yaml:"-"` // of all workers
	// Keep marks what is made, so that cleaning up after ended runs spares it.
	Keep bool `yaml:"-"`

	Image string `yaml:"image"`
	// ImageRegistry takes the place of the registry of every image.
	ImageRegistry string `yaml:"image_registry"`
	// ImagePullSecrets are Secrets of the namespace.
	ImagePullSecrets []string `yaml:"image_pull_secrets"`
	GPUsPerWorker    int      `yaml:"gpus_per_worker"`
	// Precision is that of the checkpoint; it is stated, not set: a precision is
	// chosen with the checkpoint that the model names.
	Precision    string            `yaml:"precision"`
	RouterMode   string            `yaml:"router_mode"`
	Frontends    int               `yaml:"frontends"`
	NodeSelector map[string]string `yaml:"node_selector"`
	Tolerations  []Toleration      `yaml:"tolerations"`
	// Scheduler is its name. A queue belongs to KAI or to Kueue.
	Scheduler  string `yaml:"scheduler"`
	KAIQueue   string `yaml:"kai_queue"`
	KueueQueue string `yaml:"kueue_queue"`
	// GPUAccess is device-plugin or dra.
	GPUAccess string   `yaml:"gpu_access"`
	CABundle  CABundle `yaml:"ca_bundle"`
	// ModelPVC is a claim that holds the model, as a Hugging Face cache: with it
	// nothing is downloaded.
	ModelPVC   string     `yaml:"model_pvc"`
	ModelCache ModelCache `yaml:"model_cache"`
}

// Toleration lets pods onto nodes with a taint. An empty Value tolerates every
// one of its key, an empty Effect every effect, an empty Key every taint.
type Toleration struct {
	Key    string `yaml:"key"`
	Value  string `yaml:"value"`
	Effect string `yaml:"effect"`
}

// CABundle is a file of certificates in a ConfigMap.
type CABundle struct {
	ConfigMap string `yaml:"config_map"`
	Key       string `yaml:"key"`
}

// ModelCache is a volume that the model is downloaded into once, before any
// worker starts.
type ModelCache struct {
	Off          bool   `yaml:"off"`
	Size         string `yaml:"size"`
	StorageClass string `yaml:"storage_class"`
	// TokenSecret holds a Hugging Face token under TokenKey.
	TokenSecret string `yaml:"token_secret"`
	TokenKey    string `yaml:"token_key"`
}

// The ways to a GPU.
const (
	DevicePlugin = "device-plugin"
	DRA          = "dra"
)

// AICR's own deployment (testdata/inference/dynamo-deployment.yaml and
// model_cache.go of its performance validator, August 2026).
const (
	defaultImage  = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13"
	defaultRouter = "least-loaded"
	defaultCache  = "100Gi"
)

const maxDeploySpec = 64 << 10

// wrongType is how the YAML library names our types.
var wrongType = regexp.MustCompile(`(type )?kube\.[A-Za-z]+`)

// ParseDeploySpec reads the fields of a file; one that is unknown is an error.
func ParseDeploySpec(name string, b []byte) (DeploySpec, error) {
	var s DeploySpec
	if len(b) > maxDeploySpec {
		return s, fmt.Errorf("%s: %d bytes is too large for the fields of a deployment", name, len(b))
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		said := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: unmarshal errors: ")
		return s, fmt.Errorf("%s: %s", name, wrongType.ReplaceAllString(said, "this file's fields"))
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("%s: more than one document", name)
	}
	return s, nil
}

// WithDefaults fills in what AICR's deployment has.
func (s DeploySpec) WithDefaults() DeploySpec {
	def := func(v *string, to string) {
		if *v == "" {
			*v = to
		}
	}
	def(&s.Image, defaultImage)
	def(&s.RouterMode, defaultRouter)
	def(&s.GPUAccess, DevicePlugin)
	def(&s.ModelCache.Size, defaultCache)
	def(&s.ModelCache.TokenKey, "token")
	def(&s.CABundle.Key, "ca.crt")
	if s.KAIQueue != "" {
		def(&s.Scheduler, "kai-scheduler")
	}
	if s.GPUsPerWorker == 0 {
		s.GPUsPerWorker = 1
	}
	if s.Frontends == 0 {
		s.Frontends = 1
	}
	def(&s.Precision, precisionOf(s.Model))
	return s
}

// Workers is how many there are.
func (s DeploySpec) Workers() int { return s.GPUs / max(s.GPUsPerWorker, 1) }

// image is one as it is pulled.
func (s DeploySpec) image() string {
	if s.ImageRegistry == "" {
		return s.Image
	}
	rest := s.Image
	if host, path, ok := strings.Cut(s.Image, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		rest = path
	}
	return strings.TrimSuffix(s.ImageRegistry, "/") + "/" + rest
}

// A checkpoint's name tells its precision by convention.
var precisionWord = regexp.MustCompile(`(?i)(?:^|[-_./])(nvfp4|mxfp4|fp4|fp8|bf16|fp16|int8|int4|awq|gptq)(?:$|[-_.])`)

func precisionOf(model string) string {
	if m := precisionWord.FindStringSubmatch(model); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// The bounds of what is asked of a cluster.
const (
	maxWorkers   = 4096
	maxFrontends = 256
	maxDGDName   = 40 // the operator appends the names of components and hashes
)

var (
	dnsLabel    = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	dnsName     = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`)
	quantity    = regexp.MustCompile(`^[1-9][0-9]*(Mi|Gi|Ti|M|G|T)$`)
	imageRef    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)
	hubName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
	routerModes = []string{"kv", "round-robin", "random", "power-of-two", "least-loaded", "device-aware-weighted"}
)

// Validate says what of a complete spec cannot be.
func (s DeploySpec) Validate() error {
	switch {
	case !dnsLabel.MatchString(s.Name) || len(s.Name) > maxDGDName:
		return fmt.Errorf("name %.60q: use at most %d of a-z, 0-9 and -, a letter first", s.Name, maxDGDName)
	case s.Model == "":
		return errors.New("which model is to be served? give --model, such as Qwen/Qwen3-8B")
	case !hubName.MatchString(s.Model):
		return fmt.Errorf("model %.80q: use letters, digits and . _ - /", s.Model)
	case s.GPUs < 1:
		return errors.New("how many GPUs is it to have? give --gpus N")
	case s.GPUsPerWorker < 1 || s.GPUs%s.GPUsPerWorker != 0:
		return fmt.Errorf("%s cannot be shared out to workers of %d", plural.Of(s.GPUs, "GPU"), s.GPUsPerWorker)
	case s.Workers() > maxWorkers:
		return fmt.Errorf("%s are more than %d", plural.Of(s.Workers(), "worker"), maxWorkers)
	case s.Frontends < 1 || s.Frontends > maxFrontends:
		return fmt.Errorf("frontends: %d: must be between 1 and %d", s.Frontends, maxFrontends)
	case !slices.Contains(routerModes, s.RouterMode):
		return fmt.Errorf("router_mode: %.40q: use %s", s.RouterMode, strings.Join(routerModes, ", "))
	case s.GPUAccess != DevicePlugin && s.GPUAccess != DRA:
		return fmt.Errorf("gpu_access: %.40q: use %s or %s", s.GPUAccess, DevicePlugin, DRA)
	case !imageRef.MatchString(s.Image) || s.ImageRegistry != "" && !imageRef.MatchString(s.ImageRegistry):
		return fmt.Errorf("image: %.80q of %.80q is no image reference", s.Image, s.ImageRegistry)
	case !quantity.MatchString(s.ModelCache.Size):
		return fmt.Errorf("model_cache.size: %.40q: use a size such as 100Gi", s.ModelCache.Size)
	case s.KAIQueue != "" && s.KueueQueue != "":
		return errors.New("kai_queue and kueue_queue: a pod waits in one queue; give one of them")
	case s.ModelPVC != "" && (s.ModelCache.StorageClass != "" || s.ModelCache.TokenSecret != ""):
		return errors.New("model_pvc holds the model already: drop storage_class and token_secret of model_cache")
	}
	return s.validNames()
}

// validNames looks at the names of other objects.
func (s DeploySpec) validNames() error {
	for what, name := range map[string]string{
		"scheduler": s.Scheduler, "kai_queue": s.KAIQueue, "kueue_queue": s.KueueQueue, "model_pvc": s.ModelPVC,
		"ca_bundle.config_map": s.CABundle.ConfigMap, "model_cache.storage_class": s.ModelCache.StorageClass, "model_cache.token_secret": s.ModelCache.TokenSecret,
	} {
		if name != "" && (!dnsName.MatchString(name) || len(name) > 253) {
			return fmt.Errorf("%s: %.60q is no name in Kubernetes", what, name)
		}
	}
	for _, name := range s.ImagePullSecrets {
		if !dnsName.MatchString(name) {
			return fmt.Errorf("image_pull_secrets: %.60q is no name in Kubernetes", name)
		}
	}
	for _, t := range s.Tolerations {
		if t.Key == "" && t.Value != "" {
			return fmt.Errorf("tolerations: the value %.40q has no key", t.Value)
		}
	}
	return nil
}
