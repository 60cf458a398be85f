package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

// tcpPod is a generator behind a real socket.
type tcpPod struct {
	*memPod // its log
	url     string
	ended   atomic.Bool
}

func (p *tcpPod) Alive(ctx context.Context) (string, error) {
	return fmt.Sprint(p.ended.Load()), nil
}

func (p *tcpPod) Call(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header.Clone()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, b)
	}
	return b, err
}

// served starts a generator on a loopback port; stop ends it and returns how it
// ended.
func served(t *testing.T, i int, allow string) (p *tcpPod, stop func() error) {
	t.Helper()
	p = &tcpPod{memPod: &memPod{name: fmt.Sprintf("load-%d", i), more: make(chan struct{})}}
	ctx, cancel := context.WithCancel(context.Background())
	listening := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, WorkerOptions{Listen: "127.0.0.1:0", Token: testToken, APIKey: "key", Allow: []string{allow}, Out: p, Say: func(format string, args ...any) {
			select {
			case listening <- fmt.Sprint(args...):
			default:
			}
		}})
	}()
	select {
	case addr := <-listening:
		p.url = "http://" + addr
	case err := <-ended:
		t.Fatal(err)
	}
	return p, sync.OnceValue(func() error { p.ended.Store(true); cancel(); return <-ended })
}

// TestServe: generators behind real sockets make a run together, take orders
// with the token only, and end cleanly in the middle of one.
func TestServe(t *testing.T) {
	p, err := enginesim.ParseTarget("kneed?chunk=32")
	if err != nil {
		t.Fatal(err)
	}
	sim := enginesim.New(p)
	defer func() { _ = sim.Close() }()
	base, err := sim.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var pods []Pod
	var stops []func() error
	for i := range 3 {
		pod, stop := served(t, i, strings.TrimPrefix(base, "http://"))
		defer func() { _ = stop() }() // again, after a test that failed
		pods, stops = append(pods, pod), append(stops, stop)
	}
	resp, err := http.Post(pods[0].(*tcpPod).url+pathClock, "", strings.NewReader("{}"))
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %v, %v", resp, err)
	}
	f := New(pods, testToken)
	spec, _ := loadgen.DefaultSpec(loadgen.Synthetic)
	spec.OSL = 8
	cfg := loadgen.Config{BaseURL: base, Concurrency: 12, Kind: loadgen.Gate, Limits: loadgen.Limits{MinRequests: 48}}
	pre, err := f.Preflight(t.Context(), cfg, spec)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Model = pre.Model
	if cfg.Workload, err = loadgen.NewWorkload(spec, pre); err != nil {
		t.Fatal(err)
	}
	r, err := f.Run(t.Context(), cfg, pre)
	if err != nil || r.Measured[loadgen.OK] != 48 || r.All.Total() != 60 || len(r.LoadPods) != 3 || r.Health.CPUShare <= 0 {
		t.Errorf("%v of %v by %+v: %v", r.Measured, r.All, r.LoadPods, err)
	}

	long := cfg
	long.Kind, long.Limits = loadgen.Steady, loadgen.Limits{MinRequests: 1e6, MaxDuration: time.Hour}
	go func() { // in the middle of the run, however long its start takes
		for middle := sim.Counters().Requests + 100; sim.Counters().Requests < middle; {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-t.Context().Done():
				return
			}
		}
		_ = stops[1]() // how it ends is looked at below
	}()
	if r, err = f.Run(t.Context(), long, pre); err != nil || len(r.LostPods) != 1 {
		t.Errorf("lost %q: %v", r.LostPods, err)
	}
	for _, stop := range stops {
		if err := stop(); err != nil {
			t.Errorf("a generator ended with %v", err)
		}
	}
}

// TestServeRefuses: a token that can be guessed guards nothing.
func TestServeRefuses(t *testing.T) {
	var bad *loadgen.BadInputError
	if err := Serve(t.Context(), WorkerOptions{Listen: "127.0.0.1:0", Token: "short"}); !errors.As(err, &bad) {
		t.Errorf("%v", err)
	}
}
