package loadgen

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// chunksOf cuts the token-bearing events out of a recording.
func chunksOf(tb testing.TB, file string) [][]byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/streams/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	_, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	var out [][]byte
	for _, event := range bytes.SplitAfter(body, []byte("\n\n")) {
		if data, ok := bytes.CutPrefix(event, []byte("data: ")); ok && stream.Scan(bytes.TrimSpace(data)).Plain() {
			out = append(out, event)
		}
	}
	if len(out) == 0 {
		tb.Fatal("no token in ", file)
	}
	return out
}

// paced gives the first event of a recording and then the others over and
// over, one a Read as a server writes them, or as many as fit when the reader
// lags.
type paced struct {
	events [][]byte
	next   int
	left   int // events until the end
	whole  bool
}

func (p *paced) Read(b []byte) (n int, err error) {
	for p.left > 0 && len(b)-n >= len(p.events[p.next]) {
		n += copy(b[n:], p.events[p.next])
		if p.next++; p.next == len(p.events) {
			p.next = min(1, len(p.events)-1)
		}
		p.left--
		if !p.whole {
			return n, nil
		}
	}
	if n == 0 && p.left == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// decodeStream runs one stream of n chunks through all that touches a chunk
// between the connection and the record of its arrival.
func decodeStream(tb testing.TB, r *stream.Reader, t *transcript, src *paced, n int) {
	src.left, src.next = n, 0
	r.Reset(src)
	t.reset()
	for at := int64(1); ; at++ {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		t.event(ev, at)
	}
	if len(t.times) != n || t.fault != "" {
		tb.Fatalf("%d of %d chunks, %q", len(t.times), n, t.text)
	}
}

// decodeCases are recordings with chunks of each engine; the second of a pair
// is the same stream with another id, as the next request would have.
func decodeCases(tb testing.TB) map[string][2][][]byte {
	out := map[string][2][][]byte{}
	for name, file := range map[string]string{"vllm": "vllm-chat-stream-usage.http", "dynamo": "dynamo-stream-usage.http"} {
		first := chunksOf(tb, file)
		var second [][]byte
		for _, c := range first {
			second = append(second, bytes.Replace(c, []byte("chatcmpl-"), []byte("chatcmpl+"), 1))
		}
		out[name] = [2][][]byte{first, second}
	}
	return out
}

// BenchmarkDecode is the cost of a chunk from the bytes of a Read to the
// recorded arrival, on streams of 128 chunks. Each pass over a stream is
// followed by the least that any reader must do with the same bytes, finding
// the line ends, and by the full scan of each chunk that the Scanner saves, so
// that ratios hold on a machine of any speed. Medians of passes of some tens
// of microseconds leave out what others do to the machine.
func BenchmarkDecode(b *testing.B) {
	const n = 128
	for name, pair := range decodeCases(b) {
		for _, whole := range []bool{false, true} {
			label := name + "/one_a_read"
			if whole {
				label = name + "/lagging"
			}
			b.Run(label, func(b *testing.B) {
				var r stream.Reader
				var t transcript
				flat := bytes.Repeat(bytes.Join(pair[0], nil), n/len(pair[0]))
				lines := 2 * (n / len(pair[0])) * len(pair[0])
				var ours, counting, scanning []time.Duration
				for i := 0; b.Loop(); i++ {
					start := time.Now()
					decodeStream(b, &r, &t, &paced{events: pair[i%2], whole: whole}, n)
					decoded := time.Now()
					if bytes.Count(flat, []byte{'\n'}) != lines {
						b.Fatal("lost a line")
					}
					counted := time.Now()
					for k := range n {
						event := pair[i%2][k%len(pair[0])]
						if !stream.Scan(event[len("data: ") : len(event)-2]).Plain() {
							b.Fatal("lost a token")
						}
					}
					ours, counting, scanning = append(ours, decoded.Sub(start)), append(counting, counted.Sub(decoded)), append(scanning, time.Since(counted))
				}
				ns := func(passes []time.Duration) float64 {
					slices.Sort(passes)
					return float64(passes[len(passes)/2]) / n
				}
				b.ReportMetric(1e3/ns(ours), "Mchunks/s")
				b.ReportMetric(ns(ours), "ns/chunk")
				b.ReportMetric(ns(counting), "ns-count-lines")
				b.ReportMetric(ns(scanning), "ns-scan")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
