package kube

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
		s := stuck{reason: fmt.Sprintf("container %s of pod %s has ended %d times", c.Name, p.Metadata.Name, c.RestartCount)}
		if c.RestartCount >= crashLimit {
			return s, c.Name
		}
		return s, ""
	}
	return p.waitsFor(), ""
}

// The end of a log that goes into a message.
const (
	tailLines = 10
	tailBytes = 4 << 10
)

// logGone begins what a kubelet answers, as if it were the log, of a container
// that it has removed meanwhile: it keeps the last one that ended, and what a
// pod's status says can be one behind.
const logGone = "unable to retrieve container logs for "

// lastWords are the last lines of a container, where previous is set of the one
// that ran before it was started again.
func (c *Client) lastWords(ctx context.Context, ns, pod, container string, previous bool) string {
	text, err := c.tail(ctx, ns, pod, container, previous)
	if previous && strings.HasPrefix(text, logGone) {
		text, err = c.tail(ctx, ns, pod, container, false)
	}
	if err != nil {
		return "; its log cannot be read: " + err.Error()
	}
	out := ""
	for line := range strings.Lines(text) {
		if line = clip(line); line != "" {
			out += "\n    " + line
		}
	}
	if out == "" {
		return "; it wrote nothing"
	}
	return "; it wrote:" + out
}

func (c *Client) tail(ctx context.Context, ns, pod, container string, previous bool) (string, error) {
	q := url.Values{"tailLines": {itoa(tailLines)}, "limitBytes": {itoa(tailBytes)}, "container": {container}}
	if previous {
		q.Set("previous", "true")
	}
	body, err := c.log(ctx, ns, pod, q)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()                 // it was only read
	b, _ := io.ReadAll(io.LimitReader(body, tailBytes)) // a part of the log is better than none
	return string(b), nil
}

// condition is a condition of a Job.
func condition(o map[string]any, kind string) (status, why string) {
	list, _, _ := unstructured.NestedSlice(o, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			status, _ = m["status"].(string)
			reason, _ := m["reason"].(string)
			message, _ := m["message"].(string)
			return status, clip(strings.Trim(reason+": "+message, ": "))
		}
	}
	return "", ""
}
