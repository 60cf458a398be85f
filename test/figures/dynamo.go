package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/test/internal/live"
)

// dynamo is a real Dynamo frontend before one simulated engine, with what it
// writes down of each request: its own account, under no client's influence.
type dynamo struct {
	engine live.Engine
	dir    string
	read   int64 // bytes of the trace that earlier runs took
}

// The engine holds every stream of the comparison at once, and tokens come as
// far apart as those of a large model. Without prefix caching all prompts cost
// the same, whatever words a tool makes them of.
const (
	dynamoCap   = 256
	dynamoSpeed = 0.5
	dynamoFlush = 100 * time.Millisecond
)

func startDynamo(ctx context.Context) (*dynamo, error) {
	dir, err := os.MkdirTemp("", "perfsweep-figures-dynamo-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the frontend: %w", err)
	}
	d := &dynamo{dir: dir}
	d.engine, err = live.Dynamo{Workers: 1, Cap: dynamoCap, Speedup: dynamoSpeed,
		Args: []string{"--blocks", "16384", "--", "--no-enable-prefix-caching"},
		Env: []string{"DYN_REQUEST_TRACE=1", "DYN_REQUEST_TRACE_RECORDS=request_end", "DYN_REQUEST_TRACE_SINKS=file",
			"DYN_REQUEST_TRACE_FILE_FORMAT=jsonl", "DYN_REQUEST_TRACE_FILE_PATH=" + d.trace(),
			fmt.Sprintf("DYN_REQUEST_TRACE_FILE_FLUSH_INTERVAL_MS=%d", dynamoFlush.Milliseconds())},
	}.Up(ctx, dir)
	if err != nil {
		return nil, errors.Join(err, d.stop())
	}
	if _, err := d.await(ctx, 1); err != nil { // the request by which up.sh knows that it serves
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

func (d *dynamo) trace() string { return filepath.Join(d.dir, "trace.jsonl") }

func (d *dynamo) stop() error {
	err := live.DynamoDown(d.dir)
	return errors.Join(err, os.RemoveAll(d.dir))
}

// cpu is the CPU time of its processes.
func (d *dynamo) cpu() time.Duration {
	var total time.Duration
	for _, pid := range append(slices.Clone(d.engine.Workers), d.engine.Frontend) {
		t, _ := cpuOf(pid)
		total += t
	}
	return total
}

// traced is one request in the frontend's trace (Dynamo's "Request tracing",
// schema dynamo.request.trace.v1).
type traced struct {
	Received *int64   `json:"request_received_ms"`
	TTFT     *float64 `json:"ttft_ms"`
	Total    *float64 `json:"total_time_ms"`
	Tokens   *int64   `json:"output_tokens"`
}

func (t traced) whole() bool {
	return t.Received != nil && t.TTFT != nil && t.Total != nil && t.Tokens != nil
}

// against runs a client against the frontend, which other runs used before.
func (d *dynamo) against(ctx context.Context, l load, client func(url string) (watched, rawReport, error)) (outcome, error) {
	before, err := d.engine.Sums(ctx, live.DynamoOutputTokens)
	if err != nil {
		return outcome{}, err
	}
	if _, err := d.rest(); err != nil { // of whatever came before
		return outcome{}, err
	}
	w, rep, err := client(d.engine.Base)
	if err != nil {
		return outcome{}, err
	}
	requests, err := d.await(ctx, l.warmup+l.requests)
	if err != nil {
		return outcome{}, err
	}
	after, err := d.engine.Sums(ctx, live.DynamoOutputTokens)
	if err != nil {
		return outcome{}, err
	}
	t, err := traceTruth(l, requests, int64(after[live.DynamoOutputTokens]-before[live.DynamoOutputTokens]))
	return outcome{truth: t, told: rep, client: w}, err
}

// await reads the trace until it has what was asked of the frontend; it is
// written a moment later.
func (d *dynamo) await(ctx context.Context, want int) ([]traced, error) {
	var got []traced
	for until := time.Now().Add(100 * dynamoFlush); ; {
		more, err := d.rest()
		if got = append(got, more...); err != nil || len(got) >= want || time.Now().After(until) {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(dynamoFlush):
		}
	}
}

// rest reads the whole lines that the trace has more than before.
func (d *dynamo) rest() ([]traced, error) {
	text, err := os.ReadFile(d.trace())
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // before the first request
		return nil, fmt.Errorf("reading the frontend's trace: %w", err)
	}
	text = text[min(d.read, int64(len(text))):]
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	d.read += int64(len(text))
	return readTrace(text)
}

func readTrace(jsonl []byte) ([]traced, error) {
	var out []traced
	for line := range bytes.Lines(jsonl) {
		var r struct {
			Event struct {
				Schema  string `json:"schema"`
				Type    string `json:"event_type"`
				Request traced `json:"request"`
			} `json:"event"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("reading the frontend's trace: %w", err)
		}
		if r.Event.Schema != "dynamo.request.trace.v1" || r.Event.Type != "request_end" || !r.Event.Request.whole() {
			return nil, fmt.Errorf("the frontend's trace has a line that cannot be used: %s", line)
		}
		out = append(out, r.Event.Request)
	}
	return out, nil
}

// traceTruth is what the frontend saw of the requests after the warm-up, in the
// order of their receipt. Its counter of output tokens, over the whole run, must
// say what the trace says.
func traceTruth(l load, requests []traced, counted int64) (truth, error) {
	slices.SortStableFunc(requests, func(a, b traced) int { return cmp.Compare(*a.Received, *b.Received) })
	if len(requests) != l.warmup+l.requests {
		return truth{}, fmt.Errorf("the frontend saw %d requests, %d were asked for", len(requests), l.warmup+l.requests)
	}
	all := int64(0)
	for _, r := range requests {
		if all += *r.Tokens; *r.Tokens != int64(l.tokens) {
			return truth{}, fmt.Errorf("the frontend gave a request %d tokens, %d were asked for", *r.Tokens, l.tokens)
		}
	}
	if all != counted {
		return truth{}, fmt.Errorf("the frontend's trace has %d output tokens, its counter %d", all, counted)
	}
	requests = requests[l.warmup:]
	t := truth{Requests: len(requests), Whole: len(requests), Tokens: int64(len(requests) * l.tokens)}
	first, last := *requests[0].Received, 0.
	var ttft []float64
	for _, r := range requests {
		last = max(last, float64(*r.Received-first)+*r.Total)
		ttft = append(ttft, *r.TTFT)
	}
	slices.Sort(ttft)
	t.FirstNS, t.LastNS = first*1e6, first*1e6+int64(last*1e6)
	t.Seconds = last / 1e3
	t.TokPerSec = float64(t.Tokens) / t.Seconds
	t.TTFTP50MS, t.TTFTP99MS = linear(ttft, .5), linear(ttft, .99)
	return t, nil
}
