//go:build kube

package kube

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// Pods go where they are told to, and where they cannot, the scheduler says why.
func TestLoadNodeSelector(t *testing.T) {
	ns, dir := namespace(t), t.TempDir()
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	node := strings.Fields(kubectl(t, "get", "nodes", "-o", "name"))[0]
	kubectl(t, "label", node, "pool=load", "--overwrite")
	p := start(t, sweepArgs(ns, "llama", filepath.Join(dir, "a"), fromPods("3", "--levels", "4", "--load-node-selector", "pool=load")...)...)
	p.says(t, "[1] ")
	on := kubectl(t, "-n", ns, "get", "pods", "-l", "app.kubernetes.io/component=load", "-o", "jsonpath={.items[*].spec.nodeName}")
	if nodes := strings.Fields(on); len(nodes) != 3 || slices.ContainsFunc(nodes, func(n string) bool { return "node/"+n != node }) {
		t.Errorf("pods on %s, want all three on %s", on, node)
	}
	if code := p.end(t); code != 9 {
		t.Errorf("exit %d\n%s", code, p.text())
	}
	a := run(t, 1, sweepArgs(ns, "llama", filepath.Join(dir, "b"), fromPods("1", "--levels", "4", "--load-node-selector", "pool=none", "--load-wait", "12s")...)...)
	if !strings.Contains(a.stderr, "didn't match Pod's node affinity/selector") {
		t.Errorf("the scheduler's words are missing:\n%s", a.stderr)
	}
	nothingLeft(t, ns)
}

// Without pods/proxy the generators cannot be told anything: that is said with
// the rule to add, and they are removed.
func TestLoadWithoutRights(t *testing.T) {
	ns := namespace(t)
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	config := user(t, ns, `[{apiGroups: ["", "apps", "nvidia.com"], resources: ["*"], verbs: [get, list]}, {apiGroups: [""], resources: [secrets], verbs: [create, delete]}, {apiGroups: [batch], resources: [jobs], verbs: [create, get, list, delete]}]`)
	args := sweepArgs(ns, "llama", filepath.Join(t.TempDir(), "a"), fromPods("1", "--levels", "4", "--gpus", "1", "--kubeconfig", config)...)
	a := run(t, 1, args...)
	if !strings.Contains(a.stderr, `resources: ["pods/proxy"], verbs: ["create"]`) {
		t.Errorf("the missing rule is not named:\n%s", a.stderr)
	}
	nothingLeft(t, ns)
}

// counting is a kubeconfig for whom everything in a namespace is allowed, and
// whose calls are counted on their way.
func counting(t *testing.T, ns string) (kubeconfig string, calls *atomic.Int64) {
	t.Helper()
	user(t, ns, `[{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`)
	token := kubectl(t, "-n", ns, "create", "token", "bench")
	cluster := admin(t).cluster
	server, _ := cluster["server"].(string)
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	trust := &tls.Config{}
	if ca, _ := cluster["certificate-authority-data"].(string); ca != "" {
		pem, err := base64.StdEncoding.DecodeString(ca)
		if err != nil {
			t.Fatal(err)
		}
		trust.RootCAs = x509.NewCertPool()
		trust.RootCAs.AppendCertsFromPEM(pem)
	}
	calls = new(atomic.Int64)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Authorization", "Bearer "+token)
			calls.Add(1)
		},
		Transport:     &http.Transport{TLSClientConfig: trust},
		FlushInterval: -1, // logs are followed
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return kubeconfigFile(t, map[string]any{"server": s.URL}, map[string]any{}, ns, "here"), calls
}

// The API server is asked as often for many streams as for few. Metrics are off:
// those of the engine are read once a second, through it.
func TestLoadCalls(t *testing.T) {
	ns := namespace(t)
	graph{name: "llama", preset: "kneed?gpus=1&chunk=4", workers: 1, gpus: 1}.up(t, ns)
	config, calls := counting(t, ns)
	perRun := func(streams string) float64 {
		journal := filepath.Join(t.TempDir(), "j")
		p := start(t, sweepArgs(ns, "llama", journal, fromPods("2", "--levels", streams, "--metrics", "off", "--kubeconfig", config)...)...)
		p.says(t, "[1] ")
		before := calls.Load()
		p.says(t, "removing the load generators")
		made := calls.Load() - before
		if code := p.end(t); code != 9 {
			t.Fatalf("exit %d\n%s", code, p.text())
		}
		j := readJournal(t, journal)
		n := float64(made) / float64(len(j.Runs))
		t.Logf("%s streams from 2 pods: %.1f calls a run, %d runs", streams, n, len(j.Runs))
		return n
	}
	few, many := perRun("4"), perRun("64")
	if many > 2*few || many > 60 {
		t.Errorf("%.1f calls a run of 64 streams, %.1f of 4", many, few)
	}
}

// Four pods measure what one does. The engine is the limit: more streams than it
// takes at a time are in flight, so that no delay of a busy machine leaves it idle.
func TestFigureFourPods(t *testing.T) {
	ns, dir := namespace(t), t.TempDir()
	graph{name: "llama", preset: "kneed?gpus=1&noise=0&chunk=4", workers: 1, gpus: 1}.up(t, ns)
	median := func(pods string) float64 {
		journal := filepath.Join(dir, pods)
		args := sweepArgs(ns, "llama", journal, fromPods(pods, "--levels", "96", "--metrics", "off")...)
		args[slices.Index(args, "--repeats")+1] = "3"
		run(t, 9, args...)
		var rates []float64
		for _, r := range readJournal(t, journal).Runs {
			t.Logf("96 streams from %s pods: %.1f tok/s, start spread %.2f ms, %v", pods, r.Result.Window.TokPerSec, r.Result.StartSpreadMS, r.Violations)
			rates = append(rates, r.Result.Window.TokPerSec)
		}
		slices.Sort(rates)
		return rates[len(rates)/2]
	}
	one, four := median("1"), median("4")
	t.Logf("1 pod %.1f, 4 pods %.1f tok/s: %+.2f %%", one, four, 100*(four/one-1))
	if four < 0.98*one || four > 1.02*one {
		t.Errorf("4 pods measure %.1f tok/s where 1 measures %.1f: more than 2 %% apart", four, one)
	}
}
