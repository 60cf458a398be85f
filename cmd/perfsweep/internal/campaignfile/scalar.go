package campaignfile

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalar takes a value as it is written: what it means is for the flag to say.
func (p *parser) scalar(what string, n *yaml.Node) (string, error) {
	if err := p.plain(n); err != nil {
		return "", err
	}
	if n.Kind != yaml.ScalarNode {
		return "", p.node(n, "%s must be a single value", what)
	}
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
	case "!!null":
		return "", p.node(n, "%s has no value; give it one, or take the key away", what)
	default:
		return "", p.node(n, "%s: a value may not have the tag %.40q", what, n.Tag)
	}
	switch {
	case n.Value == "":
		return "", p.node(n, "%s is empty; give it a value, or take the key away", what)
	case len(n.Value) > maxValue:
		return "", p.node(n, "%s: a value of %d bytes, more than %d", what, len(n.Value), maxValue)
	case strings.ContainsFunc(n.Value, unprintable):
		return "", p.node(n, "%s holds a control character or a line end; use one line of plain text", what)
	case holdsLogin(n.Value):
		return "", p.node(n, "%s: the URL holds a user name or a password, and a campaign file is kept and shared; name the key with api-key-env or api-key-file", what)
	}
	return n.Value, nil
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == utf8.RuneError
}

func holdsLogin(s string) bool {
	if !strings.Contains(s, "://") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.User != nil || err != nil && strings.Contains(s, "@")
}

func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
