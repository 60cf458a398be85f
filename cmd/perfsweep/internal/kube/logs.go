package kube

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxLog bounds the last lines of a log.
const maxLog = 64 << 10

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

// LastLines are the last lines that a container wrote.
func (c *Client) LastLines(ctx context.Context, ns, pod, container string, n int) ([]string, error) {
	body, err := c.log(ctx, ns, pod, url.Values{
		"container": {container}, "tailLines": {strconv.Itoa(n)}, "limitBytes": {strconv.Itoa(maxLog)},
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(body, maxLog))
	if err != nil {
		return nil, fmt.Errorf("reading the log of pod %s: %w", pod, err)
	}
	var lines []string
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if l := clip(s.Text()); l != "" {
			lines = append(lines, l)
		}
	}
	return lines, nil
}
