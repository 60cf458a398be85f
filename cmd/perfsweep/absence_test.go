package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// A target that goes away in the middle of a campaign is waited for where something
// brings it back, and the run that met nobody is made again; what the load itself
// does, and what does not come back, is told as it is.
func TestAbsence(t *testing.T) {
	early := &loadgen.NotYetError{Err: errors.New("no workers (503)")}
	other := errors.New("it is another deployment by now")
	refused := loadgen.Result{All: loadgen.Outcomes{loadgen.Connect: 9}, Errors: map[loadgen.Outcome][]string{loadgen.Connect: {"connection refused"}}}
	failing := loadgen.Result{All: loadgen.Outcomes{loadgen.Connect: 4, loadgen.HTTPStatus: 5}}
	served := loadgen.Result{All: loadgen.Outcomes{loadgen.OK: 1, loadgen.Connect: 8}}
	lost := loadgen.Result{LostPods: []string{"load-0"}, All: loadgen.Outcomes{}}
	for name, c := range map[string]struct {
		url     bool
		r       loadgen.Result
		answers []error // of the probes, the last one again and again
		took    time.Duration
		tries   int
		repeat  bool
		want    string // of the error; "" for none
	}{
		"served in part":              {r: served},
		"a lost pod":                  {r: lost},
		"nothing brings it back":      {url: true, r: refused, want: "takes no connections any more, all 9 requests failed: connection refused; bring it back"},
		"errors of a URL":             {url: true, r: failing},
		"it is restarted":             {r: refused, answers: []error{early, early, early, nil}, tries: 4, took: 6 * time.Second, repeat: true},
		"it is back":                  {r: refused, answers: []error{nil}, tries: 1, repeat: true},
		"it answers, and serves none": {r: failing, answers: []error{early, early, nil}, tries: 3, took: 2 * time.Second, repeat: true},
		"the load":                    {r: failing, answers: []error{nil}, tries: 1},
		"a fault that stays":          {r: failing, answers: []error{errors.New("it wants a key")}, tries: 1},
		"it never comes back": {r: refused, answers: []error{early}, tries: 151, took: answersFor,
			want: "none of the 9 requests of the run was served: connection refused: it has not served within 5m0s: no workers (503); this says nothing of its performance; it wrote: panicked; bring it back, and continue a journal with --resume"},
		"another one comes": {r: refused, answers: []error{early, other}, tries: 2, took: 2 * time.Second, want: "it is another deployment by now"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				a := &absence{within: answersFor, say: func(string, ...any) {}, words: func(context.Context, error) string { return "; it wrote: panicked" },
					try: func(context.Context) (loadgen.Preflight, error) {
						tries++
						return loadgen.Preflight{}, c.answers[min(tries, len(c.answers))-1]
					}}
				if c.url {
					a.within = 0
				}
				began := time.Now()
				err := a.judge(t.Context(), &c.r)
				if tries != c.tries || time.Since(began).Round(time.Second) != c.took {
					t.Errorf("%d tries, %s", tries, time.Since(began))
				}
				if errors.Is(err, sweep.ErrRepeat) != c.repeat || !c.repeat && (err == nil) != (c.want == "") || c.want != "" && !strings.Contains(fmt.Sprint(err), c.want) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// The run that is made again tells of the one before; a target that every run takes
// down is not waited for without end.
func TestAbsenceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &absence{within: answersFor, say: func(string, ...any) {}, words: func(context.Context, error) string { return "" },
			try: func(context.Context) (loadgen.Preflight, error) { return loadgen.Preflight{}, nil }}
		down := func() loadgen.Result { return loadgen.Result{All: loadgen.Outcomes{loadgen.Connect: 9}} }
		r := down()
		if err := a.judge(t.Context(), &r); !errors.Is(err, sweep.ErrRepeat) {
			t.Fatal(err)
		}
		good := loadgen.Result{All: loadgen.Outcomes{loadgen.OK: 9}}
		if err := a.judge(t.Context(), &good); err != nil || len(good.Warnings) != 1 || !strings.Contains(good.Warnings[0], "none of the 9 requests of the run was served") {
			t.Errorf("%v, warnings %q", err, good.Warnings)
		}
		for range mostLost {
			r = down()
			if err := a.judge(t.Context(), &r); !errors.Is(err, sweep.ErrRepeat) {
				t.Fatal(err)
			}
		}
		r = down()
		if err := a.judge(t.Context(), &r); err == nil || errors.Is(err, sweep.ErrRepeat) {
			t.Errorf("after %d in a row: %v", mostLost, err)
		}
		a.lost, a.spent = 0, mostLost*answersFor
		if err := a.judge(t.Context(), &r); err == nil || errors.Is(err, sweep.ErrRepeat) {
			t.Errorf("after all the time that there is: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		a.spent = 0
		a.lost, a.try = 0, func(context.Context) (loadgen.Preflight, error) {
			cancel()
			return loadgen.Preflight{}, &loadgen.NotYetError{Err: errors.New("refused")}
		}
		if err := a.judge(ctx, &r); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
	})
}

// What comes back must be what was measured.
func TestSameDeployment(t *testing.T) {
	c := &campaign{flags: &measureFlags{deployment: "uid/1"}, named: true}
	for _, tt := range []struct {
		uid        string
		generation int64
		good       bool
	}{{"uid", 1, true}, {"uid", 2, false}, {"other", 1, false}} {
		if err := c.sameDeployment(kube.Deployment{UID: tt.uid, Generation: tt.generation}); (err == nil) != tt.good {
			t.Errorf("%s/%d: %v", tt.uid, tt.generation, err)
		}
	}
	c.named = false // the user's own name for it
	if err := c.sameDeployment(kube.Deployment{UID: "other"}); err != nil {
		t.Error(err)
	}
}
