package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// loadImage is the image that holds this program, stamped where one is published
// with it.
var loadImage string

// loadFlags say how load is made for a k8s: target: by pods next to it.
type loadFlags struct {
	pods         string
	image        string
	namespace    string
	nodeSelector []string
	tolerations  []string
	pullSecrets  []string
	offEngine    bool
	cpu, memory  string
	wait         time.Duration
	apiKeySecret string
}

// loadFlagNames are those that mean nothing without a k8s: target.
var loadFlagNames = [...]string{
	"load-pods", "load-image", "load-namespace", "load-node-selector", "load-toleration", "load-pull-secret",
	"load-off-engine-nodes", "load-wait", "load-cpu", "load-memory", "api-key-secret",
}

func (l *loadFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&l.pods, "load-pods", "auto", "k8s: targets: pods that make the load together, a number or auto: as many as there are GPUs, at least one for each 512 streams of the largest level, on the assumption that a pod of 2 CPUs reads 25,000 tok/s: selftest in such a pod tells, that of this machine is not used, and V8 finds pods that fall behind")
	f.StringVar(&l.image, "load-image", loadImage, "k8s: targets: image whose entry point is this program, in this version (in a pod: its own)")
	f.StringVar(&l.namespace, "load-namespace", "", "k8s: targets: namespace of those pods (default: the target's)")
	f.StringArrayVar(&l.nodeSelector, "load-node-selector", nil, "k8s: targets: key=value that the nodes of those pods must be labelled with; repeatable")
	f.StringArrayVar(&l.tolerations, "load-toleration", nil, "k8s: targets: KEY[=VALUE][:EFFECT] of a taint that those pods tolerate; repeatable")
	f.StringArrayVar(&l.pullSecrets, "load-pull-secret", nil, "k8s: targets: Secret with which --load-image is pulled; repeatable")
	f.BoolVar(&l.offEngine, "load-off-engine-nodes", false, "k8s: targets: keep those pods off the nodes that the deployment runs on")
	f.DurationVar(&l.wait, "load-wait", kube.DefaultLoadWait, "k8s: targets: how long those pods may take to run")
	f.StringVar(&l.cpu, "load-cpu", "2", "k8s: targets: CPU that each of those pods requests")
	f.StringVar(&l.memory, "load-memory", "1Gi", "k8s: targets: memory that each of those pods requests")
	f.StringVar(&l.apiKeySecret, "api-key-secret", "", "k8s: targets: NAME/KEY of the Secret in the pods' namespace that holds the API key; it is not read by this process")
}

// refuse refuses the flags for a target of another kind.
func (l *loadFlags) refuse(changed func(string) bool) error {
	for _, f := range loadFlagNames {
		if changed(f) {
			return badInputf("--%s is for k8s: targets: load on any other is made by this process", f)
		}
	}
	return nil
}

const (
	// streamsPerPod is what a pod with two CPUs holds without becoming the
	// bottleneck at 20 ms a token: 25,000 tokens a second. A deployment whose
	// tokens come faster is covered by a pod a GPU; both are looked after by V8.
	streamsPerPod = 512
	mostAutoPods  = 32
)

// count is the number of pods for a largest level, and why.
func (l *loadFlags) count(gpus, streams int) (n int, why string, err error) {
	if l.pods != "auto" {
		n, err := strconv.Atoi(l.pods)
		if err != nil || n < 1 || n > kube.MaxLoadPods {
			return 0, "", badInputf("--load-pods %q: use auto, or a number from 1 to %d", l.pods, kube.MaxLoadPods)
		}
		if streams > 0 && n > streams {
			return 0, "", badInputf("--load-pods %d: the largest level has %s, fewer than that; use no more pods than streams", n, plural.Of(streams, "stream"))
		}
		return n, "as asked", nil
	}
	n = max(gpus, (streams+streamsPerPod-1)/streamsPerPod, 1)
	n = min(n, mostAutoPods)
	if streams > 0 {
		n = min(n, streams)
	}
	return n, fmt.Sprintf("one for each GPU, and for each %d of up to %s; --load-pods chooses another number", streamsPerPod, plural.Of(streams, "stream")), nil
}

var secretName = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`)
var secretKeyName = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

// spec is what the flags say of the Job of load generators; own is the image of
// this process, where it is known.
func (l *loadFlags) spec(own func() string) (kube.LoadSpec, error) {
	s := kube.LoadSpec{
		Namespace: l.namespace, Image: l.image, PullSecrets: l.pullSecrets, CPU: l.cpu, Memory: l.memory, Wait: l.wait,
		SecretEnv: map[string]kube.SecretKey{},
	}
	if s.Image == "" {
		s.Image = own()
	}
	if s.Image == "" {
		return s, badInputf("a k8s: target is measured from pods next to it, and this build names no image for them: give --load-image IMAGE, one whose entry point is this program (deploy/Containerfile makes it)")
	}
	if l.wait < time.Second {
		return s, badInputf("--load-wait %s: must be at least 1s", l.wait)
	}
	var err error
	if s.NodeSelector, err = labelMap("load-node-selector", l.nodeSelector); err != nil {
		return s, err
	}
	for _, t := range l.tolerations {
		one, err := kube.ParseToleration(t)
		if err != nil {
			return s, badInputf("--load-toleration: %w", err)
		}
		s.Tolerations = append(s.Tolerations, one)
	}
	for _, q := range []struct{ flag, value string }{{"load-cpu", l.cpu}, {"load-memory", l.memory}} {
		if !quantity.MatchString(q.value) {
			return s, badInputf("--%s %q: use a quantity such as 500m, 2 or 1Gi", q.flag, q.value)
		}
	}
	if l.apiKeySecret != "" {
		name, key, ok := strings.Cut(l.apiKeySecret, "/")
		if !ok || !secretName.MatchString(name) || !secretKeyName.MatchString(key) {
			return s, badInputf("--api-key-secret: use NAME/KEY of a Secret, not the key itself")
		}
		s.SecretEnv[workerKeyEnv] = kube.SecretKey{Name: name, Key: key}
	}
	return s, nil
}

var quantity = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`)
