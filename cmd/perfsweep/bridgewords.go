package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen/aiperf"
	"github.com/perfsweep/perfsweep/sweep"
)

// notShown stands for what may be secret.
const notShown = "(not shown)"

// shownBridge is the value of --bridge as it may be shown and kept: AIPerf takes its
// keys on its command line.
func shownBridge(spec string) string {
	tool, command, given := strings.Cut(spec, "=")
	if !given {
		return spec
	}
	words, err := shellWords(command)
	switch {
	case err != nil || len(words) == 0 || strings.Contains(words[0], "="):
		return tool + "=" + notShown
	case len(words) > 1:
		return tool + "=" + words[0] + " " + notShown
	}
	return spec
}

// leastSecret is the fewest bytes of a word that is kept out of what AIPerf says:
// shorter ones stand in any text.
const leastSecret = 6

// secretsIn are the words among arguments that may be keys, the longest first: those
// of --header and --api-key, and the values of variables. AIPerf repeats its command
// line in what it says.
func secretsIn(args []string) []string {
	var out []string
	add := func(v string) {
		v = strings.Join(strings.Fields(v), " ")
		parts := append(strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ':' || r == ',' }), v)
		for _, part := range parts {
			if len(part) >= leastSecret {
				out = append(out, part)
			}
		}
	}
	secret := aiperf.SecretFlags()
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		key := secret[name]
		switch {
		case joined && (key || !strings.HasPrefix(arg, "-")):
			add(value)
		case key && i+1 < len(args):
			add(args[i+1])
		case strings.HasPrefix(arg, "-H"): // -HNAME:VALUE
			add(arg[len("-H"):])
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(out)
}

// tail keeps the end of what a program says.
type tail struct {
	most    int
	text    []byte
	secrets []string // are not told
}

func (t *tail) Write(p []byte) (int, error) {
	if t.text = append(t.text, p[max(0, len(p)-t.most):]...); len(t.text) > t.most {
		t.text = append(t.text[:0], t.text[len(t.text)-t.most:]...)
	}
	return len(p), nil
}

// String are the last words, on one line and free of control sequences.
func (t *tail) String() string {
	const most = 400
	words := strings.Join(strings.Fields(plainWords(string(t.text))), " ")
	if words == "" {
		return ""
	}
	for _, secret := range t.secrets {
		words = strings.ReplaceAll(words, secret, notShown)
	}
	if len(words) > most {
		words = "…" + strings.ToValidUTF8(words[len(words)-most:], "")
	}
	return "; it last said: " + words
}

// plainWords drops escape sequences and what else a terminal obeys.
func plainWords(s string) string {
	var b strings.Builder
	escape := false
	for _, r := range strings.ToValidUTF8(s, " ") {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r == '[' || r == ';' || r == '?' || r >= '0' && r <= '9'
		case sweep.PlainText(string(r)):
			b.WriteRune(r)
		default:
			b.WriteRune(' ')
		}
	}
	return b.String()
}
