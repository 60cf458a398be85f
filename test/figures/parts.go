package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"time"
)

// wanted are the targets at one number of streams.
type wanted struct {
	streams, rounds, shortRounds int
	ofRaw, ofNominal, pss        float64
	ttft50, ttft99               float64 // ms; 0: none
}

func loadPart(ctx context.Context, b *bench) ([]row, error) {
	var rows []row
	for _, w := range []wanted{
		{64, 4, 1, .75, .998, 25, .2, 1},
		{256, 3, 1, .75, .995, 35, 0, 0},
		{1024, 3, 1, 0, .95, 80, 0, 0},
	} {
		l := load{streams: w.streams, warmup: w.streams, tokens: 128, ttft: 50 * time.Millisecond, itl: 20 * time.Millisecond}
		l.apart = true
		times := b.repeats(2)
		l.requests = w.rounds * w.streams
		if b.short {
			l.requests, l.tokens, times = w.shortRounds*w.streams, 16, 1
		}
		raws, ours, err := b.pairs(ctx, l, times)
		if err != nil {
			return rows, err
		}
		rows = append(rows, w.rows(l, raws, ours)...)
	}
	return rows, nil
}

func (w wanted) rows(l load, raws, ours []outcome) []row {
	at := fmt.Sprintf(" %d x 20", w.streams)
	perCPU := func(o outcome) float64 { return o.perCPUs }
	share := func(o outcome) float64 { return o.truth.TokPerSec / l.nominal() }
	told := func(o outcome) float64 { return o.told.TokPerSec/o.truth.TokPerSec - 1 }
	e50 := func(o outcome) float64 { return o.told.TTFTP50MS - o.truth.TTFTP50MS }
	e99 := func(o outcome) float64 { return o.told.TTFTP99MS - o.truth.TTFTP99MS }
	pss := func(o outcome) float64 { return o.client.pss }
	line := func(name, target, format string, value func(outcome) float64) row {
		return row{name: name + at, target: target, measured: spread(each(ours, value), format), reference: spread(each(raws, value), format)}
	}
	var rows []row
	ratio := median(each(ours, perCPU)) / median(each(raws, perCPU))
	r := line("tokens a CPU-second", "no claim", "%.0f", perCPU)
	r.ratio = fmt.Sprintf("%.2f", ratio)
	if w.ofRaw > 0 {
		r.target = fmt.Sprintf(">= %g of raw (aim 0.9)", w.ofRaw)
		r = r.atLeast(ratio, w.ofRaw)
	}
	rows = append(rows, r)
	rows = append(rows, line("truth/nominal tok/s", fmt.Sprintf(">= %g", w.ofNominal), "%.4f", share).atLeast(median(each(ours, share)), w.ofNominal))
	worst := 0.
	for _, v := range each(ours, told) {
		worst = max(worst, math.Abs(v))
	}
	rows = append(rows, line("reported/truth - 1", "within 0.001", "%+.5f", told).atMost(worst, .001))
	if w.ttft50 > 0 {
		rows = append(rows,
			line("TTFT p50 error, ms", fmt.Sprintf("<= %g", w.ttft50), "%.3f", e50).atMost(median(each(ours, e50)), w.ttft50),
			line("TTFT p99 error, ms", fmt.Sprintf("<= %g", w.ttft99), "%.3f", e99).atMost(median(each(ours, e99)), w.ttft99))
	}
	return append(rows, line("peak PSS, MiB", fmt.Sprintf("<= %g", w.pss), "%.1f", pss).atMost(rank(each(ours, pss), 1), w.pss))
}

// held is what "perfsweep selftest --itl" prints, as far as it is needed.
type held struct {
	Streams     int      `json:"streams"`
	Failed      int64    `json:"failed"`
	TokensAgree bool     `json:"tokens_agree"`
	ChunksPerS  float64  `json:"chunks_per_s"`
	LagP99MS    float64  `json:"lag_p99_ms"`
	Errors      int      `json:"ttft_error_requests"`
	ErrorP50MS  float64  `json:"ttft_error_p50_ms"`
	ErrorP99MS  float64  `json:"ttft_error_p99_ms"`
	InFlightMax int      `json:"in_flight_max"`
	InFlight    float64  `json:"in_flight_mean"`
	Exact       bool     `json:"exact"`
	CPUShare    float64  `json:"cpu_share"`
	PSSMiB      float64  `json:"pss_mib"`
	ClientBound []string `json:"client_bound"`
}

