package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// pairAt is a pair at a concurrency per GPU whose tools took some seconds each.
func pairAt(n int, aiperf, perfsweep float64, bad ...Violation) BridgePair {
	return BridgePair{ConcurrencyPerGPU: n, AIPerf: BridgeReading{Seconds: aiperf}, Perfsweep: BridgeReading{Seconds: perfsweep}, Violations: bad}
}

// TestOutlookOfPairs: pairs with another tool count as two runs each, with their time,
// from before the first run on; those that are made no longer do.
func TestOutlookOfPairs(t *testing.T) {
	p := outlookPlans()["prove"]
	w := newWorld(kneetest.GB300(210), 0.03, 1)
	w.judge = timed
	runs, d := w.play(t, p)
	n := d.Point.ConcurrencyPerGPU
	if n == 0 {
		t.Fatalf("no point: %+v", d)
	}
	want := BridgePlan{Pairs: 3, Spare: 2}
	at := func(runs []Run, pairs ...BridgePair) (plain, with Outlook) {
		c := Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: p, Runs: runs, Bridge: pairs}
		return c.Outlook(), c.OutlookWith(want)
	}
	gate := newForesight(Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: p, Runs: runs}).length(Step{ConcurrencyPerGPU: n, Kind: loadgen.Gate})
	each := 2*gate + aiperfStart
	for _, made := range []int{1, len(runs) / 2, len(runs) - 1} {
		plain, with := at(runs[:made])
		if with.PairRuns != 6 || with.Runs != plain.Runs+6 || with.MostRuns != plain.MostRuns+10 || with.MostHere != plain.MostHere+10 || with.Next != plain.Next {
			t.Errorf("after %d runs: %+v, without pairs %+v", made, with, plain)
		}
		if more := with.Time - plain.Time; more < each || more > 9*each {
			t.Errorf("after %d runs: three pairs take %v, one takes about %v", made, more, each)
		}
	}
	bad := Violation{Gate: "V6"}
	for _, c := range []struct {
		name       string
		pairs      []BridgePair
		runs, most int
	}{
		{"none made", nil, 6, 10},
		{"one made", []BridgePair{pairAt(n, 10, 10)}, 4, 8},
		{"one INVALID", []BridgePair{pairAt(n, 10, 10, bad)}, 6, 8},
		{"one elsewhere", []BridgePair{pairAt(n/2, 10, 10)}, 6, 10},
		{"all made", []BridgePair{pairAt(n, 10, 10), pairAt(n, 10, 10), pairAt(n, 10, 10)}, 0, 0},
		{"three INVALID", []BridgePair{pairAt(n, 10, 10, bad), pairAt(n, 10, 10, bad), pairAt(n, 10, 10, bad)}, 4, 4},
		{"no more to be made", []BridgePair{pairAt(n, 1, 1, bad), pairAt(n, 1, 1, bad), pairAt(n, 1, 1, bad), pairAt(n, 1, 1, bad), pairAt(n, 1, 1)}, 0, 0},
	} {
		_, o := at(runs, c.pairs...)
		if o.Runs != c.runs || o.PairRuns != c.runs || o.MostRuns != c.most || o.MostHere != c.most || o.Time != time.Duration(c.runs/2)*each {
			t.Errorf("%s: %+v, want %d runs and at most %d, a pair taking %v", c.name, o, c.runs, c.most, each)
		}
	}
}

// TestOutlookOfNoPoint: a campaign that is over without a point is not followed by pairs.
func TestOutlookOfNoPoint(t *testing.T) {
	p := outlookPlans()["prove"]
	w := newWorld(kneetest.GB300(210), 0.03, 1)
	w.judge = everyNth(1, "V8")
	runs, d := w.play(t, p)
	c := Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: p, Runs: runs}
	if o := c.OutlookWith(BridgePlan{Pairs: 3, Spare: 2}); d.Point.ConcurrencyPerGPU == 0 && o != (Outlook{}) {
		t.Errorf("%+v after %s", o, d.Reason)
	}
}

// TestWallOfPairs: the time of runs and of pairs counts against the campaign's, and
// what is left bounds the next pair.
func TestWallOfPairs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Campaign{Curve: Curve{Plan: Plan{MaxWall: time.Minute}, Bridge: []BridgePair{pairAt(8, 12, 8)}}}
		began := time.Now()
		c.Curve.Runs = []Run{{}}
		c.Curve.Runs[0].Result.Started, c.Curve.Runs[0].Result.Ended = began, began.Add(15*time.Second)
		within, cancel := c.WithinWall(t.Context())
		defer cancel()
		<-within.Done()
		if took := time.Since(began); took != 25*time.Second || !OutOfTime(within) {
			t.Errorf("it ended after %v (%v), 25 s are left of a minute", took, context.Cause(within))
		}
		c.Curve.Plan.MaxWall = 30 * time.Second
		if over, cancel := c.WithinWall(t.Context()); !OutOfTime(over) {
			t.Error("nothing is left, and it goes on")
			cancel()
		} else {
			cancel()
		}
		c.Curve.Plan.MaxWall = 0
		free, cancel := c.WithinWall(t.Context())
		cancel()
		if OutOfTime(free) {
			t.Error("a campaign without a limit is out of time")
		}
	})
}
