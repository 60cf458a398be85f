package aiperf

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestLines: warm-up requests are marked, each phase counts from 0, times are
// wall-clock times, and a failed request has an error and no metrics.
func TestLines(t *testing.T) {
	o := options(t)
	cancelled := failed(loadgen.Cancelled, "stopped")
	_, out := recorded(t, o, cancelled)
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if len(lines) != 25 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, l := range lines {
		r := decode(t, l)
		m, metrics := r["metadata"].(map[string]any), r["metrics"].(map[string]any)
		warm := i < 4
		if (m["benchmark_phase"] == "warmup") != warm || (m["profiling_index"] == nil) != warm || m["was_cancelled"] != (i == 24) || (r["error"] != nil) != (i == 24) || (len(metrics) == 0) != (i == 24) {
			t.Errorf("line %d: %s", i, l)
		}
		if i == 24 {
			continue
		}
		want := float64(i - 4)
		if warm {
			want = float64(i)
		}
		if m["session_num"] != want {
			t.Errorf("line %d: session %v", i, m["session_num"])
		}
		if chunks := metrics["inter_chunk_latency"].(map[string]any)["value"].([]any); len(chunks) != 3 || chunks[0] != 10.0 {
			t.Errorf("line %d: chunks %v", i, chunks)
		}
	}
	if want := []byte(`"credit_issued_ns":1795991431782787000,"request_start_ns":1795991431784787000,"request_ack_ns":1795991431789787000,"request_end_ns":1795991431865787000`); !bytes.Contains(lines[4], want) {
		t.Errorf("%s", lines[4])
	}
}

type fullDisk struct{ after int }

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

// TestLinesOnFullDisk: the run goes on, and its end says what is missing.
func TestLinesOnFullDisk(t *testing.T) {
	o := options(t)
	for _, c := range []struct {
		w    io.Writer
		fine bool
	}{{io.Discard, true}, {&fullDisk{100 << 10}, false}} {
		rec := NewRecorder(o, nil)
		rec.Write(c.w, Lines{Started: epoch, Prompts: 10})
		for i := range uint64(1000) {
			rec.Add(request(i, 0))
		}
		if err := rec.Flush(); (err == nil) != c.fine {
			t.Errorf("%T: %v", c.w, err)
		}
	}
}
