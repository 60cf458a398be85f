package calibrate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// Sensitivity is one line of C10: what a loss would read at the operating
// point, and how likely the written gate is to catch it.
type Sensitivity struct {
	Loss   string  `json:"loss"`
	Ratio  float64 `json:"throughput_ratio"`
	Caught float64 `json:"caught_probability"` // by one gate run, as AICR makes it
	// PulseRatio is what the loss reads at the level of the capacity pulse, absent
	// where that has no say, and CheckCaught how likely a check of three attempts
	// and the pulse does not pass.
	PulseRatio  float64 `json:"pulse_throughput_ratio,omitempty"`
	CheckCaught float64 `json:"check_caught_probability"`
}

// A throughput curve per GPU, defined where ok.
type throughput func(n float64) (x float64, ok bool)

// lostWorkers is X'/X at n per GPU when k of w workers are gone. The loop is
// closed, so the survivors absorb the load: each then holds n·w/(w−k).
func lostWorkers(at throughput, n float64, w, k int) (ratio float64, ok bool) {
	if k < 1 || k >= w {
		return 0, false
	}
	before, ok1 := at(n)
	after, ok2 := at(n * float64(w) / float64(w-k))
	if !ok1 || !ok2 {
		return 0, false
	}
	return clampRatio(float64(w-k) / float64(w) * after / before)
}

// sickLeastLoaded is X'/X when one of w workers runs at speed f and the router
// sends work to where there is room.
func sickLeastLoaded(w int, f float64) float64 { return (float64(w) - 1 + f) / float64(w) }

// sickRoundRobin is X'/X when one of w workers runs at speed f and the router
// deals equal shares: completion rates are then equal, requests pile up on the
// sick worker (n_s) and the others (n_o) run dry:
// f·X(n_s) = X(n_o), n_s + (w−1)·n_o = w·n, X'/X = X(n_o)/X(n).
func sickRoundRobin(at throughput, n float64, w int, f float64) (ratio float64, ok bool) {
	if w < 2 || !positive(n) {
		return 0, false
	}
	before, ok := at(n)
	if !ok {
		return 0, false
	}
	lo, hi := 0.0, n
	for range 100 {
		mid := (lo + hi) / 2
		sick, ok1 := at(float64(float64(w)*n) - float64(float64(w-1)*mid))
		other, ok2 := at(mid)
		if !ok1 || !ok2 {
			return 0, false
		}
		if f*sick > other {
			lo = mid
		} else {
			hi = mid
		}
	}
	after, ok := at(hi)
	if !ok {
		return 0, false
	}
	return clampRatio(after / before)
}

// halfCap is X'/X when the batch cap per GPU is halved: no worker then runs
// more than half of it at once. It does not apply below half of the cap.
func halfCap(at throughput, n, batchCap float64) (ratio float64, ok bool) {
	if !positive(batchCap) || batchCap/2 >= n {
		return 0, false
	}
	before, ok1 := at(n)
	after, ok2 := at(batchCap / 2)
	if !ok1 || !ok2 {
		return 0, false
	}
	return clampRatio(after / before)
}

// clampRatio keeps a misfit from turning a loss into a gain.
func clampRatio(r float64) (float64, bool) { return min(r, 1), positive(r) }

// workers returns the number of workers, and whether the fingerprint states it.
func workers(f sweep.Fingerprint) (n int, stated bool) {
	if w, err := strconv.Atoi(f.Labels["workers"]); err == nil && w > 0 {
		return w, true
	}
	return max(f.GPUs, 0), false
}

// batchCap is the batch cap per GPU: from the labels where they state one
// worker's, else the corner of a capped fit; 0 where neither knows.
func (e *evidence) batchCap() float64 {
	f := e.curve.Fingerprint
	w, _ := workers(f)
	if seqs, err := strconv.Atoi(f.Labels["max_num_seqs"]); err == nil && seqs > 0 && f.GPUs > 0 {
		return float64(seqs) * float64(w) / float64(f.GPUs)
	}
	switch e.fit.Model {
	case "LCAP", "HCAP":
		return e.fit.Params["k"]
	}
	return 0
}

// missedBelow is the probability under which a loss counts as missed.
const missedBelow = 0.95

// misses lists the losses that one gate run is likely not to catch.
func misses(s []Sensitivity) []string {
	var out []string
	for _, l := range s {
		if l.Caught < missedBelow {
			out = append(out, fmt.Sprintf("%s (reads x%.3f, caught %.0f %%; by check with its pulse %.0f %%)", l.Loss, l.Ratio, 100*l.Caught, 100*l.CheckCaught))
		}
	}
	return out
}

func (e *evidence) c10() GateResult {
	g := GateResult{ID: "C10", Name: "sensitivity is known", State: Unmet,
		Threshold: "what lost or slow workers would read at the operating point is computed from the curve",
		Remedy:    "the curve has too few levels, or there are too few gate runs: measure more"}
	w, stated := workers(e.curve.Fingerprint)
	g.Observed = plural.Of(w, "worker")
	if !stated {
		g.Observed += " (assumed: one a GPU)"
	}
	_, ok := e.at(float64(e.op()))
	lines := e.sensitivity(e.effectiveFloor())
	if !ok || len(lines) == 0 || w < 1 {
		g.Observed, g.noData = g.Observed+", no prediction", true
		return g
	}
	g.State = Met
	missed := len(misses(lines))
	g.Observed += fmt.Sprintf(", %d of %s %s caught with %.0f %% or more",
		len(lines)-missed, plural.Of(len(lines), "loss"), plural.VerbOf(len(lines)-missed, len(lines), "is", "are"), 100*missedBelow)
	return result(g)
}

// joinMisses is the comment's sentence on what the gate does not see.
func joinMisses(s []Sensitivity) string {
	m := misses(s)
	if len(m) == 0 {
		return fmt.Sprintf("Each predicted loss is caught with %.0f %% or more.", 100*missedBelow)
	}
	return "Likely missed by one gate run: " + strings.Join(m, "; ") + "."
}
