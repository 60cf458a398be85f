package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// podView is what is read of a Pod.
type podView struct {
	Metadata struct {
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		CreationTimestamp string            `json:"creationTimestamp"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		Labels            map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		NodeName   string `json:"nodeName"`
		Containers []struct {
			Resources struct {
				Limits map[string]string `json:"limits"`
			} `json:"resources"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase                 string            `json:"phase"`
		PodIP                 string            `json:"podIP"`
		Reason                string            `json:"reason"`
		Message               string            `json:"message"`
		Conditions            []conditionView   `json:"conditions"`
		InitContainerStatuses []containerStatus `json:"initContainerStatuses"`
		ContainerStatuses     []containerStatus `json:"containerStatuses"`
	} `json:"status"`
}

type conditionView struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type containerStatus struct {
	Name         string `json:"name"`
	Ready        bool   `json:"ready"`
	RestartCount int    `json:"restartCount"`
	State        struct {
		Waiting *struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
		Terminated *struct {
			ExitCode int    `json:"exitCode"`
			Reason   string `json:"reason"`
			Message  string `json:"message"`
		} `json:"terminated"`
	} `json:"state"`
}

// eventView is what is read of an Event.
type eventView struct {
	Reason         string `json:"reason"`
	Message        string `json:"message"`
	Type           string `json:"type"`
	LastTimestamp  string `json:"lastTimestamp"`
	EventTime      string `json:"eventTime"`
	InvolvedObject struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"involvedObject"`
}

// at is when an event was last seen, zero where it does not tell.
func (e eventView) at() time.Time {
	for _, s := range []string{e.LastTimestamp, e.EventTime} {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// view reads an object, or the part of it that T knows.
func view[T any](u unstructured.Unstructured) (T, error) {
	var v T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &v); err != nil {
		return v, fmt.Errorf("reading %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return v, nil
}

func views[T any](list *unstructured.UnstructuredList) ([]T, error) {
	var out []T
	for _, u := range list.Items {
		v, err := view[T](u)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// ready reports whether every container runs and answers.
func (p podView) ready() bool {
	return p.Status.Phase == "Running" && p.Metadata.DeletionTimestamp == "" && len(p.Status.ContainerStatuses) > 0 &&
		!slices.ContainsFunc(p.Status.ContainerStatuses, func(c containerStatus) bool { return !c.Ready })
}

// ended reports whether it will never run again, or is being removed.
func (p podView) ended() bool {
	return p.Status.Phase == "Failed" || p.Status.Phase == "Succeeded" || p.Metadata.DeletionTimestamp != ""
}

// end says in a few words how a pod ended.
func (p podView) end() string {
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			return fmt.Sprintf("container %s: exit code %d %s", c.Name, t.ExitCode, t.Reason)
		}
	}
	return strings.TrimSpace(cmp.Or(p.Status.Reason, p.Status.Phase) + " " + p.Status.Message)
}

// incarnation changes when a container was started anew, in the same pod or in another.
func (p podView) incarnation() string {
	n := 0
	for _, c := range p.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return fmt.Sprintf("%s/%d", p.Metadata.UID, n)
}

// stuck is a reason for which a pod does not run.
type stuck struct {
	reason   string
	hopeless bool // it does not go away by itself
	pull     bool // of its image, which kubelets try now and then
	ended    bool // a process was started and has ended: it may be replaced
	final    bool // nothing will take its place
}

// displaced are the words of kubelets for a pod that had to go, or could not
// come, for want of something of the node's, beside any OutOf….
var displaced = [...]string{"Evicted", "Preempting", "NodeShutdown", "Shutdown", "Terminated", "UnexpectedAdmissionError"}

// disrupted reports whether a pod ended for its node's or the cluster's reasons:
// nothing is wrong with it, and what takes its place may run.
func (p podView) disrupted() bool {
	why := p.Status.Reason
	return p.ended() && (strings.HasPrefix(why, "OutOf") || slices.Contains(displaced[:], why) ||
		slices.ContainsFunc(p.Status.Conditions, func(c conditionView) bool { return c.Type == "DisruptionTarget" && c.Status == "True" }))
}

// waitsFor says why a pod does not run yet; "" when nothing is known yet, or it runs.
func (p podView) waitsFor() stuck {
	if p.disrupted() {
		return stuck{reason: fmt.Sprintf("pod %s had to leave its node (%s) and is replaced", p.Metadata.Name, clip(p.end()))}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" && c.Reason == "Unschedulable" {
			return stuck{reason: fmt.Sprintf("pod %s cannot be scheduled: %s", p.Metadata.Name, clip(c.Message))}
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if s := c.stuck(p.Metadata.Name); s.reason != "" {
			return s
		}
	}
	if p.Status.Phase == "Failed" || p.Status.Phase == "Succeeded" {
		return stuck{reason: fmt.Sprintf("pod %s has ended (%s)", p.Metadata.Name, clip(p.end())), ended: true, final: p.Status.Phase == "Succeeded"}
	}
	return stuck{}
}

// crashLimit is how often a container of a deployment may end before it is no
// accident: workers end when what they wait for is not there yet.
const crashLimit = 3

// podTrouble says why a pod of a deployment is not ready, "" where it is, or is
// only young. crashed is the container that has ended too often.
func (p podView) podTrouble() (s stuck, crashed string) {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if c.Ready || c.RestartCount == 0 {
			continue
		}
		s := stuck{reason: fmt.Sprintf("container %s of pod %s has ended %s", c.Name, p.Metadata.Name, plural.Of(c.RestartCount, "time"))}
		if c.RestartCount >= crashLimit {
			return s, c.Name
		}
		return s, ""
	}
	return p.waitsFor(), ""
}

func (c containerStatus) stuck(pod string) stuck {
	if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
		return stuck{reason: fmt.Sprintf("container %s of pod %s ended with exit code %d (%s)", c.Name, pod, t.ExitCode, clip(cmp.Or(t.Reason, "no reason given"))), ended: true}
	}
	w := c.State.Waiting
	if w == nil {
		return stuck{}
	}
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable":
		return stuck{reason: fmt.Sprintf("pod %s cannot get its image (%s): %s", pod, w.Reason, clip(w.Message)), hopeless: true, pull: true}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return stuck{reason: fmt.Sprintf("container %s of pod %s cannot be made (%s): %s", c.Name, pod, w.Reason, clip(w.Message)), hopeless: true}
	case "CrashLoopBackOff":
		return stuck{reason: fmt.Sprintf("container %s of pod %s ends again and again", c.Name, pod), ended: true}
	}
	return stuck{}
}
