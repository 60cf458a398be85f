package main

import (
	"bytes"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/pacer"
)

func paced(t *testing.T, p pacer.Params) (s *pacer.Server, addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if s, err = pacer.New(p); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

// TestRaw: the reference makes exactly the load that it is asked for.
func TestRaw(t *testing.T) {
	s, addr := paced(t, pacer.Params{TTFT: 5 * time.Millisecond, ITL: time.Millisecond})
	var out bytes.Buffer
	if err := rawMain([]string{addr, "8", "40", "8", "16"}, &out); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.Truth(0)
	if got.Requests != 48 || got.Whole != 48 || got.Tokens != 48*16 || got.Connections != 8 || got.InFlightMax > 8 {
		t.Errorf("the server saw %+v", got)
	}
	if !strings.Contains(out.String(), `"ttft_p99_ms":`) {
		t.Errorf("it reports %s", out.String())
	}
}

func TestRawRefuses(t *testing.T) {
	_, addr := paced(t, pacer.Params{})
	for _, args := range [][]string{nil, {addr, "x", "1", "1", "1"}, {addr, "1", "1", "-1", "1"}, {"127.0.0.1:0", "1", "1", "0", "1"}} {
		if err := rawMain(args, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	// A server that gives other than was asked for is no reference.
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &raw{addr: addr, request: rawRequest(addr, 3), tokens: 4, conns: []net.Conn{c}}
	if _, err := r.round(1); err == nil || !strings.Contains(err.Error(), "3 tokens, asked for 4") {
		t.Errorf("%v", err)
	}
	r.request = []byte("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := r.round(1); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
}

func TestJudge(t *testing.T) {
	for want, got := range map[string]row{
		"met":             row{}.atLeast(1, 1),
		"met ":            row{}.atMost(1, 1),
		"missed by 25 %":  row{}.atLeast(.75, 1),
		"missed by 50 %":  row{}.atMost(3, 2),
		"missed":          row{}.atMost(1, 0),
		"not measured":    row{}.atLeast(math.NaN(), 1),
		"not measured ":   row{}.atMost(math.NaN(), 1),
		"missed by 200 %": row{}.atLeast(-1, 1), // of an error, say
	} {
		if got.verdict != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got.verdict, want)
		}
	}
	var out bytes.Buffer
	if err := table(&out, []row{{name: "a", others: math.NaN()}, {name: "b", others: .25, verdict: "met"}}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 4 || !strings.HasSuffix(lines[1], "-") || !strings.HasSuffix(lines[2], "met      25 %") {
		t.Errorf("%s", out.String())
	}
}

func TestStatistics(t *testing.T) {
	if median([]float64{4, 1, 3}) != 3 || median([]float64{4, 1}) != 2.5 || !math.IsNaN(median(nil)) {
		t.Error("median")
	}
	if rank([]float64{3, 1, 2}, .5) != 2 || rank([]float64{3, 1, 2}, 1) != 3 || !math.IsNaN(rank(nil, .5)) {
		t.Error("rank")
	}
	if got := spread([]float64{1, 3}, "%.1f"); got != "2.0 (1.0..3.0)" {
		t.Errorf("%q", got)
	}
	w := watched{cpu: 100, samples: []sample{{1000, 10}, {2000, 30}}}
	for at, want := range map[int64]time.Duration{500: 0, 1500: 20, 2000: 30, 2001: 100} {
		if got := w.cpuAt(at); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
	l := load{streams: 64, tokens: 128, ttft: 50 * time.Millisecond, itl: 20 * time.Millisecond}
	if got := l.nominal(); math.Abs(got-3163) > 1 {
		t.Errorf("nominal %g", got)
	}
}

// TestLoadRows: each target is held against its own number.
func TestLoadRows(t *testing.T) {
	l := load{streams: 64, tokens: 128, ttft: 50 * time.Millisecond, itl: 20 * time.Millisecond}
	run := func(perCPU, share, told, e50, e99, pss float64) outcome {
		o := outcome{perCPUs: perCPU, told: rawReport{TTFTP50MS: 50 + e50, TTFTP99MS: 60 + e99}, client: watched{pss: pss}}
		o.truth = truth{TokPerSec: share * l.nominal(), TTFTP50MS: 50, TTFTP99MS: 60}
		o.told.TokPerSec = (1 + told) * o.truth.TokPerSec
		return o
	}
	w := wanted{64, 1, 1, .75, .998, 25, .2, 1}
	raws := []outcome{run(100, 1, 0, 0, 0, 4)}
	good := run(75.1, .9981, .0009, .19, .99, 25)
	for i, r := range w.rows(l, raws, []outcome{good}) {
		if r.verdict != "met" {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	bad := run(70, .99, -.002, .3, 2, 26)
	for i, r := range w.rows(l, raws, []outcome{bad}) {
		if !strings.HasPrefix(r.verdict, "missed by ") {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	// Neither a mean nor a median hides a run that reports the wrong rate.
	if r := w.rows(l, raws, []outcome{run(75, 1, .002, 0, 0, 4), run(75, 1, -.002, 0, 0, 4)})[2]; r.verdict == "met" {
		t.Errorf("%+v", r)
	}
}

func TestReadExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	text := `{"schema_version":"1.4","output_token_throughput":{"unit":"tokens/sec","avg":2977.5},"time_to_first_token":{"p50":51.5}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := readExport(path)
	if err != nil || r.TokPerSec != 2977.5 || r.TTFTP50MS != 51.5 || !math.IsNaN(r.TTFTP99MS) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := readExport(path + "x"); err == nil {
		t.Error("a report that is not there was read")
	}
}

func TestPeerRows(t *testing.T) {
	const runs = `{"label":"aiperf","conc":64,"tokens_per_cpu_s_window":3000,"report":{"ttft_p99":170},"truth_ttft_rx":{"p99":60}}
{"label":"x","conc":64,"tokens_per_cpu_s_window":45000,"report":{"ttft_p99":61},"truth_ttft_rx":{"p99":60}}
{"label":"x","conc":256,"tokens_per_cpu_s_window":45000,"report":{"ttft_p99":61},"truth_ttft_rx":{"p99":60}}
{"label":"aiperf","conc":256,"tokens_per_cpu_s_window":9000,"report":{},"truth_ttft_rx":{"p99":60}}
`
	rows, err := peerRows([]byte(runs))
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	for i, want := range []string{"met", "met", "missed by 16.7 %"} { // 15 of 10, 110 of 50, 5 of 6
		if rows[i].verdict != want {
			t.Errorf("row %d: %+v, want %s", i, rows[i], want)
		}
	}
	for _, bad := range []string{"{", `{"label":"other","conc":64}`} {
		if _, err := peerRows([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestBenchMetric(t *testing.T) {
	const out = "goos: linux\nBenchmarkDecode/vllm/one_a_read \t  27500\t 238.7 ns/chunk\t 4.190 Mchunks/s\t 0 B/op\nBenchmarkOther/x 1 9 Mchunks/s\nPASS\n"
	got := benchMetric(out, "BenchmarkDecode/", "Mchunks/s")
	if len(got) != 1 || got["vllm/one_a_read"] != 4.19 {
		t.Errorf("%v", got)
	}
}

func TestChoose(t *testing.T) {
	all, err := choose(nil)
	if err != nil || len(all) != len(parts)-3 {
		t.Errorf("%d parts, %v", len(all), err)
	}
	if two, err := choose([]string{"aiperf", "hold"}); err != nil || len(two) != 2 || two[0].name != "aiperf" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := choose([]string{"all"}); err == nil || !strings.Contains(err.Error(), "decode, load") {
		t.Errorf("%v", err)
	}
	var talk bytes.Buffer
	if code := run(t.Context(), []string{"all"}, io.Discard, &talk); code != 2 {
		t.Errorf("exit %d: %s", code, talk.String())
	}
}
