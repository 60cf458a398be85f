package loadgen

import "github.com/perfsweep/perfsweep/internal/plural"

// Share is the part of a run that one of several generators makes. The zero
// value is the whole. Streams and requests are dealt out in turns, so that the
// parts together send the requests that one generator would, and none twice.
type Share struct {
	// Index counts the parts from 0, Of is how many there are.
	Index int `json:"index"`
	Of    int `json:"of"`
	// Streams is the concurrency of all parts together.
	Streams int `json:"streams"`
}

func (s Share) check(own int) error {
	if s == (Share{}) {
		return nil
	}
	if s.Of < 1 || s.Index < 0 || s.Index >= s.Of || s.Streams < 1 || dealt(int64(s.Streams), s.Index, s.Of) != int64(own) {
		return badInput("part %d of %d with %d of %s: make the parts of a run with Config.Split", s.Index+1, s.Of, own, plural.Of(s.Streams, "stream"))
	}
	return nil
}

func (s Share) of() uint64 { return uint64(max(s.Of, 1)) }

// dealt is how many of a number of things part i gets.
func dealt(all int64, i, of int) int64 { return (all - int64(i) + int64(of) - 1) / int64(of) }

// number is that of a request in the campaign, of one counted within the part.
func (c *Config) number(k uint64) uint64 {
	return c.FirstRequest + k*c.Share.of() + uint64(c.Share.Index)
}

// place is where stream i stands among those of all parts, from 0 to 1.
func (c *Config) place(i int) float64 {
	if c.Share.Of < 1 {
		return float64(i) / float64(c.Concurrency)
	}
	return float64(i*c.Share.Of+c.Share.Index) / float64(c.Share.Streams)
}

// Split divides a run into parts whose streams, measured requests and warm-up
// requests add up to those of the run; requests go with the streams, so that no
// part is left to drain alone. There are no more parts than each has a stream
// and a measured request for.
func (c Config) Split(parts int) []Config {
	l := c.Limits.withDefaults(c.Concurrency)
	n := max(1, min(parts, c.Concurrency, int(min(l.MinRequests, int64(c.Concurrency)))))
	out := make([]Config, n)
	before := int64(0) // streams of earlier parts
	for i := range out {
		p := c
		p.Share = Share{Index: i, Of: n, Streams: c.Concurrency}
		p.Concurrency = int(dealt(int64(c.Concurrency), i, n))
		p.Limits = l
		after := before + int64(p.Concurrency)
		along := func(all int64) int64 {
			return all*after/int64(c.Concurrency) - all*before/int64(c.Concurrency)
		}
		if p.Limits.MinRequests = along(l.MinRequests); l.MinRequests < int64(c.Concurrency) {
			p.Limits.MinRequests = dealt(l.MinRequests, i, n)
		}
		if p.Limits.WarmUpRequests = along(l.WarmUpRequests); p.Limits.WarmUpRequests <= 0 {
			p.Limits.WarmUpRequests = -1
		}
		out[i], before = p, after
	}
	return out
}