// hold runs one; a client-bound one ends with 9 and is an answer too.
func (b *bench) hold(ctx context.Context, streams, tokens int, itl, length time.Duration) (held, error) {
	var h held
	w, err := b.client(ctx, load{}, b.bin, "selftest", "-o", "json", "--streams", fmt.Sprint(streams), "--itl", itl.String(), "--tokens", fmt.Sprint(tokens), "--duration", length.String())
	var code *exec.ExitError
	if errors.As(err, &code) && code.ExitCode() == 9 {
		err = nil
	}
	if err == nil {
		err = json.Unmarshal(w.stdout, &h)
	}
	return h, err
}

func ttftPart(ctx context.Context, b *bench) ([]row, error) {
	h, err := b.hold(ctx, pick(b, 2048, 256), 32, 100*time.Millisecond, pick(b, 8*time.Second, time.Second))
	if err != nil {
		return nil, err
	}
	got := h.ErrorP99MS
	if h.Errors == 0 {
		got = math.NaN()
	}
	r := row{name: fmt.Sprintf("TTFT error at %d streams, ms", h.Streams), target: "p99 <= 0.1", measured: fmt.Sprintf("p50 %.4f, p99 %.4f of %d requests", h.ErrorP50MS, h.ErrorP99MS, h.Errors)}
	return []row{r.atMost(got, .1)}, nil
}

func holdPart(ctx context.Context, b *bench) ([]row, error) {
	h, err := b.hold(ctx, pick(b, 4096, 512), 32, 200*time.Millisecond, pick(b, time.Minute, time.Second))
	if err != nil {
		return nil, err
	}
	bound := "not client-bound"
	if len(h.ClientBound) > 0 {
		bound = strings.Join(h.ClientBound, ", ")
	}
	exact := row{name: fmt.Sprintf("%d streams held", h.Streams), target: "exact, none failed", measured: fmt.Sprintf("%d in flight at most, %.1f on average; %d failed", h.InFlightMax, h.InFlight, h.Failed)}
	good := 0.
	if h.Exact && h.Failed == 0 && h.TokensAgree {
		good = 1
	}
	health := row{name: "  its health", target: "says what was", measured: fmt.Sprintf("%s; lag p99 %.3f ms, CPU %.0f %%, %.0f chunks/s, %.0f MiB, TTFT error p99 %.3f ms", bound, h.LagP99MS, 100*h.CPUShare, h.ChunksPerS, h.PSSMiB, h.ErrorP99MS)}
	return []row{exact.atLeast(good, 1), health}, nil
}

func startPart(ctx context.Context, b *bench) ([]row, error) {
	l := load{streams: 1, requests: 10, tokens: 4, ttft: 5 * time.Millisecond, itl: time.Millisecond}
	raws, ours, err := b.pairs(ctx, l, pick(b, 10, 1))
	if err != nil {
		return nil, err
	}
	start := func(o outcome) float64 { return float64(o.truth.FirstNS-o.client.launched.UnixNano()) / 1e6 }
	rest := func(o outcome) float64 { return o.client.exited.Sub(o.client.launched).Seconds() - o.truth.Seconds }
	cpu := func(o outcome) float64 { return o.client.cpu.Seconds() }
	line := func(name, target, format string, value func(outcome) float64, limit float64) row {
		r := row{name: name, target: target, measured: spread(each(ours, value), format), reference: spread(each(raws, value), format)}
		return r.atMost(median(each(ours, value)), limit)
	}
	return []row{
		line("launch to first request, ms", "<= 50", "%.1f", start, 50),
		line("trivial run: wall minus load, s", "<= 0.1", "%.3f", rest, .1),
		line("trivial run: CPU-s", "<= 0.1", "%.3f", cpu, .1),
	}, nil
}
