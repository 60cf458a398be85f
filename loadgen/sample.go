package loadgen

import "github.com/perfsweep/perfsweep/loadgen/internal/stream"

// phase says what a request is for.
type phase uint8

const (
	warmUp   phase = iota
	measured       // enters latencies
	topUp          // keeps the load up while measured requests end
)

// marks are the moments of one request on the run's clock, 0 where one never
// came.
type marks struct {
	// wanted is when the stream turned to the request, sent when its first byte
	// went to the socket: neither a dial nor this side's own queue is in a
	// latency.
	wanted, sent int64
	// What lies between: connect and tls where a connection was dialled for
	// this request, wait is the rest up to having a connection.
	connect, tls, wait int64
	dialled            bool
	// late is how long after the end of its stream's last good answer the
	// request was sent; 0 where there was none, or a pause was due.
	late int64
	// headers is the arrival of the head of the answer. first, second and last
	// are those of token-bearing chunks, visible of the first with text or a
	// tool call; end is when the answer was over.
	headers, first, second, visible, last, end int64
}

// sample is one finished request.
type sample struct {
	marks
	phase   phase
	outcome Outcome
	tokens  stream.Tokens
	// Output and input tokens asked for.
	asked, askedIn int64
}

func (s *sample) ok() bool { return s.outcome == OK }

// ttft is the time to the first token-bearing chunk.
func (m *marks) ttft() int64 { return m.first - m.sent }

// ttfo is the time to the first visible token.
func (m *marks) ttfo() int64 { return m.visible - m.sent }

// ttst is the time from the first token-bearing chunk to the second.
func (m *marks) ttst() int64 { return m.second - m.first }

// hasITL reports whether there is a second token to wait for.
func (s *sample) hasITL() bool { return s.first != 0 && s.tokens.Completion > 1 }

// itl is the mean time between tokens, of which there are more than one.
func (s *sample) itl() int64 { return (s.last - s.first) / (s.tokens.Completion - 1) }

// e2e is the time to the last token-bearing chunk; usage and [DONE] that
// follow are no part of the answer.
func (m *marks) e2e() int64 { return m.last - m.sent }
