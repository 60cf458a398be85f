package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeKubeconfig makes a kubeconfig with one context, dev, for a server.
func writeKubeconfig(t testing.TB, server, namespace string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: dev
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {token: secret-token}}]
contexts: [{name: dev, context: {cluster: c, user: u, namespace: %q}}]
`, server, namespace)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// answer serves one status and body for every request.
func answer(t *testing.T, code int, body string) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	c, err := Open(writeKubeconfig(t, s.URL, "team"), "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOpen(t *testing.T) {
	good := writeKubeconfig(t, "http://127.0.0.1:1", "team")
	c, err := Open(good, "dev")
	if err != nil {
		t.Fatal(err)
	}
	if c.Namespace() != "team" || c.InCluster() || c.Server() != "http://127.0.0.1:1" {
		t.Errorf("namespace %q, in cluster %v, server %q", c.Namespace(), c.InCluster(), c.Server())
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("{{{"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	change := func(from, to string) string {
		path := filepath.Join(t.TempDir(), "changed")
		if err := os.WriteFile(path, []byte(strings.Replace(text, from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, tt := range []struct{ name, kubeconfig, context, want string }{
		{"unknown context", good, "prod", `no context "prod"; choose one with --context: it has dev`},
		{"no such file", filepath.Join(t.TempDir(), "none"), "", "reading the kubeconfig"},
		{"not a kubeconfig", broken, "", "reading the kubeconfig"},
		{"nothing anywhere", "", "", "give --kubeconfig FILE"},
		{"a context of nothing", "", "prod", "it has none"},
		{"no current context", change("current-context: dev", ""), "", "no current context; choose one with --context: it has dev"},
		{"a current context that is gone", change("current-context: dev", "current-context: prod"), "", `no context "prod"; choose one with --context: it has dev`},
		{"a cluster that is gone", change("cluster: c,", "cluster: other,"), "", `context "dev" of the kubeconfig is for the cluster "other", which it does not define: it has c`},
		{"a user that is gone", change("user: u,", "user: other,"), "", `context "dev" of the kubeconfig is for the user "other", whom it does not define: it has u`},
		{"a file without anything", change(text, ""), "", "the kubeconfig has no context; give one that has"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Open(tt.kubeconfig, tt.context)
			var in *InputError
			if !errors.As(err, &in) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want an InputError with %q", err, tt.want)
			}
		})
	}
}

// What the API server says becomes what the user can do about it.
func TestExplain(t *testing.T) {
	const refused = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods is forbidden: User \"system:serviceaccount:team:bench\" cannot list resource \"pods\""}`
	for _, tt := range []struct {
		name, ns string
		code     int
		body     string
		want     []string
		is       func(error) bool
	}{
		{"forbidden", "team", 403, refused, []string{
			"system:serviceaccount:team:bench is not allowed to list pods in namespace team",
			`a Role in namespace team with the rule {apiGroups: [""], resources: ["pods"], verbs: ["list"]}`,
		}, apierrors.IsForbidden},
		{"forbidden everywhere", "", 403, refused, []string{"in the whole cluster", "a ClusterRole with the rule"}, apierrors.IsForbidden},
		{"quota", "team", 403, `{"kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"exceeded quota: gpus"}`, []string{"is refused: exceeded quota: gpus"}, apierrors.IsForbidden},
		{"unauthorized", "team", 401, `{"kind":"Status","status":"Failure","reason":"Unauthorized","code":401}`, []string{"does not accept the credentials"}, apierrors.IsUnauthorized},
		{"no such kind", "team", 404, "404 page not found", []string{"does not serve that kind"}, apierrors.IsNotFound},
		{"broken", "team", 500, `{"kind":"Status","status":"Failure","reason":"InternalError","code":500,"message":"conversion webhook\nfailed"}`, []string{"list pods in namespace team: conversion webhook failed"}, apierrors.IsInternalError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := answer(t, tt.code, tt.body)
			_, listed := c.resource(podKind, tt.ns).List(t.Context(), metav1.ListOptions{})
			resp, err := c.raw(t.Context(), "GET", "/api/v1/pods?limit=1", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			raw := statusError(resp)
			_ = resp.Body.Close()
			for _, err := range []error{listed, raw} {
				got := explain(err, "list", "pods", tt.ns, "")
				for _, w := range tt.want {
					if got == nil || !strings.Contains(got.Error(), w) {
						t.Errorf("%v, want %q", got, w)
					}
				}
				if !tt.is(got) {
					t.Errorf("%v is no longer the API server's error", got)
				}
			}
		})
	}
}

func TestExplainWithoutServer(t *testing.T) {
	c, err := Open(writeKubeconfig(t, "http://127.0.0.1:1", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.resource(podKind, "team").List(t.Context(), metav1.ListOptions{})
	if got := explain(err, "list", "pods", "team", ""); got == nil || !strings.Contains(got.Error(), "cannot be reached") {
		t.Errorf("%v", got)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.resource(podKind, "team").List(gone, metav1.ListOptions{})
	if got := explain(err, "list", "pods", "team", ""); !errors.Is(got, context.Canceled) {
		t.Errorf("%v, want the cancellation", got)
	}
	if explain(nil, "get", "pods", "", "") != nil {
		t.Error("no error is explained")
	}
}

// What answers, and is no API server, is not said to be away.
func TestExplainAnotherServer(t *testing.T) {
	for name, c := range map[string]*Client{"a login page": answer(t, 200, "<html>log in</html>"), "a redirect": answer(t, 302, ""), "JSON of another kind": answer(t, 200, "[1]")} {
		_, err := c.Discover(t.Context(), "team")
		if err == nil || !strings.Contains(err.Error(), "login page") || strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := answer(t, 200, "<html>log in</html>").resource(podKind, "team").List(t.Context(), metav1.ListOptions{})
	if err = explain(err, "list", "pods", "team", ""); err == nil || !strings.Contains(err.Error(), "login page") {
		t.Errorf("a list: %v", err)
	}
}

func TestMissingRule(t *testing.T) {
	for resource, want := range map[string]string{
		"pods":                              `{apiGroups: [""], resources: ["pods"], verbs: ["get"]}`,
		"pods/log":                          `{apiGroups: [""], resources: ["pods/log"], verbs: ["get"]}`,
		"jobs.batch":                        `{apiGroups: ["batch"], resources: ["jobs"], verbs: ["get"]}`,
		"deployments.apps/scale":            `{apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["get"]}`,
		"roles.rbac.authorization.k8s.io":   `{apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["get"]}`,
		"dynamographdeployments.nvidia.com": `{apiGroups: ["nvidia.com"], resources: ["dynamographdeployments"], verbs: ["get"]}`,
	} {
		if got := missingRule("get", resource, "team"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", resource, got, want)
		}
	}
}

// What the API server answers is bounded, however long it goes on.
func TestAnswersAreBounded(t *testing.T) {
	SilenceLibrary()
	c := answer(t, 200, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"`+strings.Repeat("x", maxAnswer)+`"}}]}`)
	if _, err := c.resource(podKind, "team").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("an endless answer was read to its end")
	}
}
