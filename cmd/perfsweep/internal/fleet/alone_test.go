package fleet

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A generator outlives whoever started it by the time that it was told, and
// only calls with the token count.
func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t.Context(), WorkerOptions{Token: "a token of some length", Alone: 10 * time.Minute})
		begun := time.Now()
		left := w.alone(t.Context())
		call := func(token string) {
			r := httptest.NewRequest(http.MethodPost, pathClock, strings.NewReader("{}"))
			r.Header.Set(TokenHeader, token)
			w.handler().ServeHTTP(httptest.NewRecorder(), r)
		}
		time.Sleep(9 * time.Minute)
		call("a token of some length")
		time.Sleep(9 * time.Minute)
		call("another")
		<-left
		if d := time.Since(begun); d != 19*time.Minute {
			t.Errorf("it ended after %s", d)
		}
	})
}
