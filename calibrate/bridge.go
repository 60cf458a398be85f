package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// The bounds of a bridge.
const (
	// MinBridgePairs is the fewest pairs whose spread says anything.
	MinBridgePairs = 3
	// refereeShare is how far this tool's own count of tokens may lie from that of
	// the server: it takes them from the server's usage, so that a larger
	// difference is somebody else's load, or a counter of another server.
	refereeShare = 0.005
	// tokenizerShare is how far AIPerf's count may lie from the server's, either way:
	// it makes tokens of the text again. No tokenizer of the model differs by that, so
	// that a larger difference is another model's, or a file of another run.
	tokenizerShare = 1.25
	// bridgeSpread is the largest standard deviation of ln of a ratio of
	// throughputs: what C8 allows to runs of one deployment.
	bridgeSpread = maxSW
)

// Bridge says how AIPerf reads what the gate runs of this tool read, from pairs of
// runs made one right after the other.
type Bridge struct {
	Version           string `json:"aiperf_version"`
	ConcurrencyPerGPU int    `json:"concurrency_per_gpu"`
	// Pairs were used; Invalid ones failed a run gate and were not.
	Pairs   int `json:"pairs"`
	Invalid int `json:"invalid_pairs,omitempty"`
	// Throughput and TTFT are AIPerf's reading as a share of this tool's.
	Throughput BridgeRatio `json:"throughput_ratio"`
	TTFT       BridgeRatio `json:"ttft_p99_ratio"`
	// AIPerfCounted and PerfsweepCounted are the output tokens that each of the
	// two counts as a share of the server's own counter: the one of the pairs that
	// lies farthest from it.
	AIPerfCounted    float64 `json:"aiperf_tokens_to_server_ratio"`
	PerfsweepCounted float64 `json:"perfsweep_tokens_to_server_ratio"`
	// Refused says why the pairs are no bridge; nothing else follows from them then.
	Refused string `json:"refused,omitempty"`
}

// BridgeRatio is a ratio with the interval in which the ratio of as many pairs again
// lies in 95 % of repeats.
type BridgeRatio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	LogSD float64 `json:"log_sd"` // of one pair
}

// BridgeOf is what pairs at a concurrency per GPU say, nil where there are none.
func BridgeOf(pairs []sweep.BridgePair, n int) *Bridge {
	if len(pairs) == 0 {
		return nil
	}
	made, valid := sweep.Curve{Bridge: pairs}.PairsAt(n)
	b := &Bridge{ConcurrencyPerGPU: n, Pairs: len(valid), Invalid: made - len(valid)}
	b.Refused = b.weigh(valid)
	return b
}

// weigh computes the ratios; why says what speaks against them.
func (b *Bridge) weigh(pairs []sweep.BridgePair) (why string) {
	if len(pairs) < MinBridgePairs {
		return fmt.Sprintf("%s at %d per GPU (%d more failed a run gate), and %d are needed", plural.Of(len(pairs), "valid pair"), b.ConcurrencyPerGPU, b.Invalid, MinBridgePairs)
	}
	var x, t, theirs, ours []float64
	for _, p := range pairs {
		if b.Version != "" && b.Version != p.Version {
			return fmt.Sprintf("its pairs are of AIPerf %s and of %s", printable(b.Version), printable(p.Version))
		}
		b.Version = p.Version
		x = append(x, exact.Log(p.AIPerf.TokPerSec)-exact.Log(p.Perfsweep.TokPerSec))
		t = append(t, exact.Log(p.AIPerf.TTFTP99MS)-exact.Log(p.Perfsweep.TTFTP99MS))
		theirs = append(theirs, p.AIPerf.AllOutputTokens/p.AIPerf.ServerOutputTokens)
		ours = append(ours, p.Perfsweep.AllOutputTokens/p.Perfsweep.ServerOutputTokens)
	}
	b.Throughput, b.TTFT = bridgeRatio(x), bridgeRatio(t)
	b.AIPerfCounted, b.PerfsweepCounted = farthest(theirs), farthest(ours)
	switch {
	case !(math.Abs(b.PerfsweepCounted-1) <= refereeShare):
		return fmt.Sprintf("perfsweep counted x%.4f of the output tokens that the server counted, and %.1f %% are allowed: something else uses the server, or its pages are another one's",
			b.PerfsweepCounted, 100*refereeShare)
	case !(slices.Min(theirs) >= 1/tokenizerShare && slices.Max(theirs) <= tokenizerShare):
		return fmt.Sprintf("AIPerf counted x%.4f to x%.4f of the output tokens that the server counted, and x%.2f to x%.2f are allowed: its tokenizer is not the model's, or what it wrote is of another run",
			slices.Min(theirs), slices.Max(theirs), 1/tokenizerShare, tokenizerShare)
	case !(b.Throughput.LogSD <= bridgeSpread):
		return fmt.Sprintf("the ratio of throughputs scatters by %.3f (sd of ln) between pairs, and %.2f is allowed: AIPerf, or its machine, is not steady",
			b.Throughput.LogSD, bridgeSpread)
	case !positive(b.Throughput.Low) || !positive(b.TTFT.Low) || !positive(b.TTFT.High):
		return "its pairs give no ratio"
	}
	return ""
}

// bridgeRatio turns logarithms of ratios, three or more, into a ratio. The interval
// is that of a mean of as many again, wider than the one of the mean itself: what is
// written must hold when it is measured again.
func bridgeRatio(logs []float64) BridgeRatio {
	n := float64(len(logs))
	mean, sd := exact.Mean(logs), exact.StdDev(logs)
	half := float64(studentsT(n-1, 0.975)*sd) * math.Sqrt(2/n)
	return BridgeRatio{Ratio: exact.Exp(mean), Low: exact.Exp(mean - half), High: exact.Exp(mean + half), LogSD: sd}
}

// farthest is the share that lies farthest from 1.
func farthest(shares []float64) float64 {
	return slices.MaxFunc(shares, func(a, b float64) int {
		switch x, y := math.Abs(a-1), math.Abs(b-1); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// Stands reports whether floor and ceiling are what AIPerf reads.
func (b *Bridge) Stands() bool { return b != nil && b.Refused == "" }

// floorFactors are what a floor is multiplied with to be one of AIPerf's readings:
// its share of the median by the ratio, and the tolerance limit, which promises
// something, by the lower end of the interval. Neither raises a floor.
func (b *Bridge) floorFactors() (share, limit float64) {
	if !b.Stands() {
		return 1, 1
	}
	return min(1, b.Throughput.Ratio), min(1, b.Throughput.Low)
}

// ceilingFactors are those of a ceiling, likewise. Neither lowers it.
func (b *Bridge) ceilingFactors() (multiple, limit float64) {
	if !b.Stands() {
		return 1, 1
	}
	return max(1, b.TTFT.Ratio), max(1, b.TTFT.High)
}

// seen is the throughput that the evaluator's tool reads of a run that this one
// reads as 1, and seenTTFT the TTFT p99.
func (b *Bridge) seen() float64 {
	if !b.Stands() {
		return 1
	}
	return b.Throughput.Ratio
}

func (b *Bridge) seenTTFT() float64 {
	if !b.Stands() {
		return 1
	}
	return b.TTFT.Ratio
}

// bridgePairs are those of a campaign and of further clusters.
func bridgePairs(c sweep.Curve, p Policy) []sweep.BridgePair {
	out := slices.Clone(c.Bridge)
	for _, o := range p.Clusters {
		out = append(out, o.Curve.Bridge...)
	}
	return out
}
