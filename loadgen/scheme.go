package loadgen

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
)

// otherScheme says which scheme a URL wants, where the failure shows that the
// server speaks the other one; "" where nothing shows it. base has no secret.
func otherScheme(err error, base, text string) string {
	var record tls.RecordHeaderError
	host, secure := strings.CutPrefix(base, "https://")
	if secure {
		if errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &record) {
			return "the server speaks plain HTTP there: write http://" + host
		}
		return ""
	}
	host = strings.TrimPrefix(base, "http://")
	switch {
	// Go's and nginx's own words, and a TLS alert or record in place of an answer.
	case strings.Contains(text, "HTTP request to an HTTPS server"), strings.Contains(text, "sent to HTTPS port"),
		strings.Contains(text, `malformed HTTP response "\x15\x03`), strings.Contains(text, `malformed HTTP response "\x16\x03`):
		return "the server speaks TLS there: write https://" + host
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "it took the connection and closed it: if it speaks TLS there, write https://" + host
	}
	return ""
}
