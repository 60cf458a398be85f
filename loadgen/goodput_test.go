package loadgen

import (
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// timed is a request with a TTFT and an ITL in milliseconds.
func timed(o Outcome, ttft, itl float64, tokens int64) sample {
	m := sample{outcome: o, phase: measured, tokens: stream.Tokens{Completion: tokens}}
	m.sent = 1e9
	m.first = m.sent + int64(ttft*1e6)
	m.last = m.first + int64(itl*1e6)*(tokens-1)
	m.end = m.last
	return m
}

func TestGoodputJudges(t *testing.T) {
	blind := timed(OK, 1, 1, 8)
	blind.first = 0
	both, ttft, itl := Objective{TTFTMS: 100, ITLMS: 10}, Objective{TTFTMS: 100}, Objective{ITLMS: 10}
	for _, c := range []struct {
		name string
		o    Objective
		m    sample
		want Goodput
	}{
		{"at both limits", both, timed(OK, 100, 10, 8), Goodput{Good: 1}},
		{"a nanosecond late", both, timed(OK, 100.000001, 10, 8), Goodput{MissedTTFT: 1}},
		{"stretched by one a token", both, timed(OK, 100, 10.000001, 8), Goodput{MissedITL: 1}},
		{"misses both", both, timed(OK, 101, 11, 8), Goodput{MissedTTFT: 1, MissedITL: 1}},
		{"one token", both, timed(OK, 100, 99, 1), Goodput{Good: 1, WithoutITL: 1}},
		{"one late token", both, timed(OK, 101, 99, 1), Goodput{MissedTTFT: 1, WithoutITL: 1}},
		{"no limit on ITL", ttft, timed(OK, 100, 99, 1), Goodput{Good: 1}},
		{"no limit on TTFT", itl, timed(OK, 1e5, 10, 8), Goodput{Good: 1}},
		{"fast and broken", both, timed(Truncated, 1, 1, 8), Goodput{Failed: 1}},
		{"fast and shed", both, timed(Shed, 1, 1, 8), Goodput{Failed: 1}},
		{"no chunk seen", both, blind, Goodput{Unseen: 1}},
		{"no chunk seen, ITL only", itl, blind, Goodput{Unseen: 1}},
	} {
		own := []sample{c.m}
		p := parts{whole: span{1e9, 2e9}}
		got := goodput(&control{kind: Gate, objective: c.o}, own, own, newShard(), p)
		c.want.Objective, c.want.Requests = c.o, 1
		if c.want.Good == 1 {
			c.want.Share, c.want.RequestsPerSec, c.want.OutputTokPerSec = 1, 1, float64(c.m.tokens.Completion)
		}
		if *got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, *got, c.want)
		}
	}
	if g := goodput(&control{}, nil, nil, newShard(), parts{}); g != nil {
		t.Errorf("goodput without an objective: %+v", g)
	}
}

// TestGoodputAndPercentile: a limit holds for the p99 exactly if it holds for
// 99 of 100 requests.
func TestGoodputAndPercentile(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	within := 0
	for range 400 {
		own := make([]sample, 1+r.IntN(400))
		for i := range own {
			own[i] = timed(OK, math.Exp(4+.1*r.NormFloat64()), math.Exp(2+.1*r.NormFloat64()), 2+r.Int64N(9))
		}
		e := estimate(own, newShard(), (*sample).ok)
		limit := e.TTFTP99MS * math.Exp(.01*r.NormFloat64())
		if r.IntN(4) == 0 {
			limit = e.TTFTP99MS
		}
		g := goodput(&control{kind: Gate, objective: Objective{TTFTMS: limit}}, own, own, newShard(), parts{whole: span{0, 1e9}})
		if e.TTFTP99MS <= limit {
			within++
		}
		if (e.TTFTP99MS <= limit) != (g.Good >= int64(rank(.99, len(own)))) {
			t.Errorf("p99 %v ms, limit %v ms, but %d of %d are good", e.TTFTP99MS, limit, g.Good, len(own))
		}
	}
	if within < 100 || within > 300 {
		t.Errorf("%d of 400 within: that tells too little", within)
	}
}

// TestGoodputOfWindow: where all requests are good, goodput is throughput, and
// where none is, it is 0, in both kinds of run; every second one makes half.
func TestGoodputOfWindow(t *testing.T) {
	slow := func(e *engine) func(int64, http.ResponseWriter, *http.Request) bool {
		return func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n%2 == 0 {
				e.generate(w, r, 20, time.Now().Add(60*time.Millisecond)) // TTFT 160 ms
				return true
			}
			return false
		}
	}
	for _, kind := range []RunKind{Steady, Gate} {
		for _, c := range []struct {
			name  string
			o     Objective
			mixed bool
			share float64
		}{
			{"all", Objective{TTFTMS: 100, ITLMS: 10}, false, 1},
			{"none", Objective{TTFTMS: 99.9}, false, 0},
			{"half", Objective{TTFTMS: 100}, true, .5},
		} {
			e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
			if c.mixed {
				e.special = slow(e)
			}
			cfg := Config{Concurrency: 4, Kind: kind, Objective: c.o, Limits: Limits{MinRequests: 400, Ramp: 290 * time.Millisecond}}
			inBubble(t, e, cfg, func(r Result, err error) {
				if err != nil {
					t.Fatal(err)
				}
				g, want := r.Goodput, r.Estimate()
				if !near(g.Share, c.share, .02) || !near(g.RequestsPerSec, c.share*want.RequestsPerSec, .02) || !near(g.OutputTokPerSec, c.share*want.OutputTokPerSec, .02) {
					t.Errorf("%s, %s: %+v of %+v", kind, c.name, *g, want)
				}
				if c.share == 1 && (g.RequestsPerSec != want.RequestsPerSec || g.OutputTokPerSec != want.OutputTokPerSec) {
					t.Errorf("%s: all are good, but %v of %v requests/s, %v of %v tok/s", kind, g.RequestsPerSec, want.RequestsPerSec, g.OutputTokPerSec, want.OutputTokPerSec)
				}
			})
		}
	}
}

func TestObjectiveBounds(t *testing.T) {
	for _, o := range []Objective{{TTFTMS: -1}, {ITLMS: -1}, {TTFTMS: math.NaN()}, {ITLMS: math.Inf(1)}, {TTFTMS: 1e8}} {
		var bad *BadInputError
		_, err := Run(t.Context(), Config{BaseURL: "http://x", Model: "m", Kind: Steady, Concurrency: 1, Workload: workload(t, tokens(1, 0)), Objective: o})
		if !errors.As(err, &bad) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := (Objective{TTFTMS: 1e7, ITLMS: 1}).Validate(); err != nil {
		t.Error(err)
	}
}
