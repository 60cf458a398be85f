package loadgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
)

// TestPreflightTooEarly: what a server answers that is about to be ready is told
// from what no waiting repairs.
func TestPreflightTooEarly(t *testing.T) {
	const list = `{"object":"list","data":[{"id":"m","object":"model"}]}`
	type answers struct {
		models, chat int
		text         string // of the list
	}
	hangUp := -1
	for name, c := range map[string]struct {
		dial   error
		server answers
		model  string
		early  bool
	}{
		"nobody listens":               {dial: syscall.ECONNREFUSED, early: true},
		"the name is not known yet":    {dial: &net.DNSError{Err: "no such host", Name: "engine", IsNotFound: true}, early: true},
		"a proxy without an upstream":  {server: answers{models: 502}, early: true},
		"the list is not there yet":    {server: answers{models: 503}, early: true},
		"the list breaks off":          {server: answers{models: hangUp}, early: true},
		"no list of models":            {server: answers{models: 404}},
		"a key is wanted":              {server: answers{models: 401}},
		"another kind of server":       {server: answers{models: 200, text: "<html>"}},
		"no model yet":                 {server: answers{models: 200, text: `{"object":"list","data":[]}`}, early: true},
		"no model of that name yet":    {server: answers{models: 200, text: `{"object":"list","data":[]}`}, model: "m", early: true},
		"another model":                {server: answers{models: 200, text: list}, model: "other"},
		"the model is not known yet":   {server: answers{200, 404, list}, early: true},
		"no instance behind the model": {server: answers{200, 500, list}, early: true},
		"busy":                         {server: answers{200, 503, list}, early: true},
		"the answer breaks off":        {server: answers{200, hangUp, list}, early: true},
		"a request that is refused":    {server: answers{200, 400, list}},
		"a key for chat":               {server: answers{200, 403, list}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				say := func(w http.ResponseWriter, status int, text string) {
					if status == hangUp {
						panic(http.ErrAbortHandler)
					}
					w.WriteHeader(status)
					fmt.Fprint(w, text)
				}
				p := newPipes()
				s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if r.URL.Path == "/v1/models" {
						say(w, c.server.models, c.server.text)
						return
					}
					say(w, c.server.chat, "{}")
				})}
				ended := make(chan struct{})
				go func() { defer close(ended); _ = s.Serve(p) }()
				dial := p.Dial
				if c.dial != nil {
					dial = func(context.Context, string, string) (net.Conn, error) {
						return nil, &net.OpError{Op: "dial", Net: "tcp", Err: c.dial}
					}
				}
				_, err := RunPreflight(t.Context(), Config{BaseURL: "http://engine", Model: c.model, Dial: dial}, tokens(8, 0))
				_ = s.Close()
				<-ended
				var early *NotYetError
				if err == nil || errors.As(err, &early) != c.early {
					t.Errorf("%T: %v", err, err)
				}
			})
		})
	}
}
