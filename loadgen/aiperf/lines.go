package aiperf

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Lines says what the lines of the records file have in common.
type Lines struct {
	// Started is when the run began, by the wall clock.
	Started time.Time
	// Prompts is the number of distinct ones, WarmsUp says whether there is a
	// warm-up, which is then the first phase.
	Prompts int
	WarmsUp bool
}

// recordWriter makes a line of each request and hands them in blocks to a
// goroutine of its own: the disk must not hold up a stream.
type recordWriter struct {
	Lines
	metrics []recordMetric
	warmUps uint64
	buf     []byte
	blocks  chan []byte
	done    chan error
}

const (
	blockSize = 64 << 10
	// A disk may fall this many blocks behind before streams wait for it.
	blocksBehind = 256
)

func newRecordWriter(w io.Writer, l Lines) *recordWriter {
	rw := &recordWriter{Lines: l, metrics: recordMetrics(), blocks: make(chan []byte, blocksBehind), done: make(chan error, 1)}
	go func() {
		var failed error
		for b := range rw.blocks {
			if failed == nil {
				_, failed = w.Write(b)
			}
		}
		rw.done <- failed
	}()
	return rw
}

// add appends the line of a request; its caller holds the recorder's lock.
func (w *recordWriter) add(r *loadgen.Request) {
	w.buf = w.line(w.buf, r)
	if r.WarmUp {
		w.warmUps++
	}
	if len(w.buf) >= blockSize {
		w.blocks <- w.buf
		w.buf = make([]byte, 0, blockSize+blockSize/4)
	}
}

func (w *recordWriter) flush() error {
	w.blocks <- w.buf
	close(w.blocks)
	return <-w.done
}

// line is one request in AIPerf's form.
func (w *recordWriter) line(b []byte, r *loadgen.Request) []byte {
	b = w.metadata(append(b, '{'), r)
	b = append(b, `,"metrics":{`...)
	if r.Outcome == loadgen.OK {
		b = w.values(b, r)
	}
	b = append(b, '}')
	if r.Outcome != loadgen.OK {
		b = append(append(b, `,"error":`...), quote(failureOf(r.Outcome, r.Error))...)
	}
	return append(b, "}\n"...)
}

func (w *recordWriter) metadata(b []byte, r *loadgen.Request) []byte {
	// All requests of the warm-up have ended, and were counted, before any of
	// the measured part.
	number, name, index := r.Number, "warmup", 0
	if !r.WarmUp {
		number, name = r.Number-w.warmUps, "profiling"
		if w.WarmsUp {
			index = 1
		}
	}
	at := func(key string, d time.Duration) {
		b = append(append(append(b, `,"`...), key...), `":`...)
		b = strconv.AppendInt(b, w.Started.Add(d).UnixNano(), 10)
	}
	b = append(b, `"metadata":{"session_num":`...)
	b = strconv.AppendUint(b, number, 10)
	b = fmt.Appendf(b, `,"conversation_id":"session_%06d","turn_index":0`, r.Number%uint64(max(w.Prompts, 1)))
	at("credit_issued_ns", r.Asked)
	at("request_start_ns", max(r.Sent, r.Asked))
	if r.Headers > 0 {
		at("request_ack_ns", r.Headers)
	}
	at("request_end_ns", r.End)
	b = fmt.Appendf(b, `,"worker_id":"stream_%d","record_processor_id":"perfsweep","benchmark_phase":"%s","phase_index":%d`, r.Stream, name, index)
	if !r.WarmUp {
		b = append(b, `,"profiling_index":0`...)
	}
	return fmt.Appendf(b, `,"phase_name":"%s","phase_kind":"%s","was_cancelled":%t,"context_overflow_skip":false,"agent_depth":0}`,
		name, name, r.Outcome == loadgen.Cancelled)
}

// values are the metrics of an OK request.
func (w *recordWriter) values(b []byte, r *loadgen.Request) []byte {
	rec, open := recordOf(r), len(b)
	entry := func(tag string) {
		if len(b) > open {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), tag...), `":{"value":`...)
	}
	unit := func(u string) { b = append(append(append(b, `,"unit":"`...), u...), `"}`...) }
	for _, m := range w.metrics {
		v, ok := m.value(&rec)
		if !ok || m.summaryOnly || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		entry(m.tag)
		b = strconv.AppendFloat(b, v, 'f', -1, 64)
		unit(m.unit)
	}
	if len(r.Chunks) < 2 {
		return b
	}
	entry("inter_chunk_latency")
	for i := 1; i < len(r.Chunks); i++ {
		b = append(b, "[,"[min(i-1, 1)])
		b = strconv.AppendFloat(b, milliseconds(max(r.Chunks[i]-r.Chunks[i-1], 0)), 'f', -1, 64)
	}
	b = append(b, ']')
	unit(unitMS)
	return b
}
