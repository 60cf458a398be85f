package calibrate

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// bridgePair is a pair at 128 per GPU in which AIPerf reads x of the throughput and
// t of the TTFT p99, and both count what the server counts.
func bridgePair(i int, x, t float64) sweep.BridgePair {
	began := time.Date(2026, 9, 2, 9, 2*i, 0, 0, time.UTC)
	reading := func(at time.Time, rate, p99 float64) sweep.BridgeReading {
		return sweep.BridgeReading{Started: at, Seconds: 10, Requests: 1000, OutputTokens: 10 * rate, TokPerSec: rate, TTFTP99MS: p99, AllOutputTokens: 11 * rate, ServerOutputTokens: 11 * rate}
	}
	return sweep.BridgePair{
		Seq: i + 1, ConcurrencyPerGPU: 128, First: sweep.ByAIPerf, Version: "0.13.0",
		AIPerf: reading(began, 170000*x, 680*t), Perfsweep: reading(began.Add(time.Minute), 170000, 680),
	}
}

func threePairs() []sweep.BridgePair {
	return []sweep.BridgePair{bridgePair(0, 0.95, 1.5), bridgePair(1, 0.94, 1.8), bridgePair(2, 0.96, 1.6)}
}

// By hand: ln .95, .94, .96 have mean -.0513302 and sd .0105268, those of 1.5, 1.8,
// 1.6 sd .0924475; t(.975, 2) is 4.3026527, and the interval is t sd sqrt(2/3).
func TestBridgeRatios(t *testing.T) {
	b := BridgeOf(threePairs(), 128)
	if !b.Stands() || b.Pairs != 3 || b.Version != "0.13.0" || b.PerfsweepCounted != 1 || b.AIPerfCounted != 1 {
		t.Fatalf("%+v", b)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"ratio", b.Throughput.Ratio, 0.9499649}, {"low", b.Throughput.Low, 0.9154754}, {"high", b.Throughput.High, 0.9857538}, {"sd", b.Throughput.LogSD, 0.0105268},
		{"TTFT ratio", b.TTFT.Ratio, 1.6286506}, {"TTFT low", b.TTFT.Low, 1.1770066}, {"TTFT high", b.TTFT.High, 2.2536005}, {"TTFT sd", b.TTFT.LogSD, 0.0924475},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s %v, by hand %v", c.name, c.got, c.want)
		}
	}
	if share, limit := b.floorFactors(); share != b.Throughput.Ratio || limit != b.Throughput.Low {
		t.Errorf("floor factors %v %v", share, limit)
	}
	if multiple, limit := b.ceilingFactors(); multiple != b.TTFT.Ratio || limit != b.TTFT.High {
		t.Errorf("ceiling factors %v %v", multiple, limit)
	}
}

// A tool that reads more, and earlier, raises no floor and lowers no ceiling.
func TestBridgeNeverTightens(t *testing.T) {
	b := BridgeOf([]sweep.BridgePair{bridgePair(0, 1.05, 0.9), bridgePair(1, 1.05, 0.9), bridgePair(2, 1.05, 0.9)}, 128)
	share, limit := b.floorFactors()
	multiple, upper := b.ceilingFactors()
	if !b.Stands() || share != 1 || limit != 1 || multiple != 1 || upper != 1 {
		t.Errorf("%+v: %v %v %v %v", b, share, limit, multiple, upper)
	}
}

func TestBridgeRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p []sweep.BridgePair) []sweep.BridgePair
		want   string // "" = it stands
	}{
		{"as it is", func(p []sweep.BridgePair) []sweep.BridgePair { return p }, ""},
		{"two pairs", func(p []sweep.BridgePair) []sweep.BridgePair { return p[:2] }, "2 valid pairs at 128 per GPU"},
		{"one of them invalid", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].Violations = []sweep.Violation{{Gate: "V6"}}
			return p
		}, "2 valid pairs at 128 per GPU (1 more failed a run gate)"},
		{"at another point", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[0].ConcurrencyPerGPU = 96
			return p
		}, "2 valid pairs at 128 per GPU (0 more"},
		{"two versions", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[2].Version = "0.14.0"
			return p
		}, "of AIPerf 0.13.0 and of 0.14.0"},
		{"just within the referee's allowance", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].Perfsweep.ServerOutputTokens *= 1.0049
			return p
		}, ""},
		{"the referee contradicts", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].Perfsweep.ServerOutputTokens *= 1.0052
			return p
		}, "perfsweep counted x0.9948 of the output tokens"},
		{"the referee contradicts the other way", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].Perfsweep.ServerOutputTokens *= 0.99
			return p
		}, "perfsweep counted x1.0101"},
		{"AIPerf counts otherwise", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].AIPerf.ServerOutputTokens *= 1.03
			return p
		}, ""},
		{"AIPerf's tokenizer is another's", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].AIPerf.ServerOutputTokens *= 1.251
			return p
		}, "AIPerf counted x0.7994 to x1.0000 of the output tokens"},
		{"AIPerf's file is of a longer run", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[0].AIPerf.ServerOutputTokens /= 1.251
			p[1].AIPerf.ServerOutputTokens *= 1.249
			return p
		}, "AIPerf counted x0.8006 to x1.2510 of the output tokens"},
		{"scatter", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].AIPerf.TokPerSec *= 0.8
			return p
		}, "the ratio of throughputs scatters"},
		{"no number", func(p []sweep.BridgePair) []sweep.BridgePair {
			p[1].AIPerf.TTFTP99MS = math.NaN()
			return p
		}, "its pairs give no ratio"},
	} {
		b := BridgeOf(c.change(threePairs()), 128)
		if (b.Refused == "") != (c.want == "") || !strings.Contains(b.Refused, c.want) {
			t.Errorf("%s: refused %q, want %q", c.name, b.Refused, c.want)
		}
	}
	if b := BridgeOf(nil, 128); b != nil || b.Stands() {
		t.Errorf("no pairs are %+v", b)
	}
}

// A bridge changes floor and ceiling, what the gate catches, and what is said of it;
// the limits stay those of this tool's runs.
func TestBridgedProposal(t *testing.T) {
	plain := newFixture().simulated().propose()
	f := newFixture().simulated()
	f.curve.Bridge = threePairs()
	p := f.propose()
	if p.Outcome != OutcomeSimulated || !p.Writable || !p.Bridge.Stands() {
		t.Fatalf("%s: %v", p.Outcome, p.Reasons)
	}
	// .85 x the median of 21197 is 18017; times .94996 it is 17115. Twice the median
	// p99 of 677 is 1354; times 1.62865 it is 2205.
	if plain.Gate.FloorPerGPU != 18000 || p.Gate.FloorPerGPU != 17100 || plain.Gate.CeilingTTFTP99MS != 1400 || p.Gate.CeilingTTFTP99MS != 2300 {
		t.Errorf("floors %v and %v, ceilings %v and %v", plain.Gate.FloorPerGPU, p.Gate.FloorPerGPU, plain.Gate.CeilingTTFTP99MS, p.Gate.CeilingTTFTP99MS)
	}
	if p.Limits != plain.Limits || p.TokPerSecPerGPU != plain.TokPerSecPerGPU {
		t.Error("the readings of this tool changed")
	}
	for i, s := range p.Sensitivity {
		if was := plain.Sensitivity[i]; s.Ratio != was.Ratio || math.Abs(s.Caught-was.Caught) > 0.1 {
			t.Errorf("%s: caught %.3f with the bridge, %.3f without", s.Loss, s.Caught, was.Caught)
		}
	}
	comment, was := strings.Join(p.Comment, "\n"), strings.Join(plain.Comment, "\n")
	for _, want := range []string{"Bridge: AIPerf 0.13.0, 3 pairs", "x0.9500 of the throughput (repeats within 0.9155 to 0.9858)", "x1.629 of the TTFT p99"} {
		if !strings.Contains(comment, want) {
			t.Errorf("the comment does not say %q:\n%s", want, comment)
		}
	}
	if !strings.Contains(was, "Bridge: none; floor and ceiling are perfsweep's own readings. On two cores AIPerf 0.13.0 read x0.80 of what perfsweep read of a paced server at 256 streams, the most that were compared; here are 1024") {
		t.Errorf("without a bridge the comment says\n%s", was)
	}
}

