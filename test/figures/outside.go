package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// decodePart runs the repository's own benchmark of the reader.
func decodePart(ctx context.Context, b *bench) ([]row, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^TestDecodeAllocatesNothing$", "-v", "-bench", "^BenchmarkDecode$", "-benchtime", pick(b, "2s", "0.1s"), "-cpu", "1", "./loadgen/")
	cmd.Stderr = b.talk
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go test -bench BenchmarkDecode ./loadgen/: %w: %s", err, out)
	}
	rates := benchMetric(string(out), "BenchmarkDecode/", "Mchunks/s")
	var rows []row
	for _, w := range []struct {
		name   string
		target float64
	}{{"vllm", 4}, {"dynamo", 3}} {
		r := row{name: "decode, one core, " + w.name, target: fmt.Sprintf(">= %g M chunks/s", w.target)}
		got, ok := rates[w.name+"/one_a_read"]
		if !ok {
			got = math.NaN()
		}
		r.measured = fmt.Sprintf("%.2f M chunks/s", got)
		rows = append(rows, r.atLeast(got, w.target))
	}
	r := row{name: "decode, allocations a chunk", target: "0", measured: "TestDecodeAllocatesNothing did not run"}
	got := math.NaN()
	if bytes.Contains(out, []byte("--- PASS: TestDecodeAllocatesNothing")) {
		r.measured, got = "0", 0
	}
	return append(rows, r.atMost(got, 0)), nil
}

// benchMetric reads one metric of go test -bench by the benchmark's name
// without its prefix.
func benchMetric(out, prefix, unit string) map[string]float64 {
	got := map[string]float64{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], prefix) {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil && f[i+1] == unit {
				got[strings.TrimPrefix(f[0], prefix)] = v
			}
		}
	}
	return got
}

// peerRun is a line of peer_bench.sh's --out, as far as it is needed.
type peerRun struct {
	Label   string   `json:"label"`
	Streams int      `json:"conc"`
	PerCPUs *float64 `json:"tokens_per_cpu_s_window"`
	Report  struct {
		TTFTP99 *float64 `json:"ttft_p99"`
	} `json:"report"`
	Truth struct {
		P99 float64 `json:"p99"`
	} `json:"truth_ttft_rx"`
}

// aiperfPart compares with AIPerf in the script that both sides know.
func aiperfPart(ctx context.Context, b *bench) ([]row, error) {
	shared := os.Getenv("PERFSWEEP_SHARED")
	if shared == "" {
		return nil, errors.New("PERFSWEEP_SHARED is not set: peer_bench.sh is in its folder bench")
	}
	dir, remove, err := scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	bin, err := filepath.Abs(b.bin)
	if err != nil {
		return nil, fmt.Errorf("the place of %s: %w", b.bin, err)
	}
	points, reps := "64:20:6 256:20:4", "3"
	if b.short {
		points, reps = "64:20:1", "1"
	}
	runs := filepath.Join(dir, "runs.jsonl")
	x := bin + " profile --model {model} --url {url} --endpoint-type chat --streaming --concurrency {conc} --request-count {requests} --warmup-request-count {warmup}" +
		" --prompt-input-tokens-mean {isl} --prompt-input-tokens-stddev 0 --prompt-output-tokens-mean {osl} --prompt-output-tokens-stddev 0 --num-dataset-entries 100" +
		" --random-seed 100 --extra-inputs temperature:0 --export-level summary --output-artifact-dir {out}"
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(shared, "bench", "peer_bench.sh"), "--x", x, "--points", points, "--reps", reps, "--out", runs)
	cmd.Stdout, cmd.Stderr = b.talk, b.talk
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("peer_bench.sh: %w", err)
	}
	text, err := os.ReadFile(runs)
	if err != nil {
		return nil, fmt.Errorf("reading the runs of peer_bench.sh: %w", err)
	}
	return peerRows(text)
}

// peerRows judges the runs.
func peerRows(jsonl []byte) ([]row, error) {
	type side struct{ perCPU, p99 []float64 }
	sides := map[int]map[string]*side{}
	for line := range bytes.Lines(jsonl) {
		var r peerRun
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("reading the runs of peer_bench.sh: %w", err)
		}
		if sides[r.Streams] == nil {
			sides[r.Streams] = map[string]*side{"aiperf": {}, "x": {}}
		}
		s := sides[r.Streams][r.Label]
		if s == nil {
			return nil, fmt.Errorf("peer_bench.sh has runs of %q", r.Label)
		}
		if r.PerCPUs != nil {
			s.perCPU = append(s.perCPU, *r.PerCPUs)
		}
		if r.Report.TTFTP99 != nil {
			s.p99 = append(s.p99, math.Abs(*r.Report.TTFTP99-r.Truth.P99))
		}
	}
	var rows []row
	for _, w := range []struct {
		streams int
		times   float64
	}{{64, 10}, {256, 6}} {
		s := sides[w.streams]
		if s == nil {
			continue
		}
		a, x := s["aiperf"], s["x"]
		ratio := median(x.perCPU) / median(a.perCPU)
		r := row{
			name: fmt.Sprintf("tokens a CPU-second %d x 20", w.streams), target: fmt.Sprintf(">= %g x AIPerf", w.times),
			measured: spread(x.perCPU, "%.0f"), reference: "AIPerf " + spread(a.perCPU, "%.0f"), ratio: fmt.Sprintf("%.1f", ratio),
		}
		rows = append(rows, r.atLeast(ratio, w.times))
		if w.streams == 64 {
			smaller := median(a.p99) / median(x.p99)
			r := row{
				name: "TTFT p99 error 64 x 20, ms", target: ">= 50 x smaller than AIPerf", measured: spread(x.p99, "%.3f"),
				reference: "AIPerf " + spread(a.p99, "%.1f"), ratio: fmt.Sprintf("%.0f", smaller),
			}
			rows = append(rows, r.atLeast(smaller, 50))
		}
	}
	return rows, nil
}
