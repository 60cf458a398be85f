package loadgen

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestMoreThanAsked: a count above the limit of the request is not to be
// believed, however often it is repeated; no throughput is made of it.
func TestMoreThanAsked(t *testing.T) {
	e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
	e.special = func(n int64, w http.ResponseWriter, _ *http.Request) bool {
		if n%10 != 3 {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, chat("a"), finish, usageOf("100000000000"), done)
		return true
	}
	cfg := Config{Concurrency: 4, Kind: Steady, Limits: Limits{MinRequests: 200, Ramp: 290 * time.Millisecond}}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil || r.All[Protocol] < e.requests/10 || r.All[OK]+r.All[Protocol] != e.requests {
			t.Fatalf("%v, %v; the server saw %d", r.All, err, e.requests)
		}
		if r.OutputTokensPerRequest != 20 || r.Window.OutputTokPerSec > 1e6 {
			t.Errorf("%g tokens a request, %g a second", r.OutputTokensPerRequest, r.Window.OutputTokPerSec)
		}
	})
}
