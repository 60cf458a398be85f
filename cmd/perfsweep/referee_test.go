package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// That no page tells of tokens is the user's to mend; one that does not answer is the
// world's, and an interruption is one wherever it comes.
func TestRefereeEnds(t *testing.T) {
	silent := httptest.NewServer(http.NotFoundHandler())
	defer silent.Close()
	told := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "vllm:num_requests_running 1\n")
	}))
	defer told.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	watch := func(urls ...string) *campaign {
		c := &campaign{app: &app{out: io.Discard, err: io.Discard}, flags: &measureFlags{}, bridge: bridgeFlags{command: []string{"aiperf"}}}
		for _, u := range urls {
			c.ears.watch.Sources = append(c.ears.watch.Sources, observe.Source{URL: u})
		}
		return c
	}
	for _, c := range []struct {
		name string
		ctx  context.Context
		urls []string
		code int
	}{
		{"nothing watched", t.Context(), nil, exitInput},
		{"no tokens", t.Context(), []string{told.URL}, exitInput},
		{"no page", t.Context(), []string{silent.URL}, exitWorld},
		{"interrupted", over, []string{told.URL}, exitInterrupted},
	} {
		if code, _ := exitCode(c.ctx, watch(c.urls...).refereed(c.ctx)); code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.name, code, c.code)
		}
	}
	// Before the referee is asked, the pages are read that say who that is.
	if _, err := watch().listen(over, &target{baseURL: told.URL}, loadgen.Config{BaseURL: told.URL}, loadgen.Preflight{}); err == nil {
		t.Error("an interruption passed for a page that tells nothing")
	}
}
