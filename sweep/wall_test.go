package sweep

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestWallEndsARunInProgress: the time limit holds to the moment; what was cut
// is not recorded, what was whole is.
func TestWallEndsARunInProgress(t *testing.T) {
	for name, c := range map[string]struct {
		wall, length time.Duration
		kept         int
	}{
		"in the third run":  {100 * time.Second, 40 * time.Second, 2},
		"in the first run":  {10 * time.Second, 40 * time.Second, 0},
		"between two runs":  {80 * time.Second, 40 * time.Second, 2},
		"just after a run":  {81 * time.Second, 40 * time.Second, 2},
		"just before a run": {79 * time.Second, 40 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made := 0
				cam := campaign(t, &made)
				cam.Curve.Plan.MaxWall = c.wall
				good := cam.Measure
				cam.Measure = func(ctx context.Context, s Step, first uint64) (loadgen.Result, error) {
					began := time.Now()
					select {
					case <-time.After(c.length):
					case <-ctx.Done():
						return loadgen.Result{Stopped: "cancelled"}, ctx.Err()
					}
					r, err := good(ctx, s, first)
					r.Started, r.Ended = began, time.Now()
					return r, err
				}
				began := time.Now()
				d, err := cam.Run(t.Context())
				if err != nil || !d.Done || d.Point.Healthy || !strings.Contains(d.Reason, "time limit") {
					t.Errorf("%+v, %v", d, err)
				}
				if len(cam.Curve.Runs) != c.kept || time.Since(began) != c.wall {
					t.Errorf("%d runs in %v, want %d in %v", len(cam.Curve.Runs), time.Since(began), c.kept, c.wall)
				}
				if cut := c.wall%c.length != 0; strings.Contains(d.Reason, "is not recorded") != cut {
					t.Errorf("a run cut: %v, and the reason is %q", cut, d.Reason)
				}
			})
		})
	}
}

// TestNetworkInFingerprint: the way to the server is part of what was measured;
// a journal from before it was recorded, and one of the usual way, are equal.
func TestNetworkInFingerprint(t *testing.T) {
	old := Fingerprint{Target: "http://x", GPUs: 1}
	raw, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"endpoint", "transport", "http2", "unix_socket", "proxy", "extra"} {
		if strings.Contains(string(raw), key) {
			t.Errorf("the usual way is spelled out: %s", raw)
		}
	}
	now := old
	now.Endpoint, now.Transport, now.HTTP2, now.UnixSocket, now.Proxy = loadgen.Completions, loadgen.GoOpenAI, true, "/s", "p:1"
	now.ExtraHeaders, now.ExtraBody = []string{"X-A"}, map[string]json.RawMessage{"nvext": json.RawMessage(`{"a": [1, 2]}`)}
	want := []string{
		"endpoint: unknown, now completions", "extra_body.nvext.a: unknown, now [1 2]", "extra_headers: unknown, now [X-A]",
		"http2: unknown, now true", "proxy: unknown, now p:1", "transport: unknown, now go-openai", "unix_socket: unknown, now /s",
	}
	if d := old.Diff(now); !slices.Equal(d, want) {
		t.Errorf("%q, want %q", d, want)
	}
	if raw, err = json.Marshal(now); err != nil {
		t.Fatal(err)
	}
	var back Fingerprint
	if err := json.Unmarshal(raw, &back); err != nil || len(back.Diff(now)) > 0 {
		t.Errorf("read back: %v, %v", err, back.Diff(now))
	}
}
