package recipes

import (
	"errors"
	"fmt"
	"slices"
)

// Outcome is what a gate says of a known run.
type Outcome string

// The outcomes. NoVerdict is never a pass: something that the gate needs is
// missing, or the run is of another model.
const (
	Passes    Outcome = "pass"
	Fails     Outcome = "fail"
	NoVerdict Outcome = "none"
)

// UpstreamGate is what every enabled AICR overlay demanded in 2026, whatever
// the accelerator and the number of GPUs.
func UpstreamGate() Gate { return Gate{Floor: 50000, CeilingTTFTP99MS: 2000} }

// Judged is a known run before the gates that are compared: the overlay's own,
// its floor alone, and the same two of UpstreamGate.
type Judged struct {
	KnownRun
	Gate     Outcome `json:"gate"`
	Floor    Outcome `json:"floor_alone"`
	OldGate  Outcome `json:"old_gate"`
	OldFloor Outcome `json:"old_floor_alone"`
	// OtherLoad marks a run that was not made at the gate's load. The evaluator
	// does not know the load; a check of such a run is inconclusive.
	OtherLoad bool   `json:"other_load,omitempty"`
	Why       string `json:"why,omitempty"` // of NoVerdict and of OtherLoad
}

// Tally counts outcomes. Healthy runs at another load are not counted: the gate
// makes no promise there. Bad ones are: they are what a wrong load looks like.
type Tally struct {
	HealthyPassed int `json:"healthy_passed"`
	Healthy       int `json:"healthy"`
	BadCaught     int `json:"bad_caught"`
	Bad           int `json:"bad"`
	// LossSeen is the share that the median healthy run must lose in throughput
	// before the floor fails it; 0 where there is no floor or no healthy run.
	LossSeen float64 `json:"throughput_loss_seen,omitempty"`
}

func (t *Tally) add(r Judged, o Outcome) {
	switch {
	case o == NoVerdict, !r.Bad && r.OtherLoad:
	case r.Bad:
		t.Bad++
		if o == Fails {
			t.BadCaught++
		}
	default:
		t.Healthy++
		if o == Passes {
			t.HealthyPassed++
		}
	}
}

// Shape is a node that is as healthy per GPU as the median healthy run, and the
// same node at 70 % of that speed. Throughput only: TTFT is not scaled.
type Shape struct {
	GPUs       int     `json:"gpus"`
	Healthy    Outcome `json:"healthy"`
	Slow       Outcome `json:"at_70_percent"`
	OldHealthy Outcome `json:"old_healthy"`
	OldSlow    Outcome `json:"old_at_70_percent"`
}

// Replay is a gate before every known run of its accelerator and service.
type Replay struct {
	Overlay     string   `json:"overlay"`
	Accelerator string   `json:"accelerator"`
	Service     string   `json:"service"`
	Enabled     bool     `json:"enabled"`
	Demands     Gate     `json:"gate"`
	Runs        []Judged `json:"runs"`
	Gate        Tally    `json:"by_gate"`
	Floor       Tally    `json:"by_floor_alone"`
	OldGate     Tally    `json:"by_old_gate"`
	OldFloor    Tally    `json:"by_old_floor_alone"`
	NotJudged   int      `json:"not_judged"`
	Shapes      []Shape  `json:"shapes"`
	// Rule is what a rule makes of the healthy runs, where one was applied.
	Rule *RuleReplay `json:"portable_rule,omitempty"`

	healthy []float64
}

// ReplayOverlay holds the gate of an overlay against known runs. Runs of another
// accelerator or service are left out; where the service is not recorded the run
// is listed without a verdict.
func ReplayOverlay(o *Overlay, runs []KnownRun) (Replay, error) {
	g, enabled, err := o.Gate()
	if err != nil {
		return Replay{}, err
	}
	return ReplayGate(o, g, enabled, runs), nil
}

