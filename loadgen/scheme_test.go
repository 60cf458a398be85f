package loadgen

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A URL with the wrong scheme is told the right one, whatever a server does about
// what it does not understand.
func TestWrongScheme(t *testing.T) {
	models := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`))
	})
	plain, secure := httptest.NewServer(models), httptest.NewTLSServer(models)
	defer plain.Close()
	defer secure.Close()
	nginx := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port", http.StatusBadRequest)
	}))
	defer nginx.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusBadRequest)
	}))
	defer other.Close()
	alert := answering(t, "\x15\x03\x01\x00\x02\x02\x46")
	closing := answering(t, "")
	host := func(url string) string { return url[strings.Index(url, "://")+3:] }
	for name, row := range map[string]struct{ url, says, not string }{
		"https to plain http":   {"https://" + host(plain.URL), "write http://" + host(plain.URL), ""},
		"http to Go's TLS":      {"http://" + host(secure.URL), "write https://" + host(secure.URL), ""},
		"http to nginx's TLS":   {nginx.URL, "write https://" + host(nginx.URL), ""},
		"http to a TLS alert":   {"http://" + alert, "write https://" + alert, "if it speaks TLS"},
		"http to who hangs up":  {"http://" + closing, "if it speaks TLS there, write https://" + closing, ""},
		"another bad request":   {other.URL, "listing the models failed", "write https"},
		"https to who hangs up": {"https://" + closing, "no answer from https://" + closing, "write http"},
	} {
		_, err := RunPreflight(t.Context(), Config{BaseURL: row.url}, aicr(t))
		if err == nil || !strings.Contains(err.Error(), row.says) || row.not != "" && strings.Contains(err.Error(), row.not) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// answering is a server that answers every request with the same bytes, and hangs up.
func answering(t *testing.T, answer string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write([]byte(answer))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
