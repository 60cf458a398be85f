package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// heardRun is a gate run at 8 per GPU beside what the servers said during it.
func heardRun(seq int, said string, failed ...sweep.Violation) sweep.Run {
	r := sweep.Run{Seq: seq, Step: sweep.Step{ConcurrencyPerGPU: 8, Kind: loadgen.Gate}, Violations: failed}
	r.Result = loadgen.Result{Started: time.Unix(1e9, 0), Concurrency: 8, SeriesSeconds: 1, Series: []float64{90, 90, 90, 90, 0, 0, 0, 90, 90, 90}}
	r.Result.Measured = loadgen.Outcomes{loadgen.OK: 100}
	if said != "" {
		r.Servers = &sweep.Servers{Said: json.RawMessage(said)}
	}
	return r
}

// Why a run is INVALID or misses its gate stands in the answer of a check, and
// what stood still, with its start, its length and the workers. A pass needs no
// reason, and JSON has them all.
func TestCheckSaysWhy(t *testing.T) {
	const worker = `{"id":"18446744073709551615","stats":{"running":{"mean":4,"min":4,"max":4,"n":9},"waiting":{"mean":0,"min":0,"max":0,"n":9}}`
	left := `{"scrapes":9,"workers":[` + worker + `,"left":true}]}`
	stuck := `{"scrapes":9,"workers":[` + worker + `}],"events":[{"kind":"worker_silence","start_s":3,"length_s":4.5,"workers":["18446744073709551615"],"depth":0.5}]}`
	v1 := sweep.Violation{Gate: "V1", Observed: "a worker left", Threshold: "the same"}
	runs := []sweep.Run{heardRun(1, stuck), heardRun(2, left, v1), heardRun(3, stuck), heardRun(4, "")}
	found, stood := attributeRuns(runs, 1), stalls(runs)
	if len(found) != 3 || len(stood) != 3 {
		t.Fatalf("%d findings of 3 heard runs, %d stalls: %+v", len(found), len(stood), stood)
	}
	answer := func(verdict calibrate.Verdict) (text, doc string) {
		r := report.CheckReport{Overlay: "o.yaml", Curve: sweep.Curve{Runs: runs}, Findings: found, Stalls: stood}
		r.Result.Verdict = verdict
		var a, b bytes.Buffer
		if err := report.CheckText(&a, r); err != nil {
			t.Fatal(err)
		}
		if err := report.CheckJSON(&b, r); err != nil {
			t.Fatal(err)
		}
		return a.String(), b.String()
	}
	const (
		gone  = "held back by the imbalance: run 2\n  in run 2: worker 18446744073709551615 left during the run\n  to try: find why"
		still = "run 3 at 8 per GPU: no token of 18446744073709551615 while others went on for 4.5 s, from 3.0 s on"
		own   = "run 4 at 8 per GPU: no token on any stream for 3.0 s, from 4.0 s on"
	)
	text, doc := answer(calibrate.Pass)
	for _, want := range []string{gone, still, own} {
		if !strings.Contains(text, want) {
			t.Errorf("a pass with an INVALID run lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "in run 1:") {
		t.Errorf("a valid run of a pass needs no reason:\n%s", text)
	}
	if failed, _ := answer(calibrate.Fail); !strings.Contains(failed, "in run 1: ") {
		t.Errorf("a failed gate has no reason:\n%s", failed)
	}
	var got struct {
		Bottlenecks []struct {
			Seq        int
			Kind       string
			Bottleneck string
			Evidence   []string
			Workers    []string
		}
		Stalls []struct {
			Seq     int
			RunKind string `json:"run_kind"`
			Kind    string
			StartS  float64 `json:"start_s"`
			LengthS float64 `json:"length_s"`
		}
	}
	if err := json.Unmarshal([]byte(doc), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Bottlenecks) != 3 || got.Bottlenecks[1].Bottleneck != "imbalance" || got.Bottlenecks[1].Kind != "gate" || len(got.Bottlenecks[1].Workers) != 1 ||
		len(got.Stalls) != 3 || got.Stalls[2].Seq != 4 || got.Stalls[2].Kind != "global_silence" || got.Stalls[2].RunKind != "gate" || got.Stalls[2].StartS != 4 || got.Stalls[2].LengthS != 3 {
		t.Errorf("%+v", got)
	}
}
