package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

func TestShellWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string // nil with an error
	}{
		{"aiperf profile", []string{"aiperf", "profile"}},
		{"  a\t b\n", []string{"a", "b"}},
		{"", []string{}},
		{`'a b' "c d" e\ f`, []string{"a b", "c d", "e f"}},
		{`a'b'"c"d`, []string{"abcd"}},
		{`'' ""`, []string{"", ""}},
		{`"a \"b\" \\ \n" 'c\d'`, []string{`a "b" \ \n`, `c\d`}},
		{`$HOME *.txt ~`, []string{"$HOME", "*.txt", "~"}}, // nothing is expanded
		{`a 'b`, nil}, {`a "b`, nil}, {`a\`, nil}, {"a\x00b", nil}, {strings.Repeat("a", 5000), nil},
	} {
		got, err := shellWords(c.in)
		if (err != nil) != (c.want == nil) || err == nil && !slices.Equal(got, c.want) {
			t.Errorf("%.40q: %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

// The list of NVIDIA/aicr, validators/performance: 8 GPUs at 256 hold 2048 streams.
func TestAICRArguments(t *testing.T) {
	w, err := loadgen.DefaultSpec(loadgen.AICR)
	if err != nil {
		t.Fatal(err)
	}
	requests := sweep.Standard.Limits(sweep.Step{Kind: loadgen.Gate}, 2048, 0).MinRequests
	want := "--model m --url http://h:1 --endpoint-type chat --streaming --concurrency 2048 --request-count 16384 --warmup-request-count 2048 " +
		"--prompt-input-tokens-mean 128 --prompt-input-tokens-stddev 0 --prompt-output-tokens-mean 128 --prompt-output-tokens-stddev 0 " +
		"--num-dataset-entries 100 --random-seed 100 --extra-inputs temperature:0 --output-artifact-dir d --export-level summary"
	if got := strings.Join(aicrArguments("http://h:1", "m", w, 2048, requests, "d"), " "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// exportOf is what a fake AIPerf writes.
const exportOf = `{"schema_version":"1.4","aiperf_version":"0.13.0","was_cancelled":false,
"output_token_throughput":{"unit":"tokens/sec","avg":%s},"time_to_first_token":{"unit":"ms","p99":90},"benchmark_duration":{"unit":"sec","avg":0.0001},
"request_count":{"unit":"requests","avg":%s},"error_request_count":{"unit":"requests","avg":%s},"total_osl":{"unit":"tokens","avg":12800},
"input_config":{"phases":[{"kind":"profiling","type":"concurrency","concurrency":%s}]}}`

// fakeAIPerf is a command that does what body says once it knows the folder.
func fakeAIPerf(t *testing.T, body string) aiperfRun {
	t.Helper()
	script := filepath.Join(t.TempDir(), "aiperf.sh")
	head := "while [ $# -gt 0 ]; do case $1 in --output-artifact-dir) dir=$2;; esac; shift; done\n"
	if err := os.WriteFile(script, []byte(head+body), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := loadgen.DefaultSpec(loadgen.AICR)
	if err != nil {
		t.Fatal(err)
	}
	return aiperfRun{command: []string{"sh", script}, url: "http://h:1", model: "m", workload: w, streams: 8, requests: 100}
}

func export(rate, requests, failed, streams string) string {
	return "cat > $dir/profile_export_aiperf.json <<'EOF'\n" + fmt.Sprintf(exportOf, rate, requests, failed, streams) + "\nEOF\n"
}

func TestAIPerfRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := fakeAIPerf(t, export("1280", "100", "0", "8"))
	out, began, err := r.do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := r.reading(out, began)
	want := sweep.BridgeReading{Started: began, Seconds: 0.0001, Requests: 100, OutputTokens: 12800, TokPerSec: 1280, TTFTP99MS: 90, AllOutputTokens: 12800 * 1.08}
	if got != want || began.IsZero() {
		t.Errorf("%+v, want %+v", got, want)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v left behind, %v", left, err)
	}
}

// Every way to fail says what was wrong and what to do, and quotes what was said.
func TestAIPerfRunFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct{ name, body, want string }{
		{"exit status", "echo fine; printf '\\033[31mno tokenizer\\033[0m\\n' >&2; exit 3", "exit status 3; it last said: fine no tokenizer; repair that, and go on with --resume"},
		{"a signal", "kill -9 $$", "signal: killed"},
		{"nothing written", "echo hello", "profile_export_aiperf.json: no such file or directory; it last said: hello; does the command of --bridge, which begins with sh, profile?"},
		{"not JSON", "echo '{' > $dir/profile_export_aiperf.json", "cannot be used"},
		{"NaN", export("NaN", "100", "0", "8"), "not JSON"},
		{"no throughput", export("0", "100", "0", "8"), "output_token_throughput.avg is 0"},
		{"failed requests", export("1280", "97", "3", "8"), "3 of AIPerf's 100 requests failed"},
		{"fewer requests", export("1280", "50", "0", "8"), "50 requests where 100 were asked for"},
		{"other streams", export("1280", "100", "0", "4"), "4 streams where 8 were asked for"},
		{"a link", "ln -s /dev/zero $dir/profile_export_aiperf.json", "not a regular file"},
		{"much said", "i=0; while [ $i -lt 500 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done; echo the end; exit 1", "6789 the end"},
	} {
		_, _, err := fakeAIPerf(t, c.body).do(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v left behind, %v", left, err)
	}
}

// What takes too long, or is interrupted, ends with everything that it started.
func TestAIPerfRunEnds(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	body := "sleep 600 & echo $! > " + pids + "\nwait\n"
	started := func() bool {
		text, err := os.ReadFile(pids)
		return err == nil && strings.HasSuffix(string(text), "\n")
	}
	r := fakeAIPerf(t, body)
	for r.limit = 2 * time.Second; ; r.limit *= 2 { // longer where the machine did not come to start anything
		_, _, err := r.do(t.Context())
		if err == nil || !strings.Contains(err.Error(), "was ended after "+r.limit.String()) {
			t.Fatalf("%v", err)
		}
		if started() {
			break
		}
	}
	endedBy(t, pids)
	if err := os.Remove(pids); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil && !started() {
			<-time.After(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, _, err := fakeAIPerf(t, body).do(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	endedBy(t, pids)
	if _, _, err := fakeAIPerf(t, export("1280", "100", "0", "8")+"exec > /dev/null 2>&1\nsleep 600 & echo $! > "+pids+"\n").do(t.Context()); err != nil {
		t.Error(err)
	}
	endedBy(t, pids)
}

// endedBy waits until a process is no more, or only its entry is.
func endedBy(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	stat := "/proc/" + strings.TrimSpace(string(text)) + "/stat"
	for {
		b, err := os.ReadFile(stat)
		if err != nil {
			return
		}
		if _, state, _ := strings.Cut(string(b), ") "); strings.HasPrefix(state, "Z") {
			return
		}
		select {
		case <-t.Context().Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// bridgedCurve is a campaign with pairs of AIPerf's in which that reads the shares
// given of the throughput, and 1.5 times the TTFT p99.
func bridgedCurve(c sweep.Curve, shares ...float64) sweep.Curve {
	last := c.Runs[len(c.Runs)-1]
	i := slices.IndexFunc(c.Runs, func(r sweep.Run) bool { return r.Step.Kind == loadgen.Gate })
	w, n := c.Runs[i].Result.WholeRun, c.Runs[i].Step.ConcurrencyPerGPU
	for i, share := range shares {
		began := last.Started.Add(time.Duration(i+1) * time.Hour)
		w.TTFTP99MS *= 1 + 1e-7 // no run reads what another did
		all := 1.1 * w.OutputTokens
		ours := sweep.BridgeReading{
			Started: began, Seconds: w.Seconds, Requests: w.Requests, OutputTokens: w.OutputTokens, TokPerSec: w.OutputTokPerSec, TTFTP99MS: w.TTFTP99MS,
			AllOutputTokens: all, ServerOutputTokens: all,
		}
		theirs := ours
		theirs.Started, theirs.TokPerSec, theirs.Seconds, theirs.TTFTP99MS = began.Add(time.Minute), share*w.OutputTokPerSec, w.Seconds/share, 1.5*w.TTFTP99MS
		c.Bridge = append(slices.Clip(c.Bridge), sweep.BridgePair{
			Seq: i + 1, ConcurrencyPerGPU: n, First: sweep.ByPerfsweep, Version: "0.13.0", AIPerf: theirs, Perfsweep: ours,
		})
	}
	return c
}