// ReplayGate is ReplayOverlay with the gate that the overlay's chain makes.
func ReplayGate(o *Overlay, g Gate, enabled bool, runs []KnownRun) Replay {
	r := Replay{Overlay: o.Name(), Accelerator: o.Criterion("accelerator"), Service: o.Criterion("service"), Enabled: enabled, Demands: g, Runs: []Judged{}, Shapes: []Shape{}}
	if !enabled { // a disabled check is no gate, whatever lies beside it
		g = Gate{}
	}
	floor, old := g, UpstreamGate()
	floor.CeilingTTFTP99MS = 0
	oldFloor := Gate{Floor: old.Floor}
	for _, k := range runs {
		if k.Accelerator != r.Accelerator || k.Service != "" && k.Service != r.Service {
			continue
		}
		j := Judged{KnownRun: k, Gate: NoVerdict, Floor: NoVerdict, OldGate: NoVerdict, OldFloor: NoVerdict}
		if j.Why = apart(g, k); j.Why == "" {
			var why string
			j.Gate, why = judge(g, k)
			j.Floor, _ = judge(floor, k)
			j.OldGate, _ = judge(old, k)
			j.OldFloor, _ = judge(oldFloor, k)
			if j.OtherLoad = !g.Empty() && k.ConcurrencyPerGPU != g.ConcurrencyPerGPU; j.OtherLoad && why == "" {
				why = fmt.Sprintf("at %s per GPU, the gate is for %d: a check would be inconclusive", count(k.ConcurrencyPerGPU), g.ConcurrencyPerGPU)
			}
			j.Why = why
		}
		r.Runs = append(r.Runs, j)
	}
	r.count(g)
	return r
}

func count(n int) string {
	if n == 0 {
		return "an unrecorded load"
	}
	return fmt.Sprint(n)
}

// apart says why a gate has nothing to say of a run.
func apart(g Gate, k KnownRun) string {
	switch {
	case k.Service == "":
		return "the service is not recorded"
	case k.GPUs == 0:
		return "the number of GPUs is not recorded"
	case k.Model == "" || g.Model != "" && k.Model != g.Model, g.Model == "" && k.Model != defaultModel:
		return "another model, or none recorded"
	}
	return ""
}

// judge asks the evaluator; a run is a full node.
func judge(g Gate, k KnownRun) (Outcome, string) {
	e, err := Evaluate(g, Measured{k.TokPerSec, k.TTFTP99MS, k.GPUs, k.GPUs})
	var why *EvaluateError
	switch {
	case errors.As(err, &why):
		return NoVerdict, why.Msg
	case err != nil:
		return NoVerdict, err.Error()
	case e.Pass:
		return Passes, ""
	}
	return Fails, ""
}

// count fills the tallies and the shapes.
func (r *Replay) count(g Gate) {
	gpus := 0
	for _, j := range r.Runs {
		r.Gate.add(j, j.Gate)
		r.Floor.add(j, j.Floor)
		r.OldGate.add(j, j.OldGate)
		r.OldFloor.add(j, j.OldFloor)
		if j.Gate == NoVerdict || !j.Bad && j.OtherLoad {
			r.NotJudged++
		}
		if j.Floor != NoVerdict && !j.Bad && !j.OtherLoad {
			r.healthy, gpus = append(r.healthy, j.TokPerSec/float64(j.GPUs)), max(gpus, j.GPUs)
		}
	}
	if len(r.healthy) == 0 {
		return
	}
	slices.Sort(r.healthy)
	median := medianOf(r.healthy)
	g.CeilingTTFTP99MS = 0
	old := Gate{Floor: UpstreamGate().Floor}
	r.Floor.LossSeen = lossSeen(g, median, gpus)
	r.OldFloor.LossSeen = lossSeen(old, median, gpus)
	r.Gate.LossSeen, r.OldGate.LossSeen = r.Floor.LossSeen, r.OldFloor.LossSeen
	for _, n := range nodeSizes() {
		r.Shapes = append(r.Shapes, Shape{n, atShare(g, n, median, 1), atShare(g, n, median, slowShare), atShare(old, n, median, 1), atShare(old, n, median, slowShare)})
	}
}

// lossSeen is negative where the floor lies above the median.
func lossSeen(g Gate, median float64, gpus int) float64 {
	floor, _ := appliedFloor(g, Measured{GPUs: gpus, GPUsPerNode: gpus})
	return 1 - floor*(1-Tolerance)/(median*float64(gpus))
}
