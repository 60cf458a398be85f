package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

func TestEstimate(t *testing.T) {
	// s = 1, t = 4.3027 with two degrees of freedom, and the root of 2/3.
	e := estimateOf([]float64{1, 2, 3})
	if e.mean != 2 || !near(e.low, 2-3.5131, 1e-4) || !near(e.high, 2+3.5131, 1e-4) {
		t.Errorf("%+v", e)
	}
	if !e.covers(5.5) || e.covers(5.52) || e.covers(math.NaN()) {
		t.Errorf("what %+v covers", e)
	}
	if one := estimateOf([]float64{7}); one.mean != 7 || one.covers(7) || one.String() != "7.0" {
		t.Errorf("of one value: %v", one)
	}
	if got := estimateOf([]float64{-.01, -.01}).String(); got != "0.0 (0.0 to 0.0)" {
		t.Errorf("a nought: %q", got)
	}
	if got := estimateOf([]float64{.998, .999, 1}).format("%.3f"); got != "0.999 (0.995 to 1.003)" {
		t.Errorf("%q", got)
	}
	// From a printed table of Student's t.
	for freedom, want := range map[int]float64{1: 12.7062, 4: 2.7764, 10: 2.2281, 11: 2.2010, 20: 2.0860, 60: 2.0003, 1000: 1.9623} {
		if got := student975(freedom); !near(got, want, 2e-4) {
			t.Errorf("t with %d degrees of freedom: %.4f, want %.4f", freedom, got, want)
		}
	}
	v := []float64{10, 20, 30, 40}
	if linear(v, .5) != 25 || !near(linear(v, .99), 39.7, 1e-9) || linear(v, 1) != 40 || !math.IsNaN(linear(nil, .5)) {
		t.Error("linear")
	}
}

const traceLine = `{"timestamp":1,"event":{"schema":"dynamo.request.trace.v1","event_type":"request_end","request":{"request_id":"x","output_tokens":4,"request_received_ms":%d,"ttft_ms":%g,"total_time_ms":%g}}}` + "\n"

