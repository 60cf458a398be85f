package calibrate

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// Losses of C10 that need a number. The stalls are those of public record on
// H100: a recurring level of 0.68 to 0.70 of the healthy one in a third of the
// runs (NVIDIA/aicr#1192), as an engine reads that stands still for 30 % of the
// time.
const (
	stallShare    = 0.3
	stallRuns     = 1.0 / 3
	frontendShare = 0.8
	slower, slow  = 0.8, 0.7
)

// loss is something that may go wrong: what it does to the throughput at a
// concurrency per GPU, and to the median wait for a first token.
type loss struct {
	name  string
	ratio func(n float64) (ratio float64, ok bool)
	// waitMS, where not nil, is the queueing that the loss adds.
	waitMS func(n float64) float64
	// stalls: a share of the runs is hit, and the client sees the silence.
	stalls bool
}

// losses are the lines of the fault-power report.
func (e *evidence) losses() []loss {
	w, _ := workers(e.curve.Fingerprint)
	batch := e.batchCap()
	osl := float64(e.curve.Fingerprint.Workload.OSL)
	var out []loss
	lost := []int{1}
	if k := int(math.Round(3 * float64(w) / 8)); k > 1 {
		lost = append(lost, k)
	}
	for _, k := range lost {
		out = append(out, loss{
			name:   fmt.Sprintf("%d of %s lost", k, plural.Of(w, "worker")),
			ratio:  func(n float64) (float64, bool) { return lostWorkers(e.at, n, w, k) },
			waitMS: func(n float64) float64 { return queueWaitMS(e.at, n*float64(w)/float64(w-k), batch, osl) },
		})
	}
	if w > 1 {
		out = append(out, loss{
			name:  fmt.Sprintf("1 of %s at half speed, least-loaded router", plural.Of(w, "worker")),
			ratio: func(float64) (float64, bool) { return sickLeastLoaded(w, 0.5), true },
		}, loss{
			name:  fmt.Sprintf("1 of %s at half speed, round-robin router", plural.Of(w, "worker")),
			ratio: func(n float64) (float64, bool) { return sickRoundRobin(e.at, n, w, 0.5) },
		})
	}
	always := func(r float64) func(float64) (float64, bool) {
		return func(float64) (float64, bool) { return r, true }
	}
	return append(out,
		loss{name: "everything 20 % slower", ratio: always(slower)},
		loss{name: "everything 30 % slower", ratio: always(slow)},
		loss{
			name:   "half of the batch cap",
			ratio:  func(n float64) (float64, bool) { return halfCap(e.at, n, batch) },
			waitMS: func(n float64) float64 { return queueWaitMS(e.at, n, batch/2, osl) },
		},
		loss{
			name:  fmt.Sprintf("a frontend ceiling at %.0f %% of the largest throughput measured", 100*frontendShare),
			ratio: func(n float64) (float64, bool) { return ceilingRatio(e.at, n, frontendShare*e.largest()) },
		},
		loss{name: fmt.Sprintf("standstill %.0f %% of the time in one run of three", 100*stallShare), ratio: always(1 - stallShare), stalls: true})
}

// largest is the largest median throughput per GPU of a healthy level.
func (e *evidence) largest() float64 {
	most := 0.0
	for _, l := range e.fit.Levels {
		if !l.Split() {
			most = max(most, l.TokPerSecPerGPU)
		}
	}
	return most
}

// ceilingRatio is X'/X under a ceiling of the throughput per GPU.
func ceilingRatio(at throughput, n, ceiling float64) (ratio float64, ok bool) {
	before, ok := at(n)
	if !ok || !positive(ceiling) {
		return 0, false
	}
	return clampRatio(ceiling / before)
}

// queueWaitMS is how long a request waits for a slot when n of them share a
// batch cap, at an output length: one residence time for each further batch.
func queueWaitMS(at throughput, n, batchCap, osl float64) float64 {
	x, ok := at(batchCap)
	if !ok || !positive(batchCap) || n <= batchCap {
		return 0
	}
	return 1000 * (n - batchCap) * osl / x
}

// power is what the probabilities of the report rest on.
type power struct {
	limits    Limits
	effective float64 // floor per GPU that a check compares with
	// The capacity pulse of a check: its level, 0 where there is none, its runs,
	// the baseline's, and the median TTFT there.
	pulse          int
	runs, baseRuns int
	sw, ttftMS     float64
}

