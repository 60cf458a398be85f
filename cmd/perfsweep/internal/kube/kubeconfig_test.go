package kube

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Every way of a kubeconfig to say who asks reaches the API server; a secret that
// is not accepted is in no message.
func TestCredentials(t *testing.T) {
	var asked string
	// Without TLS the library sends no credentials.
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		if asked == "Bearer wrong-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"kind":"Status","status":"Failure","reason":"Unauthorized","code":401}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","items":[]}`)
	}))
	defer s.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const credential = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-plugin"}}`
	plugin := func(name, script string) map[string]any {
		return map[string]any{"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": file(name, "#!/bin/sh\n"+script, 0o700),
		}}
	}
	for name, tt := range map[string]struct {
		user       map[string]any
		sends, err string
	}{
		"nothing":       {map[string]any{}, "", ""},
		"token":         {map[string]any{"token": "inline"}, "Bearer inline", ""},
		"token file":    {map[string]any{"tokenFile": file("token", "from-file", 0o600)}, "Bearer from-file", ""},
		"password":      {map[string]any{"username": "u", "password": "p"}, "Basic dTpw", ""},
		"plugin":        {plugin("good", "echo '"+credential+"'"), "Bearer from-plugin", ""},
		"broken plugin": {plugin("bad", "echo wrong-secret; exit 3"), "", "the kubeconfig's credential plugin gives no credentials"},
		"no plugin":     {map[string]any{"exec": map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "no-such-plugin", "installHint": "get it from the shop"}}, "", "no-such-plugin not found"},
		"refused":       {map[string]any{"token": "wrong-secret"}, "Bearer wrong-secret", "does not accept the credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			asked = ""
			raw, err := json.Marshal(map[string]any{
				"apiVersion": "v1", "kind": "Config", "current-context": "c",
				"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": s.URL, "certificate-authority-data": ca}}},
				"users":    []any{map[string]any{"name": "u", "user": tt.user}},
				"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "u"}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			c, err := Open(file("config", string(raw), 0o600), "")
			if err == nil {
				_, err = c.resource(podKind, "team").List(t.Context(), metav1.ListOptions{})
				err = explain(err, "list", "pods", "team", "")
			}
			switch {
			case tt.err == "" && err != nil, tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, want %q", err, tt.err)
			case err != nil && strings.Contains(err.Error(), "wrong-secret"):
				t.Errorf("the secret is in %v", err)
			}
			if asked != tt.sends {
				t.Errorf("sent %q, want %q", asked, tt.sends)
			}
		})
	}
}

// A kubeconfig of several files is one, as kubectl reads it.
func TestSeveralKubeconfigs(t *testing.T) {
	dir := t.TempDir()
	current := filepath.Join(dir, "current")
	if err := os.WriteFile(current, []byte("apiVersion: v1\nkind: Config\ncurrent-context: dev\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", current+string(filepath.ListSeparator)+writeKubeconfig(t, "http://127.0.0.1:1", "team"))
	c, err := Open("", "")
	if err != nil || c.Namespace() != "team" || c.Server() != "http://127.0.0.1:1" {
		t.Errorf("%+v, %v", c, err)
	}
}
