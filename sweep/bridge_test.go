package sweep

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfsweep/perfsweep/loadgen"
)

func aPair(i int) BridgePair {
	began := time.Date(2026, 9, 2, 9, 2*i, 0, 0, time.UTC)
	reading := func(at time.Time, rate float64) BridgeReading {
		return BridgeReading{Started: at, Seconds: 20, Requests: 1000, OutputTokens: 20 * rate, TokPerSec: rate, TTFTP99MS: 90, AllOutputTokens: 21 * rate, ServerOutputTokens: 21 * rate}
	}
	return BridgePair{
		Seq: i + 1, ConcurrencyPerGPU: 32, First: ByAIPerf, Window: 1, Version: "0.13.0", NextRequest: 5000,
		AIPerf: reading(began, 1900), Perfsweep: reading(began.Add(time.Minute), 2000),
	}
}

// Pairs stand between runs, are read again, and go on where they ended.
func TestPairsInAJournal(t *testing.T) {
	path, _ := write(t, someRuns(2))
	j, curve, err := ResumeJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	c := Campaign{Curve: curve, Journal: j}
	c.Curve.Plan.Window = 1
	if err := c.AddPair(aPair(0)); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(someRuns(3)[2]); err != nil {
		t.Fatal(err)
	}
	if err := c.AddPair(aPair(1)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	back, err := ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]BridgePair{aPair(0), aPair(1)}, back.Bridge); d != "" || len(back.Runs) != 3 {
		t.Errorf("%d runs, pairs %s", len(back.Runs), d)
	}
	made, valid := back.PairsAt(32)
	if made != 2 || len(valid) != 2 {
		t.Errorf("%d pairs, %d valid", made, len(valid))
	}
	if made, _ := back.PairsAt(64); made != 0 {
		t.Errorf("%d pairs at another point", made)
	}
	c.Curve = back
	if got := c.firstRequest(); got != 5000 {
		t.Errorf("the next request is %d", got)
	}
	if got := back.Bridge[0].AIPerf.ServerTokPerSec(); got != 1900 {
		t.Errorf("the server counted %v tok/s", got)
	}
}

// marked is a pair with times as they are measured, in every digit.
func marked(p BridgePair) BridgePair {
	r := &p.AIPerf
	r.Seconds, r.TokPerSec, r.TTFTP99MS = 20.000000123, 1900.000000123, 90.000000123
	return p
}

func TestUnlawfulPairs(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *BridgePair)
		want   string
	}{
		{"as made", func(*BridgePair) {}, ""},
		{"AIPerf's own division", func(p *BridgePair) { p.AIPerf.TokPerSec *= 1.01 }, ""},
		{"a later number", func(p *BridgePair) { p.Seq = 3 }, "pair 3 where pair 2 was expected"},
		{"no concurrency", func(p *BridgePair) { p.ConcurrencyPerGPU = 0 }, "0 per GPU is outside"},
		{"no order", func(p *BridgePair) { p.First = "" }, "neither of its tools"},
		{"no version", func(p *BridgePair) { p.Version = "" }, "no version of AIPerf"},
		{"a long version", func(p *BridgePair) { p.Version = strings.Repeat("0", 41) }, "no version of AIPerf"},
		{"rate", func(p *BridgePair) { p.Perfsweep.TokPerSec *= 1.01 }, "perfsweep: 40000 output tokens in 20 s are not 2020 a second"},
		{"AIPerf's rate", func(p *BridgePair) { p.AIPerf.TokPerSec *= 1.05 }, "aiperf: 38000 output tokens"},
		{"no server", func(p *BridgePair) { p.AIPerf.ServerOutputTokens = 0 }, "aiperf: 0 is no measurement"},
		{"fewer in all", func(p *BridgePair) { p.AIPerf.AllOutputTokens = 30000 }, "30000 output tokens in all and 38000"},
		{"negative", func(p *BridgePair) { p.Perfsweep.TTFTP99MS = -1 }, "perfsweep: -1 is no measurement"},
		{"later than its end", func(p *BridgePair) { p.Perfsweep.TTFTP99MS = 21000 }, "a TTFT p99 of 21000 ms in a run of 20 s"},
		{"no date", func(p *BridgePair) { p.AIPerf.Started = time.Time{} }, "aiperf: it has no date"},
		{"before the campaign", func(p *BridgePair) { p.AIPerf.Started = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }, "dated before its campaign"},
		{"the wrong way round", func(p *BridgePair) { p.AIPerf.Started = p.AIPerf.Started.Add(48 * time.Hour) }, "after the second one"},
		{"a copy", func(p *BridgePair) { p.Perfsweep = aPair(0).Perfsweep }, "a copy of a run of pair 1"},
		{"a copy of another date", func(p *BridgePair) {
			p.AIPerf = marked(aPair(0)).AIPerf
			p.AIPerf.Started = p.Perfsweep.Started.Add(-time.Second)
		}, "a copy of a run of pair 1"},
	} {
		curve := Curve{Started: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC), Bridge: []BridgePair{marked(aPair(0))}}
		p := aPair(1)
		c.change(&p)
		err := lawfulPair(p, &curve)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Each pair is held against all others, so that their number is bounded.
