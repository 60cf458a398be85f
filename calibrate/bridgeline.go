package calibrate

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// bridgeRefused is what speaks against a bridge that was begun, "" where none was
// or it stands: what was asked to be read as AIPerf does is not written as perfsweep
// reads it.
func (j *judgement) bridgeRefused() string {
	switch {
	case j.bridge == nil && j.policy.BridgeAsked:
		return fmt.Sprintf("the bridge to AIPerf does not stand: no pair was made at %d per GPU", j.op())
	case j.bridge == nil || j.bridge.Stands():
		return ""
	}
	return "the bridge to AIPerf does not stand: " + j.bridge.Refused
}

// bridgeLine says whose readings floor and ceiling are. The evaluator measures with
// AIPerf.
func (j *judgement) bridgeLine(p Proposal) string {
	b := j.bridge
	switch {
	case b == nil:
		return "Bridge: none; floor and ceiling are perfsweep's own readings. " + j.unbridged(p)
	case !b.Stands():
		return "Bridge: none; floor and ceiling are perfsweep's own readings, as the pairs with AIPerf do not hold: " + b.Refused + "."
	}
	share, limit := b.floorFactors()
	multiple, upper := b.ceilingFactors()
	return fmt.Sprintf(bridgedComment+"%s, %s with perfsweep in turns at %d per GPU: it reads x%.4f of the throughput (repeats within %.4f to %.4f) "+
		"and x%.3f of the TTFT p99 (%.3f to %.3f). Floor and ceiling are what AIPerf sees: the median times %.4f and L times %.4f, twice the median TTFT p99 times %.3f and its limit times %.3f. "+
		"Of the tokens that the server counted perfsweep counts x%.4f, AIPerf x%.4f. A check by perfsweep divides floor and ceiling by the same two ratios again, which it takes from the sidecar.",
		printable(b.Version), plural.Of(b.Pairs, "pair"), b.ConcurrencyPerGPU, b.Throughput.Ratio, b.Throughput.Low, b.Throughput.High, b.TTFT.Ratio, b.TTFT.Low, b.TTFT.High,
		share, limit, multiple, upper, b.PerfsweepCounted, b.AIPerfCounted)
}

// knownLoss is what AIPerf 0.13.0 was measured to read as a share of what this tool
// read of the same server at a number of streams: the paced one of docs/bias.md,
// whose streams are in step, beside its clients on two busy cores. A larger machine
// loses less, a faster server more.
type knownLoss struct {
	streams int
	share   float64
}

// knownLosses are those of the runs in docs/examples/bias.jsonl, which a test holds
// them against.
func knownLosses() []knownLoss {
	return []knownLoss{{1, 0.99}, {16, 0.97}, {64, 0.92}, {128, 0.89}, {256, 0.80}}
}

// lossAt is the known loss at that many streams, rounded up to a number that was
// measured, else at the most that were: beyond says that there are more.
func lossAt(streams int) (l knownLoss, beyond bool) {
	for _, l = range knownLosses() {
		if streams <= l.streams {
			return l, false
		}
	}
	return l, true
}

// unbridged says what an unknown bridge may cost, and what widening the margin for it
// would. A portable gate stands at 0.765 of the median, 8.9 % above a loss of 30 %, and
// catches that with 95 % at the most noise that a gate is promised for: the least
// loss of AIPerf that was measured takes that to 86 % where AIPerf loses nothing, so
// the margin is never widened (docs/explanation.md#no-margin-for-aiperf).
func (j *judgement) unbridged(p Proposal) string {
	streams := j.op() * j.curve.Fingerprint.GPUs
	at, beyond := lossAt(streams)
	s := fmt.Sprintf("On two cores AIPerf 0.13.0 read x%.2f of what perfsweep read of a paced server at %s", at.share, plural.Of(at.streams, "stream"))
	if beyond {
		s += ", the most that were compared"
	}
	if j.policy.TTFTOnly {
		return s + ", and first tokens later; calibrate --bridge aiperf measures it here."
	}
	passes := p.EffectiveFloorPerGPU / p.TokPerSecPerGPU
	s += fmt.Sprintf("; here are %d, and a healthy run passes down to x%.3f of the median, its noise included", streams, passes)
	if at.share <= passes || beyond {
		s += ", so that AIPerf alone may fail it"
	}
	left, percent := slow, 30
	if j.policy.Profile == Regression {
		left, percent = slower, 20
	}
	catches := func(share float64) float64 {
		return 100 * j.limits.FailProbability(float64(share*p.EffectiveFloorPerGPU), left)
	}
	return s + fmt.Sprintf(". The margin is not widened for that: where AIPerf loses nothing this floor catches everything %d %% slower with a chance of %.0f %%, and x%.2f of it would with %.0f %%. "+
		"calibrate --bridge aiperf measures it.", percent, catches(1), at.share, catches(at.share))
}

// bridged says in the rule that floor and ceiling follow from readings of AIPerf's.
func (j *judgement) bridged() string {
	if !j.bridge.Stands() {
		return ""
	}
	return "; both as AIPerf reads them, by the ratios of the bridge"
}
