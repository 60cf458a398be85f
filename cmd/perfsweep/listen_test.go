package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// front is a Dynamo frontend's page, and a count of how often it was read.
func front(t *testing.T) (url string, read *atomic.Int32) {
	t.Helper()
	read = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		read.Add(1)
		_, _ = w.Write([]byte("dynamo_frontend_inflight_requests{model=\"m\"} 0\ndynamo_frontend_model_max_num_seqs{model=\"m\"} 16\n"))
	}))
	t.Cleanup(s.Close)
	return s.URL, read
}

// Before a campaign each page is read once, for the batch cap, the fingerprint
// and the watch; frontends are counted, and workers without a page are named.
func TestListensOnce(t *testing.T) {
	a, readA := front(t)
	b, readB := front(t)
	for name, c := range map[string]struct {
		metrics   []string
		frontends int
		label     string
		says      string
		read      [2]int32
	}{
		"the target's own": {nil, 1, "", "sweeping up to 64 per GPU", [2]int32{1, 0}},
		"named":            {[]string{a + "/metrics", b + "/metrics"}, 2, "2", "no page of --metrics is that of worker 18446744073709551615, 7", [2]int32{1, 1}},
		"another's only":   {[]string{b + "/metrics"}, 1, "", "sweeping up to 64 per GPU", [2]int32{1, 1}},
		"off":              {[]string{metricsOff}, 0, "", "sweeping up to 64 per GPU", [2]int32{1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			readA.Store(0)
			readB.Store(0)
			var said strings.Builder
			flags := measureFlags{metrics: c.metrics}
			cam := &campaign{app: &app{err: &said}, flags: &flags, census: census{ready: 2, ids: []string{"18446744073709551615"}}}
			e, err := cam.listen(t.Context(), &target{baseURL: a, gpus: 1}, loadgen.Config{BaseURL: a}, loadgen.Preflight{Model: "m", WorkerID: "7"})
			if err != nil {
				t.Fatal(err)
			}
			cam.ears = e
			if n := cam.upperEnd(1); n != 64 || e.frontends != c.frontends || e.facts[labelFrontends] != c.label {
				t.Errorf("up to %d; %d frontends, label %q", n, e.frontends, e.facts[labelFrontends])
			}
			if got := [2]int32{readA.Load(), readB.Load()}; got != c.read {
				t.Errorf("read %v times, want %v", got, c.read)
			}
			if !strings.Contains(said.String(), c.says) {
				t.Errorf("%q does not say %q", said.String(), c.says)
			}
		})
	}
}
