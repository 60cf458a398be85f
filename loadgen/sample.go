package loadgen

// phase says what a request is for.
type phase uint8

const (
	warmUp   phase = iota
	measured       // enters latencies
	topUp          // keeps the load up while measured requests end
)

// sample is one finished request.
type sample struct {
	phase   phase
	outcome Outcome
	// Times on the run's clock; first and last are 0 without a visible token.
	sent, first, last, end int64
	tokens, prompt         int64
	asked                  int64 // output tokens asked for
}

func (s *sample) ok() bool { return s.outcome == OK }

// ttft is the time to the first token-bearing chunk.
func (s *sample) ttft() int64 { return s.first - s.sent }

// e2e is the time to the last token-bearing chunk; usage and [DONE] that
// follow are no part of the answer.
func (s *sample) e2e() int64 { return s.last - s.sent }
