package loadgen

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
)

// path is where an endpoint's requests go below the base URL.
func (e Endpoint) path() string {
	if e == Completions {
		return "/v1/completions"
	}
	return "/v1/chat/completions"
}

// The generator sets these itself: a count, a time or the end of an answer
// hangs on each.
var (
	ownFields  = []string{"model", "messages", "prompt", "stream", "stream_options", modernLimit, legacyLimit, "n"}
	ownHeaders = []string{
		"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Expect", "Keep-Alive",
		"Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
)

const (
	maxExtraField = 64 << 10 // bytes of one body field's value
	maxUnixPath   = 107      // sockaddr_un of Linux without its final zero
)

// checkNetwork refuses what could not work, or would change what is measured
// behind its back. No message shows a header's value.
func (c *Config) checkNetwork(base string) error {
	n := c.Network
	switch {
	case c.Endpoint != "" && c.Endpoint != ChatCompletions && c.Endpoint != Completions:
		return badInput("unknown endpoint %q: use %q or %q", c.Endpoint, ChatCompletions, Completions)
	case c.Transport != "" && c.Transport != Native && c.Transport != GoOpenAI:
		return badInput("unknown transport %q: use %q or %q", c.Transport, Native, GoOpenAI)
	case strings.ContainsFunc(c.APIKey, unicode.IsControl):
		return badInput("the API key holds a control character, such as a line end: look at where it comes from")
	case (n.CertFile == "") != (n.KeyFile == ""):
		return badInput("a client certificate needs both its file and the file of its key")
	case n.CAFile+n.CertFile != "" && !strings.HasPrefix(base, "https:"):
		return badInput("certificates are for https, and the target is %s", base)
	case n.UnixSocket != "" && n.ProxyFromEnvironment:
		return badInput("a Unix socket is not reached through a proxy: ask for one of the two")
	case len(n.UnixSocket) > maxUnixPath:
		return badInput("the path of the Unix socket is longer than %d bytes: %s", maxUnixPath, n.UnixSocket)
	}
	for name, value := range n.Header {
		if err := checkHeader(name, value, c.APIKey != ""); err != nil {
			return err
		}
	}
	for key, value := range n.Body {
		if err := checkField(key, value); err != nil {
			return err
		}
	}
	return nil
}

func checkHeader(name, value string, key bool) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) {
		return badInput("%q is not the name of a header: write it as Name: value", cleanText(name))
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
		return badInput("the value of the header %s holds a control character, such as a line end", name)
	}
	canonical := http.CanonicalHeaderKey(name)
	for _, own := range ownHeaders {
		if canonical == own {
			return badInput("the header %s is the generator's own: leave it out", name)
		}
	}
	if canonical == "Authorization" && key {
		return badInput("the header %s and an API key exclude each other: give one of the two", name)
	}
	return nil
}

func checkField(key string, value json.RawMessage) error {
	if key == "" || strings.ContainsFunc(key, unicode.IsControl) {
		return badInput("%q is not the name of a body field", cleanText(key))
	}
	for _, own := range ownFields {
		if strings.EqualFold(key, own) { // servers in Go do not tell them apart
			return badInput("the body field %q is the generator's own: leave it out", key)
		}
	}
	if len(value) > maxExtraField || !json.Valid(value) {
		return badInput("the body field %q is not JSON of at most %d bytes (quote a text: \"…\")", key, maxExtraField)
	}
	return nil
}
