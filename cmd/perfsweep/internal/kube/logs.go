package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// follow reads a container's output as it is written. The API server knows
// whole seconds only: what was written in the second of since comes again.
func (c *Client) follow(ctx context.Context, ns, pod, container string, since time.Time) (io.ReadCloser, error) {
	q := url.Values{"container": {container}, "follow": {"true"}}
	if !since.IsZero() {
		q.Set("sinceTime", since.UTC().Truncate(time.Second).Format(time.RFC3339))
	}
	return c.log(ctx, ns, pod, q)
}

func (c *Client) log(ctx context.Context, ns, pod string, q url.Values) (io.ReadCloser, error) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/log?%s", url.PathEscape(ns), url.PathEscape(pod), q.Encode())
	resp, err := c.raw(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, explain(err, "get", "pods/log", ns, pod)
	}
	if err := statusError(resp); err != nil {
		_ = resp.Body.Close() // it was only read
		return nil, explain(err, "get", "pods/log", ns, pod)
	}
	return resp.Body, nil
}

// The end of a log that goes into a message.
const (
	tailLines = 10
	tailBytes = 4 << 10
)

// wordsTime bounds how long the end of a log is waited for: it only explains.
const wordsTime = 15 * time.Second

// FrontendWords say which pod is the frontend of a deployment, what it waits for,
// and what it wrote last.
func (c *Client) FrontendWords(ctx context.Context, ns, name string) string {
	ctx, cancel := context.WithTimeout(ctx, wordsTime)
	defer cancel()
	list, err := c.podsBy(ctx, ns, labelGraph+"="+name+","+labelType+"=frontend")
	if err != nil {
		return "; its frontend's log cannot be read: " + err.Error()
	}
	if len(list) == 0 {
		return fmt.Sprintf("; no pod in namespace %s has the labels of its frontend (%s=%s, %s=frontend)", clip(ns), labelGraph, clip(name), labelType)
	}
	slices.SortFunc(list, func(a, b podView) int { // the newest that has not ended
		if a.ended() != b.ended() {
			return map[bool]int{true: 1, false: -1}[a.ended()]
		}
		return strings.Compare(b.Metadata.CreationTimestamp, a.Metadata.CreationTimestamp)
	})
	p := list[0]
	out := "; its frontend is pod " + clip(p.Metadata.Name)
	if why, _ := p.podTrouble(); why.reason != "" {
		out += " (" + why.reason + ")"
	}
	main, ok := p.mainContainer()
	if !ok {
		return out
	}
	return out + c.lastWords(ctx, ns, p.Metadata.Name, main.Name, !main.Ready && main.RestartCount > 0)
}

// mainContainer is the one that the operator calls main, else the first.
func (p podView) mainContainer() (containerStatus, bool) {
	all := p.Status.ContainerStatuses
	if len(all) == 0 {
		return containerStatus{}, false
	}
	return all[max(0, slices.IndexFunc(all, func(c containerStatus) bool { return c.Name == "main" }))], true
}

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
