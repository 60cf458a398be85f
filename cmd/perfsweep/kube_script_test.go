package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
)

// serveCluster answers like the API server of a cluster with the objects of
// some files, and lets KUBECONFIG name it: cluster [VERB-RESOURCE=STATUS…] FILE….
// The context is called dev, its namespace team.
func serveCluster(ts *testscript.TestScript, neg bool, args []string) {
	var objects strings.Builder
	refuse := map[string]int{}
	for _, arg := range args {
		if call, status, ok := strings.Cut(arg, "="); ok {
			code, err := strconv.Atoi(status)
			ts.Check(err)
			refuse[strings.Replace(call, "-", " ", 1)] = code
			continue
		}
		objects.WriteString(ts.ReadFile(arg) + "\n---\n")
	}
	if neg {
		ts.Fatalf("usage: cluster [VERB-RESOURCE=STATUS…] FILE…")
	}
	k, err := kubetest.New(objects.String())
	ts.Check(err)
	k.Refuse = refuse
	if len(args) == 0 {
		k.Versions = nil // nor the definition
	}
	s := httptest.NewServer(k)
	ts.Defer(s.Close)
	path := ts.MkAbs("kubeconfig")
	ts.Check(os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: dev
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: dev, context: {cluster: c, user: u, namespace: team}}]
`, s.URL), 0o600))
	ts.Setenv("KUBECONFIG", path)
}
