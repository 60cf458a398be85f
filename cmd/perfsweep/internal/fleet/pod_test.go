package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

const testToken = "a token of some length"

// memPod is a generator in this process, reached without a network.
type memPod struct {
	name string
	dial func(context.Context, string, string) (net.Conn, error)
	skew time.Duration // its clock is ahead by that
	// spoil, when set, changes what a call gives; mangle what a follow gives.
	spoil  func(path string, answer []byte) []byte
	mangle func(follow int, all []byte) []byte

	calls, follows atomic.Int64

	mu     sync.Mutex
	worker *worker // nil while it is down
	end    context.CancelFunc
	lives  int
	log    bytes.Buffer
	more   chan struct{}
}

func newMemPod(t *testing.T, i int, dial func(context.Context, string, string) (net.Conn, error)) *memPod {
	p := &memPod{name: fmt.Sprintf("load-%d", i), dial: dial, skew: time.Duration(i) * 1700 * time.Millisecond, more: make(chan struct{})}
	p.start()
	t.Cleanup(p.kill)
	return p
}

func (p *memPod) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	p.worker = newWorker(ctx, WorkerOptions{Token: testToken, Allow: []string{"sim.invalid"}, Out: p, Say: func(string, ...any) {}, dial: p.dial})
	p.worker.zero += int64(p.skew)
	p.end = cancel
	p.lives++
}

func (p *memPod) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.worker != nil {
		p.end()
		p.worker = nil
	}
}

func (p *memPod) Name() string { return p.name }

func (p *memPod) Alive(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.worker == nil {
		return "", errors.New("the pod is gone")
	}
	return fmt.Sprint(p.lives), nil
}

func (p *memPod) Call(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error) {
	p.calls.Add(1)
	p.mu.Lock()
	w := p.worker
	p.mu.Unlock()
	if w == nil {
		return nil, errors.New("connection refused")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	r := httptest.NewRequest(method, path, bytes.NewReader(body)).WithContext(ctx)
	r.Header = header.Clone()
	out := httptest.NewRecorder()
	w.handler().ServeHTTP(out, r)
	switch {
	case w.ctx.Err() != nil:
		return nil, errors.New("the connection broke")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.Code != http.StatusOK:
		return nil, fmt.Errorf("status %d: %s", out.Code, out.Body)
	case p.spoil != nil:
		return p.spoil(path, out.Body.Bytes()), nil
	}
	return out.Body.Bytes(), nil
}

// Write takes what the generator prints.
func (p *memPod) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.log.Write(b)
}

func (p *memPod) Lines(ctx context.Context, _ time.Time) (io.ReadCloser, error) {
	n := p.follows.Add(1)
	if p.mangle != nil {
		p.mu.Lock()
		all := bytes.Clone(p.log.Bytes())
		p.mu.Unlock()
		b := p.mangle(int(n), all)
		if b != nil && len(b) == 0 { // the node does not answer
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if b == nil {
			return nil, errors.New("no log")
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return &logReader{pod: p, ctx: ctx}, nil
}

type logReader struct {
	pod *memPod
	ctx context.Context
	at  int
}

func (r *logReader) Read(b []byte) (int, error) {
	for {
		r.pod.mu.Lock()
		n, more := copy(b, r.pod.log.Bytes()[r.at:]), r.pod.more
		r.pod.mu.Unlock()
		if r.at += n; n > 0 {
			return n, nil
		}
		select {
		case <-more:
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
	}
}

func (r *logReader) Close() error { return nil }

// simulated starts an engine in memory, and n generators beside it.
func simulated(t *testing.T, spec string, n int) (*enginesim.Sim, []*memPod, *Fleet) {
	t.Helper()
	p, err := enginesim.ParseTarget(spec)
	if err != nil {
		t.Fatal(err)
	}
	sim := enginesim.New(p)
	t.Cleanup(func() { _ = sim.Close() })
	var pods []*memPod
	var all []Pod
	for i := range n {
		pods = append(pods, newMemPod(t, i, sim.Dial))
		all = append(all, pods[i])
	}
	return sim, pods, New(all, testToken)
}

// level is one run at so many streams.
func level(t *testing.T, f *Fleet, kind loadgen.RunKind, streams int) (loadgen.Config, loadgen.Preflight) {
	t.Helper()
	spec, err := loadgen.DefaultSpec(loadgen.Synthetic)
	if err != nil {
		t.Fatal(err)
	}
	spec.OSL = 32
	cfg := loadgen.Config{BaseURL: "http://sim.invalid", Concurrency: streams, Kind: kind, Limits: loadgen.Limits{
		MinRequests: int64(12 * streams), MinDuration: 20 * time.Second, MaxDuration: 5 * time.Minute, Ramp: 200 * time.Millisecond,
	}}
	pre, err := f.Preflight(t.Context(), cfg, spec)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Model = pre.Model
	if cfg.Workload, err = loadgen.NewWorkload(spec, pre); err != nil {
		t.Fatal(err)
	}
	return cfg, pre
}
