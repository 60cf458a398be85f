//go:build kube

package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// identity is how the administrator of the cluster is known to it.
type identity struct {
	cluster, user map[string]any
}

func admin(t *testing.T) identity {
	t.Helper()
	var view struct {
		Clusters []struct {
			Cluster map[string]any `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User map[string]any `json:"user"`
		} `json:"users"`
	}
	if err := json.Unmarshal([]byte(kubectl(t, "config", "view", "--raw", "--minify", "--flatten", "-o", "json")), &view); err != nil {
		t.Fatal(err)
	}
	return identity{view.Clusters[0].Cluster, view.Users[0].User}
}

// kubeconfigFile has a context "here" for a cluster, a user and a namespace, and
// a current one that leads nowhere, so that --context is needed where it is asked for.
func kubeconfigFile(t *testing.T, cluster, user map[string]any, ns, current string) (path string) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": current,
		"clusters": []any{
			map[string]any{"name": "c", "cluster": cluster},
			map[string]any{"name": "nowhere", "cluster": map[string]any{"server": "https://127.0.0.1:1"}},
		},
		"users": []any{map[string]any{"name": "u", "user": user}},
		"contexts": []any{
			map[string]any{"name": "here", "context": map[string]any{"cluster": "c", "user": "u", "namespace": ns}},
			map[string]any{"name": "nowhere", "context": map[string]any{"cluster": "nowhere", "user": "u"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever way a kubeconfig has to say who asks, the namespace of its context is
// the one that is looked at.
func TestKubeconfigs(t *testing.T) {
	ns, dir := namespace(t), t.TempDir()
	apply(t, ns, graph{name: "qwen", preset: "flat", workers: 1, gpus: 1}.object())
	token := func(account string) string { return kubectl(t, "-n", ns, "create", "token", account) }
	user(t, ns, `[{apiGroups: ["", apps, autoscaling, keda.sh, nvidia.com], resources: ["*"], verbs: [get, list]}]`)
	id := admin(t)
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bearer := token("bench")
	users := map[string]map[string]any{
		"as in the cluster's own kubeconfig": id.user,
		"bearer token":                       {"token": bearer},
		"file of a bearer token":             {"tokenFile": write("token", bearer, 0o600)},
		"credential plugin": {"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": write("plugin", fmt.Sprintf(
				"#!/bin/sh\n[ \"$FROM\" = kubeconfig ] || exit 1\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\"}}'\n", bearer), 0o700),
			"env": []any{map[string]any{"name": "FROM", "value": "kubeconfig"}},
		}},
	}
	for name, who := range users {
		t.Run(name, func(t *testing.T) {
			sees(t, "KUBECONFIG="+kubeconfigFile(t, id.cluster, who, ns, "here"), ns)
		})
	}
	t.Run("another context", func(t *testing.T) {
		env := "KUBECONFIG=" + kubeconfigFile(t, id.cluster, users["bearer token"], ns, "nowhere")
		sees(t, env, ns, "--context", "here")
		if a := shared.perfsweep([]string{env}, "discover"); a.code != 1 || !strings.Contains(a.stderr, "the API server cannot be reached") {
			t.Errorf("exit %d\n%s", a.code, a.stderr)
		}
	})
	t.Run("two files", func(t *testing.T) {
		first := write("first", "apiVersion: v1\nkind: Config\ncurrent-context: here\n", 0o600)
		rest := kubeconfigFile(t, id.cluster, users["bearer token"], ns, "nowhere")
		sees(t, "KUBECONFIG="+first+":"+rest, ns)
	})
	t.Run("a token that is not one", func(t *testing.T) {
		env := "KUBECONFIG=" + kubeconfigFile(t, id.cluster, map[string]any{"token": "nobody"}, ns, "here")
		if a := shared.perfsweep([]string{env}, "discover"); a.code != 1 || !strings.Contains(a.stderr, "does not accept the credentials") || strings.Contains(a.stderr, "nobody") {
			t.Errorf("exit %d\n%s", a.code, a.stderr)
		}
	})
	t.Run("a plugin that fails", func(t *testing.T) {
		broken := maps.Clone(users["credential plugin"]["exec"].(map[string]any))
		delete(broken, "env")
		env := "KUBECONFIG=" + kubeconfigFile(t, id.cluster, map[string]any{"exec": broken}, ns, "here")
		if a := shared.perfsweep([]string{env}, "discover"); a.code != 1 || !strings.Contains(a.stderr, "credential plugin gives no credentials") {
			t.Errorf("exit %d\n%s", a.code, a.stderr)
		}
	})
}

// sees demands that discover finds the deployment without being told where.
func sees(t *testing.T, env, ns string, more ...string) {
	t.Helper()
	a := shared.perfsweep([]string{env}, append([]string{"discover"}, more...)...)
	if a.code != 0 || !strings.Contains(a.stdout, "k8s:"+ns+"/qwen") {
		t.Errorf("exit %d\n%s\n%s", a.code, a.stdout, a.stderr)
	}
}
