package stream

import (
	"encoding/binary"
	"math/bits"
)

// Kind says what a chunk carries.
type Kind uint16

const (
	// Token: some choice carries output of any kind: text, reasoning, a refusal
	// or a tool call.
	Token Kind = 1 << iota
	// Finish: some choice has a finish_reason.
	Finish
	// Usage: there is a usage object.
	Usage
	// Error: the chunk is an error in one of the forms that servers use.
	Error
	// Choices: there is a choices array, be it empty.
	Choices
	// Multi: some choice has an index other than 0.
	Multi
	// Message: a top-level message or detail, which is an error in a chunk
	// without choices and usage.
	Message
	// Visible: some of the output is for the reader, so not reasoning alone.
	Visible
	// Timing: Dynamo's nvext tells times.
	Timing
	// Odd: not an object, unbalanced, or with escapes in a name; Decode
	// decides.
	Odd
)

const maxDepth = 32

// Scan looks once at the bytes of a chunk. For valid JSON without Odd its
// answer is that of a full parser; for other input it is merely safe.
func Scan(b []byte) Kind {
	kind, _, _ := scan(b)
	return kind
}

// scan is Scan; b[from:to] is the last string that made the chunk a Token, and
// both are 0 without one.
func scan(b []byte) (kind Kind, from, to int) {
	var where [maxDepth]uint8
	depth, key := 0, noKey
	where[0] = inRoot
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case '"':
			end, escaped := stringEnd(b, i+1)
			if end < 0 || depth == 0 {
				return Odd, 0, 0
			}
			start, text := i+1, b[i+1:end]
			i = skipSpace(b, end+1)
			if i < len(b) && b[i] == ':' {
				if key = noKey; where[depth] != inOther {
					if escaped {
						return Odd, 0, 0
					}
					key = keyOf(where[depth], text)
				}
				i = skipSpace(b, i+1)
				continue
			}
			if escaped && key == keyObject {
				return Odd, 0, 0
			}
			k := stringValue(key, text)
			if k&Token != 0 {
				from, to = start, end
			}
			kind |= k
			key = noKey
		case '{', '[':
			if depth+1 == maxDepth || depth == 0 && c == '[' {
				return Odd, 0, 0
			}
			i = skipSpace(b, i+1)
			inside, k := opened(where[depth], key, c, i < len(b) && b[i] != c+2) // '[' and ']', '{' and '}' are two apart
			kind |= k
			depth++
			where[depth] = inside
			key = noKey
		case '}', ']':
			if depth--; depth < 0 {
				return Odd, 0, 0
			}
			if depth == 0 {
				if skipSpace(b, i+1) != len(b) {
					return Odd, 0, 0
				}
				return kind, from, to
			}
			key = noKey
			i++
		case ' ', '\t', '\r', '\n', ',':
			i++
		default:
			if depth == 0 {
				return Odd, 0, 0
			}
			kind |= literalValue(key, b[i:])
			key = noKey
			i++
		}
	}
	return Odd, 0, 0
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index of the quote that ends the string whose first
// byte is b[i], or -1. Eight bytes are looked at in one go; the lowest set bit
// of the mask is exact (Mycroft's zero-byte test).
func stringEnd(b []byte, i int) (end int, escaped bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for {
		for ; i+8 <= len(b); i += 8 {
			v := binary.LittleEndian.Uint64(b[i:])
			q, s := v^ones*'"', v^ones*'\\'
			if m := ((q-ones)&^q | (s-ones)&^s) & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' {
			i++
		}
		if i >= len(b) {
			return -1, escaped
		}
		if b[i] == '"' {
			return i, escaped
		}
		escaped = true
		i += 2
	}
}
