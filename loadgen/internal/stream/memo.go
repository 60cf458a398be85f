package stream

import (
	"bytes"
	"encoding/json"
)

// maxMemo bounds the chunks that a Scanner learns from.
const maxMemo = 4 << 10

// Scanner is Scan for the chunks of a stream, which repeat nearly every byte:
// id, model and the rest differ between streams, not within one. It keeps what
// stood before and after the text of the last chunk that carried nothing but
// output. A chunk with the same bytes around another JSON string that is not
// empty is JSON too and of the same kind, because Scan tells texts apart by
// emptiness only; anything else is scanned.
//
// Unlike Scan it answers as a full parser would for any input: what is not JSON
// is Odd, unless Decode is needed anyway and will say so.
type Scanner struct {
	head, tail []byte // they end and begin with the quotes around the text
	kind       Kind   // 0 = nothing learnt
}

// Scan says what a chunk carries.
func (s *Scanner) Scan(b []byte) Kind {
	end := len(b) - len(s.tail)
	if s.kind != 0 && end > len(s.head) && bytes.HasPrefix(b, s.head) && bytes.HasSuffix(b, s.tail) &&
		isString(b[len(s.head)-1:end+1]) {
		return s.kind
	}
	kind, from, to := scan(b)
	if (kind.Plain() || kind == Choices) && !json.Valid(b) {
		return Odd
	}
	if kind.Plain() && from > 0 && len(b) <= maxMemo {
		s.head, s.tail, s.kind = append(s.head[:0], b[:from]...), append(s.tail[:0], b[to:]...), kind
	}
	return kind
}

// isString reports whether b, which has a quote at either end, is a JSON string.
func isString(b []byte) bool { return isPlain(b) || json.Valid(b) }

// isPlain reports a string that stands for itself: nothing in it is escaped.
func isPlain(b []byte) bool {
	for _, c := range b[1 : len(b)-1] {
		if c == '"' || c == '\\' || c < ' ' {
			return false
		}
	}
	return true
}

// Plain reports a chunk of choice 0 that carries output and nothing else.
func (k Kind) Plain() bool { return k&^Visible == Choices|Token }
