package loadgen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxText bounds what an error shows of a server's words.
	maxText = 256
	// maxBody bounds what is read of a body that is not a stream.
	maxBody = 64 << 10
)

// withoutBeginning drops the beginning of a secret from the end of a text that
// was cut: redaction would not know it.
func withoutBeginning(s string, secrets []string) string {
	for _, secret := range secrets {
		for n := min(len(secret)-1, len(s)); n > 0; n-- {
			if strings.HasSuffix(s, secret[:n]) {
				s = s[:len(s)-n]
				break
			}
		}
	}
	return s
}

// cleanText makes server text fit for a log: no secret, no control
// characters nor such as reorder what follows, bounded. The secrets go first, so that no cut leaves a part
// of one.
func cleanText(s string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[redacted]")
		}
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