func TestPairsAreBounded(t *testing.T) {
	curve := Curve{Bridge: make([]BridgePair, maxPairs)}
	p := aPair(0)
	if p.Seq = maxPairs + 1; lawfulPair(p, &curve) == nil {
		t.Errorf("%d pairs", p.Seq)
	}
}

// What is damaged names its line; a torn last pair is none.
func TestDamagedPairs(t *testing.T) {
	path, raw := write(t, someRuns(1))
	j, curve, err := ResumeJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	c := Campaign{Curve: curve, Journal: j}
	if err := c.AddPair(aPair(0)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pair := whole[len(raw):]
	for _, c := range []struct {
		name, want string
		line       []byte
	}{
		{"twice", ":4: pair 1: pair 1 where pair 2 was expected", bytes.Repeat(pair, 2)},
		{"a key twice", `"first" stands twice`, bytes.Replace(pair, []byte(`"first":"aiperf"`), []byte(`"first":"perfsweep","first":"aiperf"`), 1)},
		{"a text for a number", ":3: damaged pair", bytes.Replace(pair, []byte(`"seq":1`), []byte(`"seq":"1"`), 1)},
		{"its keys in another order", "", append([]byte(`{"seq":1,"type":"bridge"`), bytes.TrimPrefix(pair, []byte(`{"type":"bridge","seq":1`))...)},
		{"torn", "", pair[:len(pair)/2]},
	} {
		at := filepath.Join(t.TempDir(), "j.jsonl")
		if err := os.WriteFile(at, append(bytes.Clone(raw), c.line...), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadJournal(at)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A run beside the plan is judged, continues the numbers of requests, and leaves no
// trace.
func TestBeside(t *testing.T) {
	var asked Step
	var first uint64
	c := Campaign{Curve: head(), Measure: func(_ context.Context, s Step, n uint64) (loadgen.Result, error) {
		asked, first = s, n
		return loadgen.Result{Kind: s.Kind, Concurrency: 64}, nil
	}}
	c.Curve.Bridge = []BridgePair{aPair(0)}
	r, err := c.Beside(t.Context(), 32)
	if err != nil || asked.Kind != loadgen.Gate || asked.ConcurrencyPerGPU != 32 || first != 5000 {
		t.Errorf("%v: %+v from request %d", err, asked, first)
	}
	if r.Valid() || len(c.Curve.Runs) != 0 { // it measured nothing
		t.Errorf("%v, %d runs kept", r.Violations, len(c.Curve.Runs))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Beside(ctx, 32); err == nil {
		t.Error("a run that was broken off counts")
	}
}
