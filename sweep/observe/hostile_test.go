package observe

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRedirectIsNotFollowed: it leads to another server, perhaps one that only
// this machine can reach.
func TestRedirectIsNotFollowed(t *testing.T) {
	var followed bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		followed = true
	}))
	defer s.Close()
	if err := frontPage(t, s.Client(), s.URL, "m").Err; err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("error %v, want status 302", err)
	}
	if followed {
		t.Error("the redirect was followed")
	}
}

// TestReasonOfStatus: the words after a status code are the server's and may be
// anything, terminal control sequences included.
func TestReasonOfStatus(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 4096))
		_, _ = fmt.Fprint(c, "HTTP/1.1 500 \x1b]0;owned\x07\r\nContent-Length: 0\r\n\r\n")
	}()
	err = frontPage(t, http.DefaultClient, "http://"+l.Addr().String(), "m").Err
	if err == nil || !strings.Contains(err.Error(), "500") || strings.Contains(err.Error(), "owned") {
		t.Errorf("error %q, want status 500 and nothing of the server's", err)
	}
}
