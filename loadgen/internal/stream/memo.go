package stream

import "bytes"

// maxMemo bounds the chunks that a Scanner learns from.
const maxMemo = 4 << 10

// Scanner is Scan for the chunks of a stream, which repeat nearly every byte:
// id, model and the rest differ between streams, not within one. It keeps what
// stood before and after the text of the last chunk that carried nothing but
// output. A chunk with the same bytes around another text that is not empty is
// of the same kind, because Scan tells texts apart by emptiness only; anything
// else is scanned. So it answers as Scan does, whatever it has seen before.
type Scanner struct {
	head, tail []byte // tail begins with the quote that ends the text
	kind       Kind   // 0 = nothing learnt
}

// Scan answers as the function of that name.
func (s *Scanner) Scan(b []byte) Kind {
	end := len(b) - len(s.tail)
	if s.kind != 0 && end > len(s.head) && bytes.HasPrefix(b, s.head) && bytes.HasSuffix(b, s.tail) {
		if at, _ := stringEnd(b[:end+1], len(s.head)); at == end {
			return s.kind
		}
	}
	kind, from, to := scan(b)
	if kind.Plain() && from > 0 && len(b) <= maxMemo {
		s.head, s.tail, s.kind = append(s.head[:0], b[:from]...), append(s.tail[:0], b[to:]...), kind
	}
	return kind
}

// Plain reports a chunk of choice 0 that carries output and nothing else.
func (k Kind) Plain() bool { return k&^Visible == Choices|Token }
