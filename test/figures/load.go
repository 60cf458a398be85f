package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// load is one run against a paced server.
type load struct {
	model                             string // paced unless it is said
	streams, requests, warmup, tokens int
	ttft, itl                         time.Duration
	// apart gives the server the first core and the client the second. What the
	// targets call raw sockets was measured so: one goroutine a stream over Go's
	// poller, a fixed request and a scan of lines (raw.go) on one core, the
	// server on another. The generator is held to it in the same place, in turn
	// with it: cores that both sides share, and a second core to wake, cost
	// either client what has nothing to do with its own work.
	apart bool
}

// The cores of load.apart.
const serverCore, clientCore = 0, 1

// nominal is what the server gives while no stream is ever idle.
func (l load) nominal() float64 {
	return float64(l.streams*l.tokens) / (l.ttft + time.Duration(l.tokens-1)*l.itl).Seconds()
}

// outcome is one run: what the server saw, what the client said, what it cost.
type outcome struct {
	truth   truth
	told    rawReport
	client  watched
	perCPUs float64 // tokens a CPU-second between first request and last token
}

// raw runs the reference.
func (b *bench) raw(ctx context.Context, l load) (outcome, error) {
	return b.against(ctx, l, func(url string) (watched, rawReport, error) {
		w, err := b.client(ctx, l, b.self, "raw", strings.TrimPrefix(url, "http://"), fmt.Sprint(l.streams), fmt.Sprint(l.requests), fmt.Sprint(l.warmup), fmt.Sprint(l.tokens))
		var r rawReport
		if err == nil {
			err = json.Unmarshal(w.stdout, &r)
		}
		return w, r, err
	})
}

// profile runs perfsweep profile with the arguments of AICR's job.
func (b *bench) profile(ctx context.Context, l load) (outcome, error) {
	return b.exported(ctx, l, b.against, tool{name: "perfsweep", program: []string{b.bin}})
}

// exported runs a tool that writes AIPerf's report against a server.
func (b *bench) exported(ctx context.Context, l load, against func(context.Context, load, func(string) (watched, rawReport, error)) (outcome, error), t tool) (outcome, error) {
	dir, remove, err := scratch()
	if err != nil {
		return outcome{}, err
	}
	defer remove()
	return against(ctx, l, func(url string) (watched, rawReport, error) {
		args := slices.Concat(t.program, profileArgs(l), t.flags, []string{"--url", url, "--output-artifact-dir", dir})
		w, err := b.client(ctx, l, args[0], args[1:]...)
		if err != nil {
			return w, rawReport{}, err
		}
		r, err := readExport(filepath.Join(dir, "profile_export_aiperf.json"))
		return w, r, err
	})
}

func profileArgs(l load) []string {
	args := []string{
		"profile", "--model", cmp.Or(l.model, "paced"), "--endpoint-type", "chat", "--streaming", "--concurrency", fmt.Sprint(l.streams),
		"--request-count", fmt.Sprint(l.requests), "--prompt-input-tokens-mean", "128", "--prompt-input-tokens-stddev", "0",
		"--prompt-output-tokens-mean", fmt.Sprint(l.tokens), "--prompt-output-tokens-stddev", "0", "--num-dataset-entries", "100",
		"--random-seed", "100", "--extra-inputs", "temperature:0", "--export-level", "summary",
	}
	if l.warmup > 0 {
		args = append(args, "--warmup-request-count", fmt.Sprint(l.warmup))
	}
	return args
}

// readExport reads the report under AIPerf's names.
func readExport(path string) (rawReport, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return rawReport{}, fmt.Errorf("reading the report: %w", err)
	}
	var d map[string]json.RawMessage
	if err := json.Unmarshal(text, &d); err != nil {
		return rawReport{}, fmt.Errorf("reading %s: %w", path, err)
	}
	stat := func(metric, name string) float64 {
		var m map[string]any
		if json.Unmarshal(d[metric], &m) != nil {
			return math.NaN()
		}
		v, ok := m[name].(float64)
		if !ok {
			return math.NaN()
		}
		return v
	}
	return rawReport{
		Tokens: stat("total_osl", "avg"), Seconds: stat("benchmark_duration", "avg"),
		TokPerSec: stat("output_token_throughput", "avg"), TTFTP50MS: stat("time_to_first_token", "p50"), TTFTP99MS: stat("time_to_first_token", "p99"),
	}, nil
}

// against runs a client against a server of its own.
func (b *bench) against(ctx context.Context, l load, client func(url string) (watched, rawReport, error)) (outcome, error) {
	s, err := b.serve(ctx, l)
	if err != nil {
		return outcome{}, err
	}
	w, rep, err := client(s.url)
	t, serr := s.stop()
	if err := errors.Join(err, serr); err != nil {
		return outcome{}, err
	}
	if t.Whole != l.requests || t.Requests != l.requests || t.Tokens != int64(l.requests*l.tokens) {
		return outcome{}, fmt.Errorf("the server saw %d requests, %d of them whole, with %d tokens; %d with %d each were asked for", t.Requests, t.Whole, t.Tokens, l.requests, l.tokens)
	}
	o := outcome{truth: t, told: rep, client: w, perCPUs: math.NaN()}
	if used := w.cpuAt(t.LastNS) - w.cpuAt(t.FirstNS); used > 0 {
		o.perCPUs = float64(t.Tokens) / used.Seconds()
	}
	return o, nil
}

// pairs runs raw and perfsweep in turn, A B B A.
func (b *bench) pairs(ctx context.Context, l load, times int) (raws, ours []outcome, err error) {
	for i := range 2 * times {
		side, runs, name := b.raw, &raws, "raw"
		if (i+1)/2%2 == 1 {
			side, runs, name = b.profile, &ours, "profile"
		}
		o, err := side(ctx, l)
		if err != nil {
			return raws, ours, fmt.Errorf("%s at %d streams: %w", name, l.streams, err)
		}
		b.say("%-8s %d streams: %.0f tok/s of %.0f, %.0f tokens a CPU-s, TTFT p99 %.2f ms (truth %.2f), %.1f MiB",
			name, l.streams, o.truth.TokPerSec, l.nominal(), o.perCPUs, o.told.TTFTP99MS, o.truth.TTFTP99MS, o.client.pss)
		*runs = append(*runs, o)
	}
	return raws, ours, nil
}

// each maps runs to one of their numbers.
func each(runs []outcome, value func(outcome) float64) []float64 {
	var out []float64
	for _, r := range runs {
		if v := value(r); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// rank is the nearest rank of a quantile.
func rank(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return s[max(0, int(math.Ceil(q*float64(len(s))))-1)]
}
