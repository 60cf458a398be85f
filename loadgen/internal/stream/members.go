package stream

// members calls visit with the names and values of the object that b, valid
// JSON, begins with. It is false when visit was, or at a name with an escape.
func members(b []byte, visit func(name, value []byte) bool) bool {
	for i := skipSpace(b, 1); b[i] != '}'; {
		end, escaped := stringEnd(b, i+1)
		if escaped {
			return false
		}
		name := b[i+1 : end]
		i = skipSpace(b, skipSpace(b, end+1)+1) // past the colon
		end = valueEnd(b, i)
		if !visit(name, b[i:end]) {
			return false
		}
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return true
}

// valueEnd returns where the JSON value that begins at b[i] ends.
func valueEnd(b []byte, i int) int {
	depth := 0
	for {
		switch b[i] {
		case '"':
			end, _ := stringEnd(b, i+1)
			i = end + 1
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default:
			for i < len(b) && !ends(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// ends reports a byte that cannot be part of a number, true, false or null.
func ends(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

func skipSpaces(b []byte) []byte { return b[skipSpace(b, 0):] }
