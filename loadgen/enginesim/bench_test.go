package enginesim

import (
	"net/http"
	"syscall"
	"testing"
	"time"
)

// BenchmarkLoopback holds streams over real sockets for a few seconds and
// reports the rate against the law and the processor time of both sides
// together. It judges nothing: a busy machine makes it slow.
func BenchmarkLoopback(b *testing.B) {
	for _, tc := range []struct {
		target string
		n      int
	}{{"gb300?noise=0", 16}, {"gb300?noise=0", 128}, {"gb300?noise=0", 256}, {"b200?noise=0", 1024}} {
		b.Run(tc.target, func(b *testing.B) {
			p := target(b, tc.target)
			s := New(p)
			base, err := s.Listen("127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			c := &client{base: base, model: p.Model, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: tc.n}}}
			law := p.Throughput(float64(tc.n))
			// Lengths differ, so that streams do not stay in phase: a wave that
			// ends at once makes the client's own turn-around part of every wave.
			rounds := max(6, int(4*law/32)/tc.n)
			wave := time.Duration(32 * float64(tc.n) / law * float64(time.Second))
			var ratio, cpu, chunks float64
			for b.Loop() {
				start, before := time.Now(), cpuSeconds(b)
				replies := c.hold(tc.n, rounds, varied)
				cpu += cpuSeconds(b) - before
				for _, r := range replies {
					chunks += float64(len(r.chunks))
				}
				ratio += rate(replies, start.Add(wave), start.Add(time.Duration(rounds-2)*wave)) / law
			}
			b.ReportMetric(ratio/float64(b.N), "of-law")
			b.ReportMetric(cpu*1e6/chunks, "cpu-µs/chunk")
			c.close()
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
