package loadgen

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// consumption is what this process has used since its start.
type consumption struct {
	cpu, runQueue time.Duration
	pauses        float64 // seconds that the collector stopped the world for
}

// meter compares the two ends of the measured part. It is read outside of the
// control's lock: looking at every thread takes a fraction of a millisecond.
type meter struct {
	from, until         int64
	before, after       consumption
	started, ended, off bool
}

func (m *meter) start(now int64) {
	if !m.off {
		m.started, m.from, m.before = true, now, consumed()
	}
}

func (m *meter) end(now int64) {
	if m.started && !m.ended {
		m.ended, m.until, m.after = true, now, consumed()
	}
}

// fill reports the difference. A thread that ended took its waiting time with
// it; a difference below zero is not known.
func (m *meter) fill(h *Health) {
	wall := float64(m.until - m.from)
	if !m.ended || wall <= 0 {
		return
	}
	h.CPUShare = float64(m.after.cpu-m.before.cpu) / wall / float64(runtime.GOMAXPROCS(0))
	h.RunQueueShare = max(0, float64(m.after.runQueue-m.before.runQueue)/wall)
	h.GCPauseMS = (m.after.pauses - m.before.pauses) * 1e3
}

func consumed() consumption {
	return consumption{cpu: processCPU(), runQueue: runQueueWait(), pauses: gcPauses()}
}

// gcPauses adds up the histogram of pauses, each at the middle of its bucket.
func gcPauses() float64 {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := s[0].Value.Float64Histogram()
	sum := 0.0
	for i, n := range h.Counts {
		low, high := h.Buckets[i], h.Buckets[i+1]
		switch {
		case n == 0:
		case math.IsInf(low, -1):
			sum += float64(n) * high
		case math.IsInf(high, 1):
			sum += float64(n) * low
		default:
			sum += float64(n) * (low + high) / 2
		}
	}
	return sum
}
