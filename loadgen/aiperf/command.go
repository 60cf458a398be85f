package aiperf

import (
	"slices"
	"strings"
)

// Command is a command line as it may be kept: without keys, and without the
// values of headers.
func Command(program string, args []string) string {
	secret := SecretFlags()
	out, hide := []string{program}, false
	for _, a := range args {
		name, _, joined := strings.Cut(a, "=")
		switch {
		case hide:
			a, hide = "[redacted]", false
		case secret[name] && joined:
			a = name + "=[redacted]"
		case secret[name]:
			hide = true
		case strings.HasPrefix(a, "-H"): // -HNAME:VALUE
			a = "-H[redacted]"
		}
		out = append(out, shellQuote(a))
	}
	return strings.Join(out, " ")
}

// SecretFlags are the flags, as they are written, whose values may be keys.
func SecretFlags() map[string]bool {
	secret := map[string]bool{}
	for _, f := range Flags() {
		for _, n := range f.Names {
			secret[dashed(n)] = slices.Contains(f.Names, "api-key") || slices.Contains(f.Names, "header")
		}
	}
	return secret
}

// shellQuote leaves plain words as they are.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+[]", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
