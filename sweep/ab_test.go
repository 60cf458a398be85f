package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// at is a run of a step, made as the n-th of both sides together.
func at(concurrency, n int, bad ...string) Run {
	began := time.Unix(int64(n)*41, 0)
	r := Run{Step: Step{ConcurrencyPerGPU: concurrency, Kind: loadgen.Steady, Purpose: Coarse}, Started: began, Result: loadgen.Result{
		Kind: loadgen.Steady, Concurrency: concurrency, Started: began, Ended: began.Add(40 * time.Second),
		Window: loadgen.Estimate{OutputTokPerSec: float64(concurrency), Requests: 100},
	}}
	for _, g := range bad {
		r.Violations = append(r.Violations, Violation{Gate: g})
	}
	return r
}

func TestNextTurn(t *testing.T) {
	plan := DefaultPlan(Quick)
	plan.Levels, plan.Repeats = []int{8, 16, 32}, 1
	late := func(r Run) Run {
		r.Result.Started = r.Result.Started.Add(maxPause + time.Minute)
		return r
	}
	for _, tt := range []struct {
		name  string
		a, b  []Run
		side  Side
		level int // 0: done
		why   string
	}{
		{"A begins", nil, nil, SideA, 8, "first pass"},
		{"B follows", []Run{at(8, 0)}, nil, SideB, 8, ""},
		{"B begins the second pair", []Run{at(8, 0)}, []Run{at(8, 1)}, SideB, 16, "first pass"},
		{"A follows", []Run{at(8, 0)}, []Run{at(8, 1), at(16, 2)}, SideA, 16, ""},
		{"A begins the third", []Run{at(8, 0), at(16, 3)}, []Run{at(8, 1), at(16, 2)}, SideA, 32, "first pass"},
		{"all is made", []Run{at(8, 0), at(16, 3), at(32, 4)}, []Run{at(8, 1), at(16, 2), at(32, 5)}, "", 0, ""},
		{"an INVALID run of A still has its partner", []Run{at(8, 0, "V3")}, nil, SideB, 8, ""},
		{"an INVALID run of A repeats the pair", []Run{at(8, 0, "V3")}, []Run{at(8, 1)}, SideB, 8, "(V3)"},
		{"an INVALID run of B repeats the pair", []Run{at(8, 0)}, []Run{at(8, 1, "V8")}, SideB, 8, "(V8 of B)"},
		{"a level that B never holds is left", []Run{at(8, 0), at(8, 3), at(8, 4)}, []Run{at(8, 1, "V2"), at(8, 2, "V2"), at(8, 5, "V2")}, SideB, 16, "first pass"},
		{"a pair torn apart is made again", []Run{at(8, 0)}, []Run{late(at(8, 1))}, SideB, 8, "(pause)"},
	} {
		got, err := NextTurn(plan, tt.a, tt.b)
		if err != nil || got.Done != (tt.level == 0) || !got.Done && (got.Side != tt.side || got.Step.ConcurrencyPerGPU != tt.level) || !strings.Contains(got.Step.Why, tt.why) {
			t.Errorf("%s: %+v, %v; want %s at %d (%s)", tt.name, got, err, tt.side, tt.level, tt.why)
		}
	}
	for name, runs := range map[string][2][]Run{
		"two ahead":    {{at(8, 0), at(16, 1)}, nil},
		"another step": {{at(8, 0), at(16, 3)}, {at(8, 1), at(32, 2)}},
	} {
		if got, err := NextTurn(plan, runs[0], runs[1]); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestValidPairs(t *testing.T) {
	a := []Run{at(8, 0), at(8, 3, "V3"), at(8, 4), at(8, 7)}
	b := []Run{at(8, 1), at(8, 2), at(8, 5, "V8")}
	va, vb := ValidPairs(a, b)
	sameRuns(t, va, a[:1])
	sameRuns(t, vb, b[:1])
}

// TestTurnsLaws plays random plans on worlds that fail runs at random: no side
// is ever more than one run ahead, the order alternates, every level ends with
// equal counts, no pair is lost to the planner unseen, and the runs made so far
// always name the next one, so that a killed campaign goes on as it would have.
func TestTurnsLaws(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		plan := DefaultPlan(Standard)
		plan.Seed = seed
		if rng.IntN(2) == 0 {
			plan.Levels, plan.Repeats = []int{4, 16, 48, 200}, 1+rng.IntN(4)
		}
		w := newWorld(kneetest.GB300(210), 0.05, seed)
		w.judge = func(r *Run) {
			if rng.IntN(6) == 0 {
				r.Violations = []Violation{{Gate: "V6"}}
			}
		}
		var a, b []Run
		var order strings.Builder
		find := remember(cheapFit)
		for made := 0; ; made++ {
			turn, err := nextTurn(plan, a, b, find)
			if err != nil || made > 500 {
				t.Fatalf("seed %d after %d runs: %v", seed, made, err)
			}
			if turn.Done {
				break
			}
			r := w.run(turn.Step, made+1)
			order.WriteString(string(turn.Side))
			if turn.Side == SideA {
				a = append(a, r)
			} else {
				b = append(b, r)
			}
			if d := len(a) - len(b); d < -1 || d > 1 {
				t.Fatalf("seed %d: %d runs of A, %d of B", seed, len(a), len(b))
			}
		}
		if want := strings.Repeat("ABBA", len(a)); order.String() != want[:2*len(a)] {
			t.Errorf("seed %d: the order is %s", seed, order.String())
		}
		if len(a) != len(b) || len(a) == 0 {
			t.Errorf("seed %d: %d runs of A, %d of B", seed, len(a), len(b))
		}
		va, vb := ValidPairs(a, b)
		for i := range va {
			if va[i].Step != vb[i].Step || !va[i].Valid() || !vb[i].Valid() {
				t.Errorf("seed %d: pair %+v, %+v", seed, va[i].Step, vb[i].Step)
			}
		}
		if d := nextStep(plan, wholePairs(a, b), find); !d.Done {
			t.Errorf("seed %d: A's planner still wants %+v", seed, d.Step)
		}
	}
}

// abCampaign is a campaign of both sides in virtual time, B a tenth slower, with
// the order in which runs were made.
func abCampaign(t *testing.T, order *strings.Builder) *AB {
	one := func(side Side, speed float64) *Campaign {
		made := 0
		c := campaign(t, &made)
		c.Curve.Plan.Confirm = false
		good := c.Measure
		c.Measure = func(ctx context.Context, s Step, first uint64) (loadgen.Result, error) {
			began := time.Now()
			select {
			case <-ctx.Done():
				return loadgen.Result{Stopped: "cancelled"}, ctx.Err()
			case <-time.After(40 * time.Second):
			}
			r, err := good(ctx, s, first+uint64(len(side)))
			r.Started, r.Ended, r.NextRequest = began, time.Now(), first+1000
			r.Window.OutputTokPerSec *= speed
			r.Window.OutputTokens *= speed
			for i := range r.Series {
				r.Series[i] *= speed
			}
			fmt.Fprint(order, side)
			return r, err
		}
		return c
	}
	return &AB{A: one(SideA, 1), B: one(SideB, 0.9)}
}

// TestABResumes: a campaign that is cut at any run, and goes on from its two
// journals, makes the runs that it would have made.
func TestABResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var whole strings.Builder
		uncut := abCampaign(t, &whole)
		d, err := uncut.Run(t.Context())
		if err != nil || !d.Done || d.Point.ConcurrencyPerGPU == 0 {
			t.Fatalf("%+v, %v", d, err)
		}
		n := len(uncut.A.Curve.Runs)
		if len(uncut.B.Curve.Runs) != n || whole.String() != strings.Repeat("ABBA", n)[:2*n] {
			t.Fatalf("%d and %d runs, %s", n, len(uncut.B.Curve.Runs), whole.String())
		}
		for cut := 1; cut < 2*n; cut += 5 {
			var order strings.Builder
			ab := abCampaign(t, &order)
			paths := [2]string{filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "f.b")}
			for i, c := range []*Campaign{ab.A, ab.B} {
				j, err := CreateJournal(paths[i], c.Curve)
				if err != nil {
					t.Fatal(err)
				}
				c.Journal = j
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(cut)*40*time.Second-time.Second)
			if _, err := ab.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("cut at run %d: %v", cut, err)
			}
			cancel()
			for i, c := range []*Campaign{ab.A, ab.B} {
				if err := c.Journal.Close(); err != nil {
					t.Fatal(err)
				}
				if c.Journal, c.Curve, err = ResumeJournal(paths[i]); err != nil {
					t.Fatal(err)
				}
			}
			if got := len(ab.A.Curve.Runs) + len(ab.B.Curve.Runs); got != cut-1 {
				t.Fatalf("cut in run %d: %d runs are kept", cut, got)
			}
			if _, err := ab.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if order.String() != whole.String() {
				t.Errorf("cut in run %d: %s, want %s", cut, order.String(), whole.String())
			}
			for i, c := range []*Campaign{ab.A, ab.B} {
				want := []*Campaign{uncut.A, uncut.B}[i].Curve.Runs
				if !slices.EqualFunc(c.Curve.Runs, want, func(a, b Run) bool {
					return a.Seq == b.Seq && a.Step == b.Step && a.Result.Window == b.Result.Window
				}) {
					t.Errorf("cut in run %d: side %d differs from the uncut one", cut, i)
				}
				_ = c.Journal.Close()
			}
		}
	})
}

// TestABWall: the time limit is of both sides together; what is cut off is not
// recorded, and the pair that it belongs to is compared by nobody.
func TestABWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order strings.Builder
		ab := abCampaign(t, &order)
		ab.A.Curve.Plan.MaxWall = 3*40*time.Second + time.Second
		ab.B.Curve.Plan.MaxWall = ab.A.Curve.Plan.MaxWall
		began := time.Now()
		d, err := ab.Run(t.Context())
		if err != nil || !d.Done || !strings.Contains(d.Reason, "time limit") || time.Since(began) != ab.A.Curve.Plan.MaxWall {
			t.Errorf("%+v, %v after %v", d, err, time.Since(began))
		}
		va, vb := ValidPairs(ab.A.Curve.Runs, ab.B.Curve.Runs)
		if order.String() != "ABB" || len(va) != 1 || len(vb) != 1 {
			t.Errorf("%s: %d and %d runs in pairs", order.String(), len(va), len(vb))
		}
	})
}
