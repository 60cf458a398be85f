package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Fleet holds several generators that make one run together.
type Fleet struct {
	pods  []Pod
	token string
	base  time.Time // this side's clock, which no step of the wall clock moves
}

// New makes a fleet of pods whose control servers are guarded by a token. Pods
// need not be ready yet: each use waits a while for those that are not.
func New(pods []Pod, token string) *Fleet {
	return &Fleet{pods: slices.Clone(pods), token: token, base: time.Now()}
}

// Size is the number of generators.
func (f *Fleet) Size() int { return len(f.pods) }

func (f *Fleet) now() time.Time { return f.base.Add(time.Since(f.base)) }

const (
	// callTime bounds one call, beyond what it was asked to wait for.
	callTime = 15 * time.Second
	// musterTime is how long a use of the fleet waits for a pod that does not
	// answer, before anything has begun; again is the pause between tries.
	musterTime = 2 * time.Minute
	again      = time.Second
)

// refusedError is what a generator itself said.
type refusedError struct {
	text    string
	unknown bool // it does not know the run: it is another process
	busy    bool // with another run, which may be about to end
}

func (e *refusedError) Error() string { return e.text }

// call makes one call. What the generator refuses is a *refusedError or a
// *loadgen.BadInputError; anything else is the way to it.
func (f *Fleet) call(ctx context.Context, p Pod, path string, in any) (reply, error) {
	wait := callTime
	if c, ok := in.(*call); ok {
		wait += time.Duration(c.WaitMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return reply{}, err
	}
	header := http.Header{TokenHeader: {f.token}, "Content-Type": {"application/json"}}
	b, err := p.Call(ctx, http.MethodPost, path, header, body)
	if err != nil {
		return reply{}, fmt.Errorf("calling generator %s: %w", p.Name(), err)
	}
	var out reply
	if err := json.Unmarshal(b, &out); err != nil {
		return out, fmt.Errorf("calling generator %s: the answer is no answer of a generator: %w", p.Name(), err)
	}
	if out.Error == "" {
		return out, nil
	}
	text := "generator " + p.Name() + ": " + out.Error
	if out.BadInput {
		return out, &loadgen.BadInputError{Msg: text}
	}
	return out, &refusedError{text, out.Unknown, out.Busy}
}

// refused reports that a generator answered, and will not answer otherwise.
func refused(err error) bool {
	var no *refusedError
	var bad *loadgen.BadInputError
	return errors.As(err, &no) || errors.As(err, &bad)
}

// each does something for every member at once and joins the errors.
func each(members []*member, do func(*member) error) error {
	errs := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() { errs[i] = do(m) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// sleep waits unless ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Preflight is loadgen.RunPreflight, made by the first generator. One that is
// lost meanwhile is a loadgen.NotYetError: what takes its place may do.
func (f *Fleet) Preflight(ctx context.Context, cfg loadgen.Config, spec loadgen.WorkloadSpec) (loadgen.Preflight, error) {
	o, err := orderOf(cfg, spec, loadgen.Preflight{})
	if err != nil {
		return loadgen.Preflight{}, err
	}
	crew, err := f.muster(ctx, 1)
	if err != nil {
		return loadgen.Preflight{}, err
	}
	m := crew[0]
	m.run = o.Run
	defer m.abort(ctx)
	if _, err := m.ask(ctx, pathPreflight, o); err != nil {
		return loadgen.Preflight{}, m.orLater(err)
	}
	for {
		st, err := m.await(ctx, o.Run, "", preflightWait)
		switch {
		case err != nil:
			return loadgen.Preflight{}, m.orLater(err)
		case st.Finished && st.BadInput:
			return loadgen.Preflight{}, &loadgen.BadInputError{Msg: st.Error}
		case st.Finished && st.Error != "":
			err := fmt.Errorf("from generator %s: %s", m.pod.Name(), st.Error)
			if st.NotYet {
				err = &loadgen.NotYetError{Err: err}
			}
			return loadgen.Preflight{}, err
		case st.Finished && st.Preflight != nil:
			return *st.Preflight, nil
		case st.Finished:
			return loadgen.Preflight{}, fmt.Errorf("generator %s ended the preflight without a result", m.pod.Name())
		case st.Waiting != "" && cfg.Waiting != nil:
			cfg.Waiting(st.Waiting, time.Duration(st.WaitingMS)*time.Millisecond)
		}
	}
}

const preflightWait = 5 * time.Second

// orderOf is a run, or a preflight, in the form that travels. What does not
// travel is refused: files and sockets are of this machine, and headers and keys
// are secrets, which a generator has of its own.
func orderOf(cfg loadgen.Config, spec loadgen.WorkloadSpec, pre loadgen.Preflight) (*order, error) {
	n := cfg.Network
	switch {
	case n.CAFile != "" || n.CertFile != "" || n.KeyFile != "" || n.UnixSocket != "" || n.ProxyFromEnvironment:
		return nil, &loadgen.BadInputError{Msg: "certificates, Unix sockets and proxies of this machine do not reach generators elsewhere: leave their flags out"}
	case len(n.Header) > 0:
		return nil, &loadgen.BadInputError{Msg: "headers may be secrets and are not sent to generators elsewhere: leave them out; an API key comes from a Secret of the cluster"}
	case spec.Name == loadgen.FromFile:
		return nil, &loadgen.BadInputError{Msg: "a file of prompts is on this machine and not where the generators are: use another workload"}
	}
	pre.Models, pre.Warnings = nil, nil
	return &order{
		Version: protocolVersion, Run: newRun(), BaseURL: cfg.BaseURL, Model: cfg.Model, Concurrency: cfg.Concurrency,
		Kind: cfg.Kind, Limits: cfg.Limits, Objective: cfg.Objective, Share: cfg.Share, FirstRequest: cfg.FirstRequest,
		Endpoint: cfg.Endpoint, Transport: cfg.Transport, HTTP2: n.HTTP2, Body: n.Body, Spec: spec, Preflight: pre,
	}, nil
}
