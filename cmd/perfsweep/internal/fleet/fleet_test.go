package fleet

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// TestFleetEqualsOne: four generators measure what one does, at the same total
// concurrency, though their clocks are seconds apart; the control calls of a
// run do not depend on its streams.
func TestFleetEqualsOne(t *testing.T) {
	for _, kind := range []loadgen.RunKind{loadgen.Steady, loadgen.Gate} {
		rates := map[int]float64{}
		calls := map[int]int64{}
		for _, c := range []struct{ pods, streams int }{{1, 50}, {4, 50}, {4, 100}} {
			synctest.Test(t, func(t *testing.T) {
				sim, pods, f := simulated(t, "kneed?chunk=32", c.pods)
				cfg, pre := level(t, f, kind, c.streams)
				before := pods[0].calls.Load()
				probes := sim.Counters()
				r, err := f.Run(t.Context(), cfg, pre)
				if err != nil {
					t.Fatal(err)
				}
				got := sim.Counters()
				if got.Requests-probes.Requests != r.All.Total() || got.OutputTokens-probes.OutputTokens != r.TotalOutputTokens || r.All.Bad() > 0 {
					t.Errorf("%s by %d: %v with %d tokens; the engine counted %+v", kind, c.pods, r.All, r.TotalOutputTokens, got)
				}
				want := int64(12 * c.streams)
				if n := r.Measured.Total(); n < want || kind == loadgen.Gate && (n != want || r.All.Total() != want+int64(c.streams)) {
					t.Errorf("%s by %d: %d measured of %d, %d were asked for", kind, c.pods, n, r.All.Total(), want)
				}
				streams := 0
				for i, p := range r.LoadPods {
					streams += p.Streams
					if off := time.Duration(p.ClockOffsetMS * 1e6); off < pods[i].skew-time.Millisecond || off > pods[i].skew+time.Millisecond {
						t.Errorf("the clock of %s is ahead by %v, measured as %v", p.Name, pods[i].skew, off)
					}
				}
				if c.pods > 1 && streams != c.streams || r.StartSpreadMS > 1 {
					t.Errorf("%s by %d: %d streams, begun within %g ms", kind, c.pods, streams, r.StartSpreadMS)
				}
				if v := sweep.Validate(r, cfg.Workload.Spec(), 1, 0); len(v) > 0 {
					t.Errorf("%s by %d: %+v", kind, c.pods, v)
				}
				if c.streams == 50 {
					rates[c.pods] = r.Estimate().OutputTokPerSec
				}
				if c.pods == 4 {
					calls[c.streams] = pods[0].calls.Load() - before
				}
			})
		}
		if d := rates[4]/rates[1] - 1; math.Abs(d) > .02 || rates[1] <= 0 {
			t.Errorf("%s: %g tok/s by one, %g by four (%+.2f %%)", kind, rates[1], rates[4], 100*d)
		}
		if calls[50] == 0 || calls[100] > calls[50]+6 { // a longer run is looked at a few times more
			t.Errorf("%s: %d calls at 50 streams, %d at 100", kind, calls[50], calls[100])
		}
	}
}

// TestLostGenerator: a generator that is killed in the middle makes an INVALID
// run, whichever step it dies at, the others are stopped, and once it is back
// the run can be repeated.
func TestLostGenerator(t *testing.T) {
	for _, c := range []struct {
		name    string
		after   time.Duration
		restart bool
	}{
		{"while it warms up", 600 * time.Millisecond, true},
		{"in the measured part", 8 * time.Second, true},
		{"and stays away", 8 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, pods, f := simulated(t, "kneed?chunk=32", 3)
			cfg, pre := level(t, f, loadgen.Steady, 24)
			cfg.FirstRequest = 5000
			time.AfterFunc(c.after, func() {
				pods[1].kill()
				if c.restart {
					pods[1].start()
				}
			})
			r, err := f.Run(t.Context(), cfg, pre)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			v := sweep.Validate(r, cfg.Workload.Spec(), 1, 0)
			if len(v) != 1 || v[0].Gate != "V8" || len(r.LostPods) != 1 || r.LostPods[0] != "load-1" || !strings.Contains(v[0].Observed, "load-1") {
				t.Errorf("%s: lost %q, %+v", c.name, r.LostPods, v)
			}
			if took := r.Ended.Sub(r.Started); took > 90*time.Second || r.NextRequest < 5000+1000 {
				t.Errorf("%s: ended after %v, request numbers go on at %d", c.name, took, r.NextRequest)
			}
			if !c.restart {
				pods[1].start()
			}
			cfg.FirstRequest = r.NextRequest
			if r, err = f.Run(t.Context(), cfg, pre); err != nil || len(sweep.Validate(r, cfg.Workload.Spec(), 1, 0)) > 0 {
				t.Errorf("%s, repeated: %v, %+v", c.name, err, sweep.Validate(r, cfg.Workload.Spec(), 1, 0))
			}
		})
	}
}

