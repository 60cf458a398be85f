package fleet

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// maxAwait bounds how long a call of the control server takes to answer.
const maxAwait = 20 * time.Second

// worker is a generator: one task at a time.
type worker struct {
	WorkerOptions
	ctx     context.Context // ends all tasks
	base    time.Time       // its clock, which no step of the wall clock moves,
	zero    int64           // and what it told then, in Unix nanoseconds
	process string          // another one after a restart

	heard atomic.Int64 // when it was last called, on its clock

	mu   sync.Mutex
	task *task
	out  sync.Mutex // lines are whole
}

func newWorker(ctx context.Context, o WorkerOptions) *worker {
	now := time.Now()
	w := &worker{WorkerOptions: o, ctx: ctx, base: now, zero: now.UnixNano(), process: rand.Text()}
	w.heard.Store(w.zero)
	return w
}

// alone is closed once nobody has called for so long.
func (w *worker) alone(ctx context.Context) <-chan struct{} {
	left := make(chan struct{})
	if w.Alone <= 0 {
		return left
	}
	go func() {
		for rest := w.Alone; rest > 0; rest = w.Alone - time.Since(w.moment(w.heard.Load())) {
			if sleep(ctx, rest); ctx.Err() != nil {
				return
			}
		}
		close(left)
	}()
	return left
}

// unix is what this generator's clock tells at a moment.
func (w *worker) unix(at time.Time) int64 { return w.zero + int64(at.Sub(w.base)) }

// moment is when it tells so much.
func (w *worker) moment(unix int64) time.Time { return w.base.Add(time.Duration(unix - w.zero)) }

// handler is the control server.
func (w *worker) handler() http.Handler {
	mux := http.NewServeMux()
	calls := map[string]func(context.Context, *call) reply{
		pathClock: func(context.Context, *call) reply {
			return reply{NowUnixNS: w.unix(time.Now()), Process: w.process}
		},
		pathAwait: w.await, pathGo: w.goOn, pathStop: w.stop, pathPrint: w.print, pathPart: w.part, pathGet: w.get,
	}
	for path, do := range calls {
		mux.HandleFunc("POST "+path, func(rw http.ResponseWriter, r *http.Request) {
			serve(rw, r, func(c *call) reply { return do(r.Context(), c) })
		})
	}
	mux.HandleFunc("POST "+pathPrepare, func(rw http.ResponseWriter, r *http.Request) {
		serve(rw, r, func(o *order) reply { return w.begin(o, w.run) })
	})
	mux.HandleFunc("POST "+pathPreflight, func(rw http.ResponseWriter, r *http.Request) {
		serve(rw, r, func(o *order) reply { return w.begin(o, w.preflight) })
	})
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(TokenHeader)), []byte(w.Token)) != 1 {
			http.Error(rw, "this generator takes orders with its token only ("+TokenHeader+")", http.StatusUnauthorized)
			return
		}
		w.heard.Store(w.unix(time.Now()))
		mux.ServeHTTP(rw, r)
	})
}

// serve reads a bounded body, and answers.
func serve[T any](rw http.ResponseWriter, r *http.Request, do func(*T) reply) {
	d := json.NewDecoder(http.MaxBytesReader(rw, r.Body, MaxAnswer))
	d.DisallowUnknownFields()
	var in T
	out := reply{}
	if err := d.Decode(&in); err != nil {
		out.Error = fmt.Sprintf("the call cannot be read: %v; are both sides of the same version?", err)
	} else {
		out = do(&in)
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(out) // who called has gone, and calls again
}

func failed(err error) reply {
	var bad *loadgen.BadInputError
	return reply{Error: err.Error(), BadInput: errors.As(err, &bad)}
}

// begin starts a task unless another one is in progress.
func (w *worker) begin(o *order, do func(context.Context, *task, *order)) reply {
	if o.Version != protocolVersion {
		return reply{Error: fmt.Sprintf("protocol %d where this generator speaks %d: use one image for both", o.Version, protocolVersion)}
	}
	if err := w.mayReach(o.BaseURL); err != nil {
		return failed(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.task; old != nil {
		select {
		case <-old.ended:
		default:
			if old.id == o.Run { // asked twice: the first answer was lost
				return reply{Process: w.process}
			}
			return reply{Busy: true, Error: "busy with another run"}
		}
	}
	ctx, cancel := context.WithCancel(w.ctx)
	t := newTask(o.Run, cancel)
	w.task = t
	go func() {
		defer cancel()
		defer close(t.ended)
		do(ctx, t, o)
	}()
	return reply{Process: w.process}
}

// mayReach holds a URL against the list of what may be reached.
func (w *worker) mayReach(target string) error {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
		return &loadgen.BadInputError{Msg: "a generator reaches http and https URLs without credentials only"}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if slices.Contains(w.Allow, u.Hostname()) || slices.Contains(w.Allow, net.JoinHostPort(u.Hostname(), port)) {
		return nil
	}
	return &loadgen.BadInputError{Msg: fmt.Sprintf("this generator was not started to reach %s: it may reach %q", net.JoinHostPort(u.Hostname(), port), w.Allow)}
}

// config is what loadgen is to be told.
func (w *worker) config(t *task, o *order) loadgen.Config {
	return loadgen.Config{
		BaseURL: o.BaseURL, Model: o.Model, APIKey: w.APIKey, Concurrency: o.Concurrency, Kind: o.Kind, Limits: o.Limits,
		Objective: o.Objective, FirstRequest: o.FirstRequest, Endpoint: o.Endpoint, Transport: o.Transport,
		Network: loadgen.Network{HTTP2: o.HTTP2, Body: o.Body}, Share: o.Share, Peers: t, Dial: w.dial,
		Progress: t.progress, Waiting: t.waiting,
	}
}

// run makes a part, keeps it and prints it.
func (w *worker) run(ctx context.Context, t *task, o *order) {
	cfg := w.config(t, o)
	var p loadgen.Part
	var err error
	if cfg.Workload, err = loadgen.NewWorkload(o.Spec, o.Preflight); err == nil {
		p, err = loadgen.RunPart(ctx, cfg)
	}
	if err != nil {
		t.fail(ctx, err)
		return
	}
	p.Restate(func(at time.Time) time.Time { return time.Unix(0, w.unix(at)) })
	records, err := p.MarshalBinary()
	var blob []byte
	if err == nil {
		blob, err = pack(records)
	}
	if err == nil && len(blob) > maxBlob {
		err = fmt.Errorf("the records of the run are larger than %d MiB: make its time limit shorter", maxBlob>>20)
	}
	if err != nil {
		t.fail(ctx, err)
		return
	}
	t.mu.Lock()
	t.blob = blob
	t.mu.Unlock()
	w.printFrames(t.id, blob, nil)
	t.change(func(st *status) { st.Finished, st.Bytes, st.Sum = true, len(blob), sumOf(blob) })
}

func (w *worker) preflight(ctx context.Context, t *task, o *order) {
	pre, err := loadgen.RunPreflight(ctx, w.config(t, o), o.Spec)
	if err != nil {
		t.fail(ctx, err)
		return
	}
	t.change(func(st *status) { st.Finished, st.Preflight = true, &pre })
}
