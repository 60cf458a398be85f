package kube

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Marks of the generator's Job beside those of its run.
const (
	// CampaignLabel is the same for every process that continues one journal, by
	// which the next one finds what a killed one left.
	CampaignLabel  = "perfsweep/campaign"
	componentLabel = "app.kubernetes.io/component"
	componentLoad  = "load"

	targetAnnotation  = "perfsweep/target"
	versionAnnotation = "perfsweep/version"
	jobLabel          = "batch.kubernetes.io/job-name"
	indexLabel        = "batch.kubernetes.io/job-completion-index"
	loadContainer     = "load"
)

// What bounds a Job whose coordinator was killed: the workers end themselves
// when nobody calls them, an ended Job is collected after finishedTTL, and no
// Job outlives longestLoad.
const (
	finishedTTL = 5 * time.Minute
	longestLoad = 48 * time.Hour
	// podGrace is the time between the wish that a pod ends and its end by force.
	podGrace = 5 * time.Second
	// podFailures is how often a pod is replaced before its Job gives up.
	podFailures = 5
	// MaxLoadPods bounds a Job.
	MaxLoadPods = 256
)

// SecretKey is a value by reference: nothing of it passes through this program.
type SecretKey struct{ Name, Key string }

// LoadSpec says what the Job of load generators is to be.
type LoadSpec struct {
	Namespace, Image string
	Args             []string
	Env              map[string]string
	// SecretEnv comes from Secrets that exist; OwnSecret from one that is made
	// for the Job and goes with it.
	SecretEnv map[string]SecretKey
	OwnSecret map[string]string
	Pods      int
	Port      int
	// Campaign is the value of CampaignLabel; Target and Version are for whoever
	// finds the Job.
	Run                       Run
	Campaign, Target, Version string
	CPU, Memory               string // requests of a pod
	NodeSelector              map[string]string
	Tolerations               []Toleration
	Avoid                     []string // nodes that no pod may be on
	PullSecrets               []string
	// Wait is how long the pods may take to run.
	Wait time.Duration
	// Say, when set, hears what is waited for.
	Say func(string)
}

var campaignID = regexp.MustCompile(`^[a-z0-9]{1,20}$`)

// ValidCampaign reports whether an id, from a journal for example, can be one of
// ours: a label holds it.
func ValidCampaign(id string) bool { return campaignID.MatchString(id) }

// NewCampaign is a random id of a campaign.
func NewCampaign() string { return strings.ToLower(rand.Text()[:10]) }

func (s *LoadSpec) check() error {
	switch {
	case s.Namespace == "":
		return errors.New("the load generators need a namespace")
	case s.Image == "":
		return errors.New("the load generators need an image")
	case s.Pods < 1 || s.Pods > MaxLoadPods:
		return fmt.Errorf("%s of load generators: use 1 to %d", plural.Of(s.Pods, "pod"), MaxLoadPods)
	case s.Port < 1 || s.Port > 65535:
		return fmt.Errorf("port %d of the load generators: use 1 to 65535", s.Port)
	case !ValidCampaign(s.Campaign):
		return fmt.Errorf("the campaign's id %q: use up to 20 lower-case letters and digits", clip(s.Campaign))
	}
	return nil
}

func (s *LoadSpec) labels() map[string]any {
	l := asAny(s.Run.Labels())
	l[componentLabel], l[CampaignLabel] = componentLoad, s.Campaign
	return l
}

// job is the Indexed Job. A pod that ends is replaced under its index as long as
// the Job stands; its restart is never hidden in the same pod (Never), so that
// what was lost can be seen.
func (s *LoadSpec) job(name string) map[string]any {
	job := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"name": name, "namespace": s.Namespace, "labels": s.labels(),
			"annotations": map[string]any{targetAnnotation: s.Target, versionAnnotation: s.Version},
		},
		"spec": map[string]any{
			"completionMode":          "Indexed",
			"completions":             int64(s.Pods),
			"parallelism":             int64(s.Pods),
			"backoffLimitPerIndex":    int64(podFailures),
			"podReplacementPolicy":    "TerminatingOrFailed",
			"activeDeadlineSeconds":   seconds(longestLoad),
			"ttlSecondsAfterFinished": seconds(finishedTTL),
			"template": map[string]any{
				"metadata": map[string]any{"labels": s.labels()},
				"spec":     s.pod(name),
			},
		},
	}
	s.Run.mark(job)
	return job
}

