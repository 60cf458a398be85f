package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/test/internal/live"
)

// biasRepeats is how many pairs a row has unless -pairs says more.
const biasRepeats = 3

// biasPoints are the loads: rounds are requests a stream, as many as fill some
// ten seconds.
var biasPoints = [...]struct{ streams, rounds int }{{1, 6}, {16, 4}, {64, 3}, {128, 3}, {256, 2}}

// tool is a program that takes AIPerf's flags and writes AIPerf's report.
type tool struct {
	name    string
	program []string
	flags   []string // that the other does not have
}

// served is a server that gives an account of its own of every run.
type served struct {
	name    string
	model   string
	against func(ctx context.Context, l load, client func(url string) (watched, rawReport, error)) (outcome, error)
	cpu     func() time.Duration // of processes that are not children of this one
}

// biasPart runs AIPerf and perfsweep in turn against servers that know what they
// served, prints what differs, and keeps each run.
func biasPart(ctx context.Context, b *bench) (rows []row, err error) {
	tools, err := biasBothTools(ctx, b)
	if err != nil {
		return nil, err
	}
	d, err := startDynamo(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	servers := []served{
		{"paced", "paced", b.against, func() time.Duration { return 0 }},
		{"dynamo", d.engine.Model, d.against, d.cpu},
	}
	setup, err := biasMade(ctx, b)
	if err != nil {
		return nil, err
	}
	keep := json.NewEncoder(io.Discard)
	if b.runs != "" {
		f, ferr := os.Create(b.runs)
		if ferr != nil {
			return nil, fmt.Errorf("keeping the runs: %w", ferr)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		keep = json.NewEncoder(f)
	}
	if err := keep.Encode(setup); err != nil {
		return nil, fmt.Errorf("keeping the runs: %w", err)
	}
	runs, err := biasRuns(ctx, b, servers, tools, keep)
	_, werr := io.WriteString(b.out, biasPage(setup, runs)+"\n")
	return biasRows(runs), errors.Join(err, werr)
}

// biasRuns makes all pairs of a set before the next set: a repeat is apart in time.
func biasRuns(ctx context.Context, b *bench, servers []served, tools [2]tool, keep *json.Encoder) ([]biasRun, error) {
	var runs []biasRun
	points, pairs := biasPoints[:], b.repeats(biasRepeats)
	if b.short {
		points = points[:2]
	}
	for set := range pick(b, b.sets, 1) {
		for _, p := range points {
			for _, s := range servers {
				l := load{model: s.model, streams: p.streams, warmup: p.streams, requests: p.rounds * p.streams, tokens: 128, ttft: 50 * time.Millisecond, itl: 20 * time.Millisecond}
				if b.short {
					l.requests, l.tokens = p.streams, 16
				}
				for i := range 2 * pairs {
					r, err := b.biasRun(ctx, l, s, tools[(i+1)/2%2]) // A B B A
					if err != nil {
						return runs, err
					}
					r.Set, r.Pair = set+1, i/2+1
					if err := keep.Encode(r); err != nil {
						return runs, fmt.Errorf("keeping the runs: %w", err)
					}
					runs = append(runs, r)
				}
			}
		}
	}
	return runs, nil
}

func (b *bench) biasRun(ctx context.Context, l load, s served, t tool) (biasRun, error) {
	others, at, own := watchOthers(), time.Now(), s.cpu()
	o, err := b.exported(ctx, l, s.against, t)
	if err != nil {
		return biasRun{}, fmt.Errorf("%s at %d streams of %s: %w", t.name, l.streams, s.name, err)
	}
	share := others() - (s.cpu()-own).Seconds()/time.Since(at).Seconds()/float64(runtime.NumCPU())
	r := biasRun{
		Server: s.name, Streams: l.streams, Tool: t.name,
		Told:  biasSides{o.told.Tokens, o.told.Seconds, o.told.TokPerSec, o.told.TTFTP50MS, o.told.TTFTP99MS},
		Truth: biasSides{float64(o.truth.Tokens), o.truth.Seconds, o.truth.TokPerSec, o.truth.TTFTP50MS, o.truth.TTFTP99MS},
	}
	if share = max(0, share); share >= 0 { // it is not a number where it cannot be told
		r.Others = &share
	}
	b.say("%-9s %-6s %d streams: %.1f tok/s of %.1f served, TTFT p50 %.1f (%.1f), p99 %.1f (%.1f) ms; others %.0f %%", t.name, s.name, l.streams,
		r.Told.TokPerSec, r.Truth.TokPerSec, r.Told.TTFTP50MS, r.Truth.TTFTP50MS, r.Told.TTFTP99MS, r.Truth.TTFTP99MS, 100*share)
	return r, r.sound()
}

// biasRows are the claims that the runs decide.
func biasRows(runs []biasRun) []row {
	var rows []row
	for _, server := range biasServers(runs) {
		worst, n := worstRatio(runs, server, "perfsweep")
		r := row{name: "perfsweep, reported/served - 1, " + server, target: "within 0.002", measured: fmt.Sprintf("%.5f at most, of %d runs", worst, n)}
		theirs, n := worstRatio(runs, server, "aiperf")
		r.reference = fmt.Sprintf("AIPerf %.5f, of %d", theirs, n)
		rows = append(rows, r.atMost(worst, .002))
	}
	return rows
}

// biasBothTools installs AIPerf where it is missing.
func biasBothTools(ctx context.Context, b *bench) ([2]tool, error) {
	var none [2]tool
	aiperf, tokenizer, err := live.AIPerf(ctx, filepath.Join("test", "aiperf.sh"), b.talk)
	if err != nil {
		return none, err
	}
	// With HF_HUB_OFFLINE AIPerf 0.13.0 refuses the folder of a tokenizer.
	program := []string{"timeout", "300", "env", "-u", "HF_HUB_OFFLINE", "USE_TORCH=0", "AIPERF_UI_TYPE=none", aiperf}
	return [2]tool{{"aiperf", program, []string{"--tokenizer", tokenizer}}, {"perfsweep", []string{b.bin}, nil}}, nil
}

var dynamoPin = regexp.MustCompile(`(?m)^ai-dynamo==(\S+)`)

// biasMade says where and with what.
func biasMade(ctx context.Context, b *bench) (biasSetup, error) {
	version, err := exec.CommandContext(ctx, b.bin, "--version").Output()
	if err != nil {
		return biasSetup{}, fmt.Errorf("%s --version: %w", b.bin, err)
	}
	words := append([]string{""}, strings.Fields(string(version))...)
	pins, err := os.ReadFile(filepath.Join(os.Getenv("PERFSWEEP_SHARED"), "dynamo", "requirements.txt"))
	if err != nil {
		return biasSetup{}, fmt.Errorf("the versions of the frontend's parts: %w", err)
	}
	pin := dynamoPin.FindSubmatch(pins)
	if pin == nil {
		return biasSetup{}, errors.New("the frontend's requirements.txt has no ai-dynamo")
	}
	machine := fmt.Sprintf("%d CPUs, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		machine += ", kernel " + strings.TrimSpace(string(kernel))
	}
	return biasSetup{Date: time.Now().UTC().Format(time.DateOnly), Command: b.asked, Machine: machine,
		Perfsweep: words[len(words)-1], AIPerf: live.AIPerfVersion, Dynamo: "ai-dynamo " + string(pin[1]), Pairs: b.repeats(biasRepeats)}, nil
}
