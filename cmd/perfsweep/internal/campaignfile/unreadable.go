package campaignfile

import (
	"bytes"
	"regexp"
	"unicode"
	"unicode/utf8"
)

// unreadable is where a file first holds what no YAML does, -1 for nowhere: the
// parser of YAML refuses that without a position.
func unreadable(src []byte) (at int, what string) {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return i, "the file is not UTF-8; save it as UTF-8"
		case unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r', r == '\ufeff' && i > 0:
			return i, "a control character; take it away"
		}
		i += n
	}
	return -1, ""
}

// place is the line and the column of a byte, from 1.
func place(src []byte, at int) (line, col int) {
	before := src[:at]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

var unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)

// lostAlias is where an alias of nothing stands, of which the parser of YAML tells
// no position either; -1 where that is not what it says.
func lostAlias(src []byte, err error) int {
	m := unknownAnchor.FindStringSubmatch(err.Error())
	if m == nil {
		return -1
	}
	return bytes.Index(src, []byte("*"+m[1]))
}
