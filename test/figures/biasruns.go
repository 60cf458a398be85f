package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// biasSetup is the first line of a file of runs: where and with what they were made.
type biasSetup struct {
	Date      string `json:"date"`
	Command   string `json:"command"`
	Machine   string `json:"machine"`
	Perfsweep string `json:"perfsweep_version"`
	AIPerf    string `json:"aiperf_version"`
	Dynamo    string `json:"dynamo_version"`
	Pairs     int    `json:"pairs"`
}

// biasRun is one run of one tool: what it said, and what the server said.
type biasRun struct {
	Server  string    `json:"server"`
	Streams int       `json:"streams"`
	Set     int       `json:"set"` // 1, and 2 in the repeat
	Pair    int       `json:"pair"`
	Tool    string    `json:"tool"`
	Told    biasSides `json:"reported"`
	Truth   biasSides `json:"served"`
	Others  *float64  `json:"others_cpu_share,omitempty"` // absent where it cannot be told
}

// biasSides are the numbers that both sides give. A report's throughput need not
// be its tokens over its duration: AIPerf 0.13.0 divides by another one.
type biasSides struct {
	Tokens    float64 `json:"output_tokens"`
	Seconds   float64 `json:"duration_s"`
	TokPerSec float64 `json:"output_tok_per_s"`
	TTFTP50MS float64 `json:"ttft_p50_ms"`
	TTFTP99MS float64 `json:"ttft_p99_ms"`
}

// sound says what is wrong with one side. A report that lacks a number is none.
func (s biasSides) sound() error {
	for name, v := range map[string]float64{"tokens": s.Tokens, "duration": s.Seconds, "throughput": s.TokPerSec, "TTFT p50": s.TTFTP50MS, "TTFT p99": s.TTFTP99MS} {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%s is %g", name, v)
		}
	}
	if s.TTFTP50MS > s.TTFTP99MS {
		return fmt.Errorf("TTFT p50 %g ms is above p99 %g ms", s.TTFTP50MS, s.TTFTP99MS)
	}
	return nil
}

func (r biasRun) sound() error {
	if err := r.Told.sound(); err != nil {
		return fmt.Errorf("%s at %d streams of %s reported what cannot be: %w", r.Tool, r.Streams, r.Server, err)
	}
	err := r.Truth.sound()
	if t := r.Truth; err == nil && math.Abs(t.TokPerSec*t.Seconds/t.Tokens-1) > 1e-6 {
		err = fmt.Errorf("%g tokens in %g s are not %g tok/s", t.Tokens, t.Seconds, t.TokPerSec)
	}
	if err != nil {
		return fmt.Errorf("%s, loaded by %s with %d streams, counted what cannot be: %w", r.Server, r.Tool, r.Streams, err)
	}
	return nil
}

// readBias reads what biasPart wrote.
func readBias(text []byte) (biasSetup, []biasRun, error) {
	var setup biasSetup
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&setup); err != nil {
		return setup, nil, fmt.Errorf("reading the first line of the runs: %w", err)
	}
	var runs []biasRun
	for {
		var r biasRun
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return setup, runs, nil
		}
		if err == nil {
			err = r.sound()
		}
		if err != nil {
			return setup, runs, fmt.Errorf("reading run %d: %w", len(runs)+1, err)
		}
		runs = append(runs, r)
	}
}