func (e *evidence) power(effective float64) power {
	p := power{limits: e.limits, effective: effective}
	b, why := e.curve.PulseBase(e.fit, e.op())
	if why != "" {
		return p
	}
	p.pulse, p.baseRuns, p.sw = b.ConcurrencyPerGPU, len(b.Runs), baseSpread(e.fit, e.limits)
	p.runs = pulseRunsWanted(p.sw)
	if p.pulse == e.op() {
		p.runs = checkValid
	}
	_, p.ttftMS = steadyMeans(b.Runs, e.curve.Fingerprint.GPUs)
	return p
}

// sensitivity predicts what losses of capacity would read at the operating
// point and how likely an effective floor per GPU is to catch each.
func (e *evidence) sensitivity(effective float64) []Sensitivity {
	if e.limitsErr != nil || e.op() <= 0 {
		return nil
	}
	share, _ := e.bridge.floorFactors()
	p := e.power(effective / share) // a check compares with the floor as this tool reads it
	var out []Sensitivity
	for _, l := range e.losses() {
		r, ok := l.ratio(float64(e.op()))
		if !ok {
			continue
		}
		s := Sensitivity{Loss: l.name, Ratio: r, Caught: p.limits.FailProbability(effective, float64(r*e.bridge.seen()))}
		if l.stalls {
			s.Caught, s.CheckCaught = stallRuns*s.Caught, stallsCaught(stallRuns)
		} else {
			s.PulseRatio, s.CheckCaught = p.check(l, r)
		}
		out = append(out, s)
	}
	return out
}

// check is how likely a check does not pass a loss that reads ratio at the
// operating point, and what it reads at the pulse. The median of three attempts
// and the pulse come from one deployment, whose factor they share: the
// probability is integrated over it. What C1, C2 and the ceiling see besides
// is left out.
func (p power) check(l loss, ratio float64) (pulseRatio, caught float64) {
	wait := 0.0
	if p.pulse > 0 {
		pulseRatio, _ = l.ratio(float64(p.pulse))
		if l.waitMS != nil {
			wait = l.waitMS(float64(p.pulse))
		}
	}
	late := positive(p.ttftMS) && p.ttftMS+wait >= pulseTTFTFactor*p.ttftMS
	// The calibrated mean is itself known as well as n' runs tell it.
	deployments := math.Sqrt(float64(p.limits.SB*p.limits.SB) + p.limits.S*p.limits.S/p.limits.NPrime)
	const steps, reach = 60, 4.0
	var passed, total float64
	for i := range steps + 1 {
		z := reach * (2*float64(i)/steps - 1)
		weight, d := exact.Exp(-z*z/2), float64(deployments*z) // the density, up to a factor that cancels
		gate := 0.0
		if positive(p.effective) {
			q := normalCDF((exact.Log(p.effective/ratio) - p.limits.LogMean - d) / p.limits.SW)
			gate = q * q * (3 - 2*q) // two of three
		}
		seen := 0.0
		switch {
		case late:
			seen = 1
		case positive(pulseRatio):
			threshold := exact.Log(pulseThreshold(sbPrior, p.sw, p.runs, p.baseRuns))
			seen = normalCDF((threshold - exact.Log(pulseRatio) - d) / pulseSpread(0, p.sw, p.runs, p.baseRuns))
		}
		total += weight
		passed += float64(weight * (1 - gate) * (1 - seen))
	}
	return pulseRatio, 1 - passed/total
}

// stallsCaught is how likely a check does not pass where a share of its
// attempts stands still: those are seen, and all but one of them allowed.
func stallsCaught(share float64) float64 {
	const valid = checkValid
	clean := exact.Pow(1-share, valid)
	return 1 - float64(clean*(1+float64(sweep.MaxStalls*valid*share)))
}

// sensitivity is what a check of a gate, whose evaluation is e, sees of losses;
// none where the baseline is of another point or void.
func (b *baseline) sensitivity(g recipes.Gate, c sweep.Curve, e recipes.Evaluation) []Sensitivity {
	if b == nil || g.Empty() || len(stale(b.curve.Fingerprint, c.Fingerprint)) > 0 {
		return nil
	}
	known := gather(b.curve, b.fit, sweep.ChoosePoint(b.curve.Plan, b.fit, b.curve.Runs), Policy{})
	if known.op() != g.ConcurrencyPerGPU {
		return nil
	}
	return known.sensitivity(e.EffectiveFloorTokPerSec / float64(max(c.Fingerprint.GPUs, 1)))
}

// blindSpots says what a check that passed would probably not have seen.
func blindSpots(s []Sensitivity) string {
	var out []string
	for _, l := range s {
		if l.CheckCaught < missedBelow {
			out = append(out, fmt.Sprintf("%s (%.0f %%)", l.Loss, 100*l.CheckCaught))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "a check such as this one would probably pass, or sees with this probability only: " + strings.Join(out, "; ")
}
