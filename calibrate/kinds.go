package calibrate

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// Gate runs and steady runs hold the same load, so that what lies between the
// first wave and the last send of a gate run reads what the steady run after it
// does. Where it does not, one of the two did not measure what it says. C4
// compares X(n_op) with the steady curve within 15 % (knee.md §10); the page says
// nothing of the kinds, and the rest of the bound follows from s_w: kindsFactor
// standard errors of the median difference of pairs, which the pairs themselves
// estimate. Healthy campaigns of r >= 3 attempts at s_w <= 5 % exceed both in at
// most .001.
const (
	kindsFactor = 3.5
	// kindsMost caps the bound: a contradiction must not widen it (F6, T_max).
	kindsMost = 0.70
)

// kinds is how the gate runs of attempts relate to their steady runs, and their
// whole-run estimator to the window of the same run, as ratios.
type kinds struct {
	ratio, low, high float64
	// whole is the run farthest outside of what its start and its drain
	// explain, else any.
	whole, wholeLow, wholeHigh float64
}

// pairedKinds reads one attempt: ln of gate over steady window, and how much of
// its window's rate a gate run keeps over its start and drain. These take no
// longer than the rest of the run, and no token is lost in them.
func (r *reading) pairedKinds(gate, steady loadgen.Result) {
	r.kinds = exact.Log(gate.Window.OutputTokPerSec / steady.Window.OutputTokPerSec)
	r.whole, r.wholeLeast = gate.WholeRun.OutputTokPerSec/gate.Window.OutputTokPerSec, 1
	if share := gate.Window.Seconds / gate.WholeRun.Seconds; share > 0 && share < 1 {
		r.wholeLeast = share
	}
}

// kinds compares the two kinds of run of the valid attempts; ok is false where
// there are too few.
func (a attempts) kinds() (k kinds, ok bool) {
	d := a.column(func(r reading) float64 { return r.kinds })
	if len(d) < 2 {
		return k, false
	}
	r := float64(len(d))
	allowed := kindsFactor * medianSE * exact.StdDev(d) / math.Sqrt(r) * (1 + 4/(r-1))
	allowed = min(exact.Log(1/kindsMost), max(exact.Log(1/(1-offCurve)), allowed))
	k = kinds{ratio: exact.Exp(sweep.Median(d)), low: exact.Exp(-allowed), high: exact.Exp(allowed), wholeHigh: 1 / (1 - offCurve)}
	worst := math.Inf(-1)
	for _, r := range a.valid {
		low := (1 - offCurve) * r.wholeLeast
		if out := max(exact.Log(low/r.whole), exact.Log(r.whole/k.wholeHigh)); out > worst {
			worst, k.whole, k.wholeLow = out, r.whole, low
		}
	}
	return k, true
}

// apart reports whether they contradict each other. What is no number does.
func (k kinds) apart() bool {
	return !(k.ratio >= k.low && k.ratio <= k.high && k.whole >= k.wholeLow && k.whole <= k.wholeHigh)
}

func (k kinds) text() string {
	return fmt.Sprintf("gate runs read x%.3f of the steady runs after them (allowed x%.3f to x%.3f), and in whole x%.3f of their own window (start and drain explain x%.3f to x%.3f)",
		k.ratio, k.low, k.high, k.whole, k.wholeLow, k.wholeHigh)
}

const kindsRemedy = "gate runs and steady runs hold one load, so that one of them did not measure what it says: find out what differs between them (the client, a cache, a worker that comes and goes, an edited journal), then measure both again"
