package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// A target that is not ready yet is asked again for as long as it may take; any
// other answer is the last one.
func TestUntilServed(t *testing.T) {
	refused := &loadgen.NotYetError{Err: errors.New("connection refused")}
	empty := fmt.Errorf("from generator load-0: %w", &loadgen.NotYetError{Err: errors.New("the server lists no model yet")})
	wrong := errors.New("the server wants an API key")
	for name, c := range map[string]struct {
		within  time.Duration
		answers []error // the last one again and again
		took    time.Duration
		tries   int
		want    string // of the error; "" for none
		said    []string
	}{
		"at once":             {settlesFor, []error{nil}, 0, 1, "", nil},
		"after two refusals":  {settlesFor, []error{refused, refused, nil}, 4 * time.Second, 3, "", []string{"serve, 0s: connection refused"}},
		"each reason is told": {answersFor, []error{refused, empty, nil}, 4 * time.Second, 3, "", []string{"serve, 0s: connection refused", "serve, 2s: from generator load-0: the server lists no model yet"}},
		"another answer":      {settlesFor, []error{refused, wrong}, 2 * time.Second, 2, "API key", []string{"serve, 0s: connection refused"}},
		"never": {settlesFor, []error{refused}, 30 * time.Second, 16, "has not served within 30s: connection refused; this says nothing of its performance",
			[]string{"serve, 0s: connection refused", "serve, 16s: connection refused"}},
		"named by its URL": {0, []error{refused}, 0, 1, "connection refused", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				var said []string
				began := time.Now()
				_, err := untilServed(t.Context(), c.within, func(f string, args ...any) { said = append(said, fmt.Sprintf(f, args...)) },
					func(context.Context) (loadgen.Preflight, error) {
						tries++
						return loadgen.Preflight{}, c.answers[min(tries, len(c.answers))-1]
					})
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || tries != c.tries || time.Since(began) != c.took {
					t.Errorf("%d tries, %s: %v", tries, time.Since(began), err)
				}
				if len(said) != len(c.said) {
					t.Fatalf("said %q", said)
				}
				for i, want := range c.said {
					if !strings.Contains(said[i], want) {
						t.Errorf("said %q, want %q", said[i], want)
					}
				}
			})
		})
	}
}

func TestUntilServedInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		_, err := untilServed(ctx, answersFor, func(string, ...any) {}, func(context.Context) (loadgen.Preflight, error) {
			return loadgen.Preflight{}, &loadgen.NotYetError{Err: errors.New("connection refused")}
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// Only what is in a cluster is waited for, longer where it was just brought up.
func TestServesWithin(t *testing.T) {
	for _, c := range []struct {
		target string
		deploy bool
		want   time.Duration
	}{{"http://engine:8000", false, 0}, {"sim:flat", false, 0}, {"k8s:team/qwen", false, settlesFor}, {"k8s:team/qwen", true, answersFor}} {
		k := &campaign{app: &app{err: &bytes.Buffer{}}, flags: &measureFlags{deploy: deployFlags{on: c.deploy}}}
		if got := k.servesWithin(&target{public: c.target}); got != c.want {
			t.Errorf("%s, deployed %v: %s, want %s", c.target, c.deploy, got, c.want)
		}
	}
}
