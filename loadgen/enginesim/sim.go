package enginesim

import (
	"context"
	"net"
)

// ParseTarget reads what follows "sim:", PRESET[?key=value&…].
func ParseTarget(s string) (Params, error) { panic("not built") }

// Params describe an engine; see the fields.
type Params struct{}

// Throughput is the noise-free law: output tokens/s per GPU at n streams per GPU.
func (p Params) Throughput(n float64) float64 { panic("not built") }

// Knee is argmax ln X(n) − e·ln n of Throughput; ok is false when the curve
// has none inside the range that a sweep looks at.
func (p Params) Knee(e float64) (n float64, ok bool) { panic("not built") }

// Sim is a running engine.
type Sim struct{}

// New starts an engine; Close stops it.
func New(p Params) *Sim { panic("not built") }

// Listen serves on addr (for example 127.0.0.1:0) and returns the base URL.
func (s *Sim) Listen(addr string) (baseURL string, err error) { panic("not built") }

// Dial makes an in-memory connection to the engine, for virtual time.
func (s *Sim) Dial(ctx context.Context, network, addr string) (net.Conn, error) { panic("not built") }

// Counters are the engine's own totals.
func (s *Sim) Counters() Counters { panic("not built") }

// Close ends every connection and goroutine.
func (s *Sim) Close() error { panic("not built") }

// Counters are what the engine itself counted.
type Counters struct {
	Requests, OutputTokens, PromptTokens int64
	Running, Waiting                     int64
}