// Pairs that do not hold are not written as if there were none.
func TestRefusedBridgeIsNotWritten(t *testing.T) {
	f := newFixture().simulated()
	f.curve.Bridge = threePairs()[:2]
	p := f.propose()
	if p.Outcome != OutcomeProvisional || p.Writable || !strings.HasPrefix(p.Reasons[0], "the bridge to AIPerf does not stand: 2 valid pairs") {
		t.Errorf("%s: %v", p.Outcome, p.Reasons)
	}
	if plain := newFixture().simulated().propose(); p.Gate != plain.Gate {
		t.Errorf("the gate shown is %+v, and without pairs %+v", p.Gate, plain.Gate)
	}
}

// What was asked to be AIPerf's reading is not written as perfsweep's where the time
// ended before the first pair; a bundle keeps what was asked.
func TestBridgeAskedAndNotMade(t *testing.T) {
	f := newFixture().simulated()
	f.policy.BridgeAsked = true
	p := f.propose()
	if p.Outcome != OutcomeProvisional || p.Writable || p.Reasons[0] != "the bridge to AIPerf does not stand: no pair was made at 128 per GPU" {
		t.Errorf("%s: %v", p.Outcome, p.Reasons)
	}
	if r := NewRecord(f.curve, f.current, f.policy, p); !r.Asked.Policy(nil, nil).BridgeAsked {
		t.Error("a record does not keep that a bridge was asked for")
	}
	f.curve.Bridge = threePairs()
	if p := f.propose(); !p.Writable {
		t.Errorf("%s: %v", p.Outcome, p.Reasons)
	}
}

// The sidecar keeps the bridge, and its floor is computed again from it.
func TestBridgeInTheSidecar(t *testing.T) {
	f := newFixture().simulated()
	f.curve.Bridge = threePairs()
	p, proposal := proved(f)
	back, err := ParseProvenance("o.provenance.json", encoded(t, p))
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.Recompute()
	if err != nil || again.Gate != proposal.Gate || *again.Bridge != *proposal.Bridge {
		t.Errorf("%v: %+v, %+v", err, again.Gate, again.Bridge)
	}
	for _, c := range []struct {
		key    string
		change func(b *Bridge)
	}{
		{"bridge.refused", func(b *Bridge) { b.Refused = "no" }},
		{"bridge.pairs", func(b *Bridge) { b.Pairs = 2 }},
		{"bridge.concurrency_per_gpu", func(b *Bridge) { b.ConcurrencyPerGPU = 64 }},
		{"bridge.aiperf_version", func(b *Bridge) { b.Version = "" }},
		{"bridge.throughput_ratio", func(b *Bridge) { b.Throughput.Low = 0 }},
		{"bridge.throughput_ratio", func(b *Bridge) { b.Throughput.High = b.Throughput.Ratio / 2 }},
		{"bridge.ttft_p99_ratio", func(b *Bridge) { b.TTFT.High = 1e9 }},
		{"bridge.perfsweep_tokens_to_server_ratio", func(b *Bridge) { b.PerfsweepCounted = -1 }},
	} {
		bad, b := p, *p.Bridge
		c.change(&b)
		bad.Bridge = &b
		if _, err := ParseProvenance("o.provenance.json", encoded(t, bad)); err == nil || !strings.Contains(err.Error(), c.key) {
			t.Errorf("%s: %v", c.key, err)
		}
	}
}
