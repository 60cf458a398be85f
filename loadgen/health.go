package loadgen

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// busyHost is a share of wall time for which threads of ours waited for a CPU;
// above it, others want the same CPUs.
const busyHost = 0.20

// environment is what the machine and the connections tell, with warnings where
// it bears on what was measured.
func (c *campaign) environment() (h Health, warnings []string) {
	c.meter.fill(&h)
	h.Dials, h.SlowConnects, h.DrainTimedOut = c.net.dials.Load(), c.net.slow.Load(), c.drainTimeout
	h.QuickACK = c.net.made.Load() > 0 && c.net.armed.Load() == c.net.made.Load()
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if n := c.net.steps.Load(); n > 0 {
		warn("%s had an unusable kernel timestamp: was the clock stepped?", plural.Of(n, "read"))
	}
	if n := c.net.stray.Load(); n > 0 {
		warn("%s %s followed by bytes of no answer: answers and requests may be out of step on this server's connections", plural.Of(n, "answer"), plural.Verb(n, "was", "were"))
	}
	if h.SlowConnects > 0 {
		warn("%d of %s took %v or more, as after a lost SYN or at a full accept queue; %s in no latency",
			h.SlowConnects, plural.Of(h.Dials, "connect"), slowConnect, plural.Verb(h.SlowConnects, "it is", "they are"))
	}
	if tcp := c.cfg.Dial == nil && c.cfg.Network.UnixSocket == ""; tcp && c.net.made.Load() > 0 && !h.QuickACK {
		warn("TCP_QUICKACK was not active: a server that leaves Nagle's algorithm on, as Dynamo's frontend does, shows a TTFT of at least 43 ms")
	}
	if h.RunQueueShare > busyHost {
		warn("threads of this tool waited for a CPU for %.0f %% of the time: this machine is shared or too small", 100*h.RunQueueShare)
	}
	return h, warnings
}

// health says what the records tell of the generator itself.
func health(all, own []sample, s *shard) Health {
	var h Health
	if s.kernel > 0 {
		h.LagP50MS = float64(s.lags.ValueAtQuantile(50)) / nsPerMS
		h.LagP99MS = float64(s.lags.ValueAtQuantile(99)) / nsPerMS
		h.LagMaxMS = float64(s.maxLag) / nsPerMS
		h.KernelTime = s.stamped()
	}
	if s.reads > 0 {
		h.EventsPerRead = float64(s.events) / float64(s.reads)
	}
	h.ConnectMeanMS, h.ConnectMaxMS = meanMax(sorted(all, func(m *sample) int64 { return m.connect }, func(m *sample) bool { return m.dialled }))
	h.TLSMeanMS, h.TLSMaxMS = meanMax(sorted(all, func(m *sample) int64 { return m.tls }, func(m *sample) bool { return m.tls > 0 }))
	_, h.PoolWaitMaxMS = meanMax(sorted(own, func(m *sample) int64 { return m.wait }))
	_, _, h.LateStartP99MS = digest(sorted(own, func(m *sample) int64 { return m.late }, func(m *sample) bool { return m.late > 0 }))
	h.HeadersMeanMS, _, h.HeadersP99MS = digest(sorted(own, func(m *sample) int64 { return m.headers - m.sent }, (*sample).ok))
	return h
}

// stamped: nearly every read has a time of the kernel.
func (s *shard) stamped() bool { return s.kernel >= s.reads-s.reads/100 }

func meanMax(sorted []int64) (m, most float64) {
	return mean(sorted) / nsPerMS, float64(quantile(sorted, 1)) / nsPerMS
}

// meanInFlight is throughput × mean residence of Little's law, both with the
// fractions of requestsIn and over all outcomes.
func meanInFlight(samples []sample, over span) float64 {
	busy := total(samples, over.overlap)
	return busy / float64(over.length())
}

// lowestInFlight is meanInFlight of the part of the span where it is lowest.
func lowestInFlight(samples []sample, over span) float64 {
	lowest := meanInFlight(samples, over)
	parts := over.cut()
	n := int64(len(parts))
	busy := make([]int64, n)
	for i := range samples {
		m := &samples[i]
		// Rounded edges may put the start into the part before.
		first := (max(m.sent, over.from) - over.from) * n / over.length()
		for k := max(first-1, 0); k < n && parts[k].from < m.end; k++ {
			busy[k] += parts[k].overlap(m)
		}
	}
	for k, b := range busy {
		if d := parts[k].length(); d > 0 {
			lowest = min(lowest, float64(b)/float64(d))
		}
	}
	return lowest
}
