package main

import (
	"io"
	"strings"
	"unicode"
)

// plainText keeps control sequences from a terminal. Servers, journals and
// overlays are hostile input, and some of their words reach a human; no output
// of ours needs more than newlines and tabs.
type plainText struct{ w io.Writer }

func (p plainText) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, strings.Map(plainRune, string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func plainRune(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return '?'
	}
	return r
}
