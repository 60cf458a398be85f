// Package kube is the only place that knows Kubernetes: it reads Dynamo
// deployments, and runs and removes what a measurement needs in a cluster.
package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// namespaceFile is where a pod finds the namespace that it runs in.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// maxAnswer bounds one answer of the API server: a list of thousands of pods
// takes a few megabytes.
const maxAnswer = 64 << 20

// Client talks to one cluster. Its methods may be called concurrently.
type Client struct {
	dynamic   dynamic.Interface
	stream    *http.Client // unbounded answers, asked for once: logs, pods
	short     *http.Client // answers that end, asked for until they come
	base      *url.URL     // of the API server
	namespace string
	inCluster bool
	inside    *http.Client // pods, without credentials
}

// Open connects to the cluster of a kubeconfig and one of its contexts. An
// empty kubeconfig means $KUBECONFIG, then ~/.kube/config, then the service
// account of the pod that this process runs in; an empty context is the current
// one. Nothing is sent yet.
func Open(kubeconfig, context string) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	rules.WarnIfAllMissing = false
	if err := regular(append(rules.Precedence, kubeconfig)); err != nil {
		return nil, err
	}
	loaded, err := rules.Load()
	if err != nil {
		return nil, inputf("reading the kubeconfig: %w", err)
	}
	if kubeconfig == "" && len(loaded.Clusters) == 0 && context == "" {
		return openInCluster()
	}
	if err := usable(loaded, cmp.Or(context, loaded.CurrentContext)); err != nil {
		return nil, err
	}
	lazy := clientcmd.NewDefaultClientConfig(*loaded, &clientcmd.ConfigOverrides{CurrentContext: context})
	cfg, err := lazy.ClientConfig()
	if err != nil {
		return nil, inputf("using the kubeconfig: %w", err)
	}
	namespace, _, err := lazy.Namespace()
	if err != nil {
		return nil, inputf("using the kubeconfig: %w", err)
	}
	return newClient(cfg, namespace, false)
}

// usable refuses a kubeconfig whose context does not lead to a cluster and a user
// of its own: the library would speak of another source of them, or ask as nobody.
func usable(k *api.Config, context string) error {
	c := k.Contexts[context]
	switch {
	case context == "" && len(k.Contexts) == 0:
		return inputf("the kubeconfig has no context; give one that has with --kubeconfig FILE")
	case context == "":
		return inputf("the kubeconfig has no current context; choose one with --context: it has %s", names(k.Contexts))
	case c == nil:
		return inputf("the kubeconfig has no context %q; choose one with --context: it has %s", clip(context), names(k.Contexts))
	case k.Clusters[c.Cluster] == nil:
		return inputf("context %q of the kubeconfig is for the cluster %q, which it does not define: it has %s; choose another one with --context", clip(context), clip(c.Cluster), names(k.Clusters))
	case c.AuthInfo != "" && k.AuthInfos[c.AuthInfo] == nil:
		return inputf("context %q of the kubeconfig is for the user %q, whom it does not define: it has %s; choose another one with --context", clip(context), clip(c.AuthInfo), names(k.AuthInfos))
	}
	return nil
}

// regular refuses a pipe or device as kubeconfig, which would hold the reader for
// ever; the null device is how one says that there is none.
func regular(files []string) error {
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && path != os.DevNull && !info.Mode().IsRegular() {
			return inputf("the kubeconfig %s is not a regular file; name one", path)
		}
	}
	return nil
}

func openInCluster() (*Client, error) {
	cfg, err := rest.InClusterConfig()
	switch {
	case errors.Is(err, rest.ErrNotInCluster):
		return nil, inputf("no cluster is known: there is no kubeconfig ($KUBECONFIG, ~/.kube/config) and this is no pod; give --kubeconfig FILE")
	case err != nil:
		return nil, fmt.Errorf("using the pod's service account: %w; give the pod one (automountServiceAccountToken: true)", err)
	}
	namespace, err := os.ReadFile(namespaceFile)
	if err != nil {
		return nil, fmt.Errorf("reading the pod's namespace: %w", err)
	}
	return newClient(cfg, strings.TrimSpace(string(namespace)), true)
}

func newClient(cfg *rest.Config, namespace string, inCluster bool) (*Client, error) {
	// The library's limit of 5 calls a second delays what is watched by seconds;
	// the API server has a fair queue of its own.
	cfg.QPS = -1
	cfg.UserAgent = "perfsweep"
	cfg.WarningHandlerWithContext = rest.NoWarnings{}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, inputf("the kubeconfig's server: %w", err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, inputf("using the kubeconfig: %w", err)
	}
	bounded := *client
	bounded.Transport = limitAnswers{patient{client.Transport, &atomic.Bool{}}}
	dyn, err := dynamic.NewForConfigAndClient(cfg, &bounded)
	if err != nil {
		return nil, inputf("using the kubeconfig: %w", err)
	}
	// A proxied pod must not send us, and our credentials, elsewhere.
	stream := *client
	stream.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	short := bounded
	short.CheckRedirect = stream.CheckRedirect
	return &Client{dynamic: dyn, stream: &stream, short: &short, base: base, namespace: namespace, inCluster: inCluster, inside: newInside()}, nil
}

// SilenceLibrary discards what the Kubernetes library would log to stderr: its
// errors are returned to us as well.
func SilenceLibrary() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// Namespace is the namespace of the kubeconfig's context, or of the pod.
func (c *Client) Namespace() string { return c.namespace }

// InCluster reports whether this process runs in a pod of the cluster.
func (c *Client) InCluster() bool { return c.inCluster }

// Server is the API server's address, without credentials.
func (c *Client) Server() string { return c.base.Scheme + "://" + c.base.Host }

// resource is the collection of one kind in one namespace; an empty namespace
// is all of them, or a kind without.
func (c *Client) resource(gvr schema.GroupVersionResource, ns string) dynamic.ResourceInterface {
	if ns == "" {
		return c.dynamic.Resource(gvr)
	}
	return c.dynamic.Resource(gvr).Namespace(ns)
}

// raw sends one request to a path of the API server ("/api/v1/…?follow=true"):
// logs, pods/proxy. Any status is an answer: see statusError. The caller closes
// the body and bounds what it reads of it.
func (c *Client) raw(ctx context.Context, verb, path string, header http.Header, body io.Reader) (*http.Response, error) {
	return c.send(ctx, c.stream, verb, path, header, body)
}

func (c *Client) send(ctx context.Context, with *http.Client, verb, path string, header http.Header, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, verb, strings.TrimSuffix(c.base.String(), "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("making the request %s %s: %w", verb, path, err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	return with.Do(req)
}

// limitAnswers ends an answer that is larger than anything the API server means.
type limitAnswers struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limitAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err == nil && req.URL.Query().Get("watch") == "" { // a watch is read event by event
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}