// TestFleetCancelled: the end of ctx ends all generators.
func TestFleetCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, _, f := simulated(t, "kneed?chunk=32", 3)
		cfg, pre := level(t, f, loadgen.Steady, 24)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(7*time.Second, cancel)
		r, err := f.Run(ctx, cfg, pre)
		if !errors.Is(err, context.Canceled) || r.Stopped != "cancelled" {
			t.Errorf("stopped %q: %v", r.Stopped, err)
		}
		synctest.Wait()
		before := sim.Counters().Requests
		time.Sleep(time.Minute)
		if after := sim.Counters().Requests; after != before {
			t.Errorf("%d requests were sent after the end", after-before)
		}
	})
}

// TestEngineThatFails: what the servers do is a result, not a lost generator.
func TestEngineThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, _, f := simulated(t, "kneed?chunk=32", 3)
		cfg, pre := level(t, f, loadgen.Steady, 24)
		_ = sim.Close()
		r, err := f.Run(t.Context(), cfg, pre)
		if err != nil || r.Stopped != "errors" || r.All[loadgen.Connect] != r.All.Total() || len(r.LostPods) > 0 {
			t.Errorf("stopped %q, %v, lost %q: %v", r.Stopped, r.All, r.LostPods, err)
		}
	})
}

// TestPreflightTooEarly: a target that nobody serves yet, and a generator that is
// lost meanwhile, are told as what another try may find otherwise; a way that
// breaks once is none of them.
func TestPreflightTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, pods, f := simulated(t, "kneed?chunk=32", 1)
		spec, _ := loadgen.DefaultSpec(loadgen.Synthetic)
		again := func(dial func(context.Context, string, string) (net.Conn, error)) {
			pods[0].kill()
			pods[0].dial = dial
			pods[0].start()
		}
		early := func() (bool, error) {
			_, err := f.Preflight(t.Context(), loadgen.Config{BaseURL: "http://sim.invalid"}, spec)
			var e *loadgen.NotYetError
			return errors.As(err, &e), err
		}
		again(func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		})
		if yes, err := early(); !yes || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("nobody serves: %v", err)
		}
		again(sim.Dial)
		time.AfterFunc(20*time.Millisecond, pods[0].kill)
		if yes, err := early(); !yes || !strings.Contains(err.Error(), "lost") {
			t.Errorf("lost: %v", err)
		}
		pods[0].start()
		broken := false
		pods[0].spoil = func(path string, answer []byte) []byte {
			if path == pathPreflight && !broken {
				broken = true
				return answer[:1]
			}
			return answer
		}
		if _, err := early(); err != nil || !broken {
			t.Errorf("the way broke once: %v", err)
		}
	})
}

// TestRefusedOrders: what cannot travel, and what a generator was not started
// for, is the user's to change.
func TestRefusedOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, pods, f := simulated(t, "kneed?chunk=32", 1)
		spec, _ := loadgen.DefaultSpec(loadgen.Synthetic)
		for name, cfg := range map[string]loadgen.Config{
			"another host": {BaseURL: "http://metadata.invalid"},
			"a header":     {BaseURL: "http://sim.invalid", Network: loadgen.Network{Header: map[string]string{"X": "hidden"}}},
			"a CA file":    {BaseURL: "http://sim.invalid", Network: loadgen.Network{CAFile: "ca.pem"}},
		} {
			_, err := f.Preflight(t.Context(), cfg, spec)
			var bad *loadgen.BadInputError
			if !errors.As(err, &bad) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := New([]Pod{pods[0]}, "another token").Clock(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("another token: %v", err)
		}
	})
}

// TestRelay: the first generator fetches for this side, from the hosts that
// both were told of, GETs only.
func TestRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, f := simulated(t, "kneed?chunk=32", 1)
		c := &http.Client{Transport: f.HTTP("sim.invalid:80", "metadata.invalid:80")}
		resp, err := c.Get("http://sim.invalid/health")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", resp, err)
		}
		for name, try := range map[string]func() (*http.Response, error){
			"a POST":                      func() (*http.Response, error) { return c.Post("http://sim.invalid/health", "", nil) },
			"another host":                func() (*http.Response, error) { return c.Get("http://other.invalid/") },
			"a host that only one allows": func() (*http.Response, error) { return c.Get("http://metadata.invalid/") },
			"another port":                func() (*http.Response, error) { return c.Get("http://sim.invalid:9090/metrics") },
		} {
			if resp, err := try(); err == nil {
				t.Errorf("%s: %v", name, resp.Status)
			}
		}
	})
}
