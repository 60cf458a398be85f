package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxCall bounds the answer of a load generator.
const maxCall = 2 << 20

// LoadPod is one load generator: whatever pod runs under its index of the Job.
type LoadPod struct {
	job   *LoadJob
	index int

	mu  sync.Mutex
	pod podView
}

func (p *LoadPod) is(now podView) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pod = now
}

func (p *LoadPod) now() podView {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pod
}

// Name is the name of the pod that runs under the index now.
func (p *LoadPod) Name() string { return p.now().Metadata.Name }

// Node is where it runs.
func (p *LoadPod) Node() string { return p.now().Spec.NodeName }

// Call makes one request to the pod's control server: through the API server
// from outside the cluster, which lets in who may use pods/proxy; to its address
// from inside.
func (p *LoadPod) Call(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error) {
	c, pod, ns := p.job.c, p.now(), p.job.spec.Namespace
	var resp *http.Response
	var err error
	if c.inCluster {
		resp, err = c.direct(ctx, method, fmt.Sprintf("http://%s:%d%s", hostOf(pod.Status.PodIP), p.job.spec.Port, path), header, body)
	} else {
		via := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy%s", url.PathEscape(ns), url.PathEscape(pod.Metadata.Name), p.job.spec.Port, path)
		resp, err = c.raw(ctx, method, via, header, bytes.NewReader(body))
	}
	if err != nil {
		return nil, fmt.Errorf("calling %s of pod %s: %w", path, pod.Metadata.Name, err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxCall+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the answer of pod %s to %s: %w", pod.Metadata.Name, path, err)
	case len(answer) > maxCall:
		return nil, fmt.Errorf("the answer of pod %s to %s is larger than %d bytes", pod.Metadata.Name, path, maxCall)
	case resp.StatusCode == http.StatusOK:
		return answer, nil
	case resp.StatusCode >= http.StatusBadRequest && bytes.Contains(answer, []byte(`"kind":"Status"`)): // the API server's own words, not the pod's
		resp.Body = io.NopCloser(bytes.NewReader(answer))
		return nil, explain(statusError(resp), proxyVerb(method), "pods/proxy", ns, pod.Metadata.Name)
	}
	return nil, fmt.Errorf("pod %s answers %s to %s: %s", pod.Metadata.Name, resp.Status, path, clip(string(answer)))
}

// proxyVerb is what the API server asks its rules about.
func proxyVerb(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		return "delete"
	}
	return "get"
}

// Lines follows the standard output of the pod, from a time on.
func (p *LoadPod) Lines(ctx context.Context, since time.Time) (io.ReadCloser, error) {
	return p.job.c.follow(ctx, p.job.spec.Namespace, p.Name(), loadContainer, since)
}

// Alive tells which process runs in the pod; an error says that it is gone, or
// cannot be asked. What replaces it is another incarnation, known from Ready on.
func (p *LoadPod) Alive(ctx context.Context) (string, error) {
	pod, c, ns := p.now(), p.job.c, p.job.spec.Namespace
	u, err := c.resource(podKind, ns).Get(ctx, pod.Metadata.Name, metav1.GetOptions{})
	if err != nil {
		return "", explain(err, "get", "pods", ns, pod.Metadata.Name)
	}
	now, err := view[podView](*u)
	if err != nil {
		return "", err
	}
	if now.ended() {
		return "", fmt.Errorf("pod %s has ended (%s)", pod.Metadata.Name, clip(now.end()))
	}
	return now.incarnation(), nil
}

// direct is a request to a pod from inside the cluster. No proxy of the
// environment leads there, no credentials go along, and no redirect is followed.
func (c *Client) direct(ctx context.Context, method, to string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	return c.inside.Do(req)
}

func hostOf(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}
