package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An API server that was there is asked again while it is away; a first contact
// is not repeated, nor what may have been done already.
func TestPatient(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	reset := &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
	for name, c := range map[string]struct {
		method string
		fresh  bool  // never met before
		fails  int   // so often, then 200
		err    error // nil: with status
		status int
		tries  int
		took   time.Duration
		good   bool
	}{
		"it answers":                    {method: "GET", tries: 1, good: true},
		"it is restarted":               {method: "GET", fails: 40, err: refused, tries: 41, took: 40 * time.Second, good: true},
		"the connection breaks":         {method: "GET", fails: 1, err: reset, tries: 2, took: time.Second, good: true},
		"what stands before it":         {method: "GET", fails: 3, status: 503, tries: 4, took: 3 * time.Second, good: true},
		"it stays away":                 {method: "GET", fails: 1e6, err: refused, tries: 121, took: outage},
		"it was never there":            {method: "GET", fresh: true, fails: 1, err: refused, tries: 1},
		"a fault of its own":            {method: "GET", fails: 1, status: 500, tries: 1},
		"removing":                      {method: "DELETE", fails: 2, err: reset, tries: 3, took: 2 * time.Second, good: true},
		"making, not sent":              {method: "POST", fails: 2, err: refused, tries: 3, took: 2 * time.Second, good: true},
		"making, perhaps made":          {method: "POST", fails: 1, err: reset, tries: 1},
		"making, refused by a gateway":  {method: "POST", fails: 1, status: 503, tries: 1},
		"its queue is full":             {method: "GET", fails: 3, status: 429, tries: 4, took: 3 * time.Second, good: true},
		"its queue is full at first":    {method: "GET", fresh: true, fails: 3, status: 429, tries: 4, took: 3 * time.Second, good: true},
		"making, refused for a queue":   {method: "POST", fails: 3, status: 429, tries: 4, took: 3 * time.Second, good: true},
		"its queue stays full":          {method: "PATCH", fails: 1e6, status: 429, tries: 121, took: outage},
		"changing, perhaps changed":     {method: "PATCH", fails: 1, err: reset, tries: 1},
		"changing, while it is not up ": {method: "PATCH", fails: 1, err: refused, tries: 2, took: time.Second, good: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				p := patient{trip(func(r *http.Request) (*http.Response, error) {
					tries++
					if body, _ := io.ReadAll(r.Body); string(body) != "{}" {
						t.Errorf("try %d sends %q", tries, body)
					}
					code := http.StatusOK
					if tries <= c.fails && c.err != nil {
						return nil, c.err
					} else if tries <= c.fails {
						code = c.status
					}
					return &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {"1"}}, Body: http.NoBody}, nil
				}), &atomic.Bool{}}
				p.met.Store(!c.fresh)
				req, err := http.NewRequestWithContext(t.Context(), c.method, "http://api/", strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				resp, err := p.RoundTrip(req)
				if err == nil && resp.StatusCode != http.StatusOK && c.tries > 1 && resp.Header.Get("Retry-After") != "" {
					t.Error("the library would begin anew")
				}
				if good := err == nil && resp.StatusCode == http.StatusOK; good != c.good || tries != c.tries || time.Since(began) != c.took {
					t.Errorf("%v, %v after %d tries and %s", resp, err, tries, time.Since(began))
				}
			})
		})
	}
}

// Whoever gives up waiting is told what it was for.
func TestPatientInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient{trip(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }), &atomic.Bool{}}
		p.met.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.RoundTrip(req); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "refused") {
			t.Error(err)
		}
	})
}

// A wait goes on while the cluster cannot say how things stand, for as long as it
// may have a bad minute, and ends at once with what no waiting repairs.
func TestAwaitWithoutAnswer(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	broken := explain(apierrors.NewInternalError(errors.New("conversion webhook failed")), "get", "dynamographdeployments.nvidia.com", "team", "qwen")
	for name, c := range map[string]struct {
		err  error
		good bool // once the error is gone
	}{
		"a webhook that is restarted":    {broken, true},
		"an API server that is away":     {explain(errors.New("connection refused"), "list", "pods", "team", ""), true},
		"too many requests":              {explain(apierrors.NewTooManyRequests("later", 1), "list", "pods", "team", ""), true},
		"no right":                       {explain(apierrors.NewForbidden(pods, "", errors.New("cannot list")), "list", "pods", "team", ""), false},
		"something that it found itself": {errors.New("the download failed"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			err := await(t.Context(), "it", quiet, func(context.Context) (state, error) {
				if looks++; looks <= 30 {
					return state{}, c.err
				}
				return state{done: true}, nil
			})
			if (err == nil) != c.good || c.good && looks != 31 || !c.good && looks != 1 {
				t.Errorf("%s: %v after %d looks", name, err, looks)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := await(t.Context(), "it", quiet, func(context.Context) (state, error) { return state{}, broken })
		if err == nil || !strings.Contains(err.Error(), "conversion webhook failed") || time.Since(began) > stuckFor+time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