// TestTraceTruth: the window is from the receipt of the first request after the
// warm-up to the last end of any, in whatever order requests end.
func TestTraceTruth(t *testing.T) {
	text := fmt.Sprintf(traceLine+traceLine+traceLine, 1000, 9., 900., 2010, 70., 600., 2000, 50., 500.)
	read := func() []traced {
		got, err := readTrace([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	l := load{streams: 1, warmup: 1, requests: 2, tokens: 4}
	got, err := traceTruth(l, read(), 12)
	if err != nil || got.Tokens != 8 || got.Requests != 2 || !near(got.Seconds, .61, 1e-9) || !near(got.TokPerSec, 8/.61, 1e-9) ||
		got.TTFTP50MS != 60 || !near(got.TTFTP99MS, 69.8, 1e-9) || got.FirstNS != 2e9 || got.LastNS != 2.61e9 {
		t.Errorf("%+v, %v", got, err)
	}
	for want, f := range map[string]func() error{
		"its counter 11":                    func() error { _, err := traceTruth(l, read(), 11); return err },
		"saw 3 requests, 2 were":            func() error { _, err := traceTruth(load{warmup: 1, requests: 1, tokens: 4}, read(), 12); return err },
		"a request 4 tokens, 5 were":        func() error { _, err := traceTruth(load{warmup: 1, requests: 2, tokens: 5}, read(), 12); return err },
		"has a line that cannot be used":    func() error { _, err := readTrace([]byte(`{"event":{"event_type":"tool_end"}}`)); return err },
		"has a line that cannot be used: {": func() error { _, err := readTrace([]byte(strings.Replace(text, `"ttft_ms"`, `"x"`, 1))); return err },
		"unexpected end":                    func() error { _, err := readTrace([]byte(`{"event":`)); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// someRuns are two sets of three pairs. AIPerf reports 1, 2 and 3 % less than
// was served, perfsweep what was served; their TTFTs are off by 10 to 12 and by
// 0.1 ms.
func someRuns(again float64) []biasRun {
	var runs []biasRun
	side := func(rate, p50, p99 float64) biasSides { return biasSides{rate * 2, 2, rate, p50, p99} }
	others := .25
	for set := range 2 {
		for pair := range 3 {
			off := float64(pair + 1)
			if set == 1 {
				off = again
			}
			runs = append(runs,
				biasRun{Server: "paced", Streams: 64, Set: set + 1, Pair: pair + 1, Tool: "aiperf", Told: side(1000-10*off, 60+off, 80), Truth: side(1000, 51, 70), Others: &others},
				biasRun{Server: "paced", Streams: 64, Set: set + 1, Pair: pair + 1, Tool: "perfsweep", Told: side(1100, 51.1, 70.1), Truth: side(1100, 51, 70)})
		}
	}
	return runs
}

func TestBiasTables(t *testing.T) {
	runs := someRuns(2)
	for i, want := range []string{
		"| paced | 64 | aiperf | 1000.0 | 980.0 | 0.9800 (0.9449 to 1.0151) | 51.0 | 11.0 (7.5 to 14.5) | 70.0 | 10.0 (10.0 to 10.0) | 25 % |",
		"| paced | 64 | perfsweep | 1100.0 | 1100.0 | 1.0000 (1.0000 to 1.0000) | 51.0 | 0.1 (0.1 to 0.1) | 70.0 | 0.1 (0.1 to 0.1) | – |",
		"| paced | 64 | 0.8909 (0.8590 to 0.9228) | 0.9091 (0.9091 to 0.9091) | 10.9 (7.4 to 14.4) | 9.9 (9.9 to 9.9) |",
		"- aiperf on paced: the throughput that it reported was at most 3.000 % from what was served, in any of 6 runs.",
		"3 of 3 means of aiperf and 3 of 3 means of perfsweep lie inside.",
	} {
		if page := biasPage(biasSetup{}, runs); !strings.Contains(page, want) {
			t.Errorf("line %d: %s is not in\n%s", i, want, page)
		}
	}
	for _, want := range []string{"1 of 3 means of aiperf and 3 of 3 means of perfsweep", "| paced | 64 | aiperf | 0.9100, outside | 18.0, outside | 10.0, inside |"} {
		if page := biasRepeat(someRuns(9)); !strings.Contains(page, want) {
			t.Errorf("a repeat that is elsewhere: %s is not in\n%s", want, page)
		}
	}
	if page := biasRepeat(runs[:len(runs)-2]); page != "" {
		t.Errorf("half a repeat: %s", page)
	}
	rows := biasRows(runs)
	if len(rows) != 1 || rows[0].verdict != "met" {
		t.Errorf("%+v", rows)
	}
	runs[1].Told.TokPerSec *= 1.003
	if rows = biasRows(runs); rows[0].verdict != "missed by 50 %" {
		t.Errorf("%+v", rows)
	}
}

func TestReadBias(t *testing.T) {
	line := func(r biasRun) string {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return "{\"date\":\"2026-01-01\"}\n" + string(text)
	}
	good := someRuns(1)[0]
	if setup, runs, err := readBias([]byte(line(good))); err != nil || setup.Date != "2026-01-01" || len(runs) != 1 || runs[0].Told != good.Told {
		t.Errorf("%+v %+v %v", setup, runs, err)
	}
	for want, spoil := range map[string]func(*biasRun){
		"are not":         func(r *biasRun) { r.Truth.TokPerSec *= 1.01 },
		"above p99":       func(r *biasRun) { r.Told.TTFTP50MS = 1e6 },
		"throughput is 0": func(r *biasRun) { r.Told.TokPerSec = 0 },
	} {
		r := good
		spoil(&r)
		if _, _, err := readBias([]byte(line(r))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, bad := range []string{"", "{", `{"dat":1}`, "{}\n{"} {
		if _, _, err := readBias([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