func (s *LoadSpec) pod(name string) map[string]any {
	pod := map[string]any{
		"restartPolicy":                 "Never",
		"automountServiceAccountToken":  false,
		"enableServiceLinks":            false,
		"terminationGracePeriodSeconds": seconds(podGrace),
		"securityContext": map[string]any{
			"runAsNonRoot": true, "runAsUser": int64(65532), "runAsGroup": int64(65532),
			"seccompProfile": map[string]any{"type": "RuntimeDefault"},
		},
		// One machine's network or CPU is the limit that several pods are to lift.
		"topologySpreadConstraints": []any{map[string]any{
			"maxSkew": int64(1), "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
			"labelSelector": map[string]any{"matchLabels": map[string]any{RunLabel: s.Run.ID, componentLabel: componentLoad}},
		}},
		"containers": []any{s.container(name)},
	}
	place(pod, s.NodeSelector, s.Tolerations, s.PullSecrets)
	if len(s.Avoid) > 0 {
		pod["affinity"] = offNodes(s.Avoid)
	}
	return pod
}

// container has no CPU limit: throttling would be measured as the server's delay.
func (s *LoadSpec) container(name string) map[string]any {
	c := map[string]any{
		"name": loadContainer, "image": s.Image,
		"ports": []any{map[string]any{"name": "control", "containerPort": int64(s.Port)}},
		"resources": map[string]any{
			"requests": map[string]any{"cpu": s.CPU, "memory": s.Memory},
		},
		"securityContext": map[string]any{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
			"capabilities": map[string]any{"drop": []any{"ALL"}},
		},
		// Once it listens it is not asked again: no probe during a level.
		"startupProbe": map[string]any{
			"tcpSocket":     map[string]any{"port": "control"},
			"periodSeconds": int64(1), "failureThreshold": int64(60),
		},
	}
	if len(s.Args) > 0 {
		var args []any
		for _, a := range s.Args {
			args = append(args, a)
		}
		c["args"] = args
	}
	if env := s.env(name); len(env) > 0 {
		c["env"] = env
	}
	return c
}

// env is sorted, so that one spec is one Job.
func (s *LoadSpec) env(name string) []any {
	var env []any
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, map[string]any{"name": k, "value": s.Env[k]})
	}
	for _, k := range slices.Sorted(maps.Keys(s.SecretEnv)) {
		env = append(env, fromSecret(k, s.SecretEnv[k]))
	}
	for _, k := range slices.Sorted(maps.Keys(s.OwnSecret)) {
		env = append(env, fromSecret(k, SecretKey{Name: name, Key: k}))
	}
	return env
}

func fromSecret(env string, k SecretKey) map[string]any {
	return map[string]any{"name": env, "valueFrom": map[string]any{
		"secretKeyRef": map[string]any{"name": k.Name, "key": k.Key},
	}}
}

// secret goes with its Job: the collector removes it once the Job is gone,
// whoever removes that.
func (s *LoadSpec) secret(name, jobUID string) map[string]any {
	secret := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
		"metadata": map[string]any{
			"name": name, "namespace": s.Namespace, "labels": s.labels(),
			"ownerReferences": []any{map[string]any{
				"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": jobUID,
			}},
		},
		"stringData": asAny(s.OwnSecret),
	}
	s.Run.mark(secret)
	return secret
}

// offNodes keeps pods off nodes by their names: a hostname label need not be one.
func offNodes(nodes []string) map[string]any {
	var not []any
	for _, n := range slices.Compact(slices.Sorted(slices.Values(nodes))) {
		not = append(not, map[string]any{"key": "metadata.name", "operator": "NotIn", "values": []any{n}})
	}
	return map[string]any{"nodeAffinity": map[string]any{
		"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
			"nodeSelectorTerms": []any{map[string]any{"matchFields": not}},
		},
	}}
}

// ParseToleration reads KEY[=VALUE][:EFFECT], as kubectl writes a taint.
func ParseToleration(s string) (Toleration, error) {
	rest, effect, _ := strings.Cut(s, ":")
	key, value, _ := strings.Cut(rest, "=")
	t := Toleration{Key: key, Value: value, Effect: effect}
	if key == "" || !slices.Contains([]string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, effect) {
		return t, fmt.Errorf("toleration %q: use KEY[=VALUE][:EFFECT] with the effect NoSchedule, PreferNoSchedule or NoExecute", s)
	}
	return t, nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
