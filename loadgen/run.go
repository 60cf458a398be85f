package loadgen

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Run holds cfg.Concurrency streams in flight until the limits are met, drains
// them and returns what was measured. A failing server is a Result with bad
// outcomes, not an error; an error means that the run could not be made, or
// that ctx ended (the partial Result is then valid but marked Stopped).
//
// Nothing is retried, and a stream whose request failed pauses before its next
// one, 50 ms doubling to 1 s, so that a refusing server is not hammered. A run
// in which every request fails ends early (Stopped "errors"). It ends in
// bounded time whatever the server does: at most Ramp + 2 × MaxDuration + 2 ×
// DrainTimeout, and no request outlives RequestTimeout. (The warm-up of a gate
// run is bounded by the time of its requests and by WarmUpDuration.)
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg.Share, cfg.Peers = Share{}, nil
	p, err := RunPart(ctx, cfg)
	if p.record == nil {
		return Result{}, err
	}
	r, mergeErr := MergeParts(cfg, []Part{p})
	return r, errors.Join(err, mergeErr)
}

// campaign is one run in progress.
type campaign struct {
	cfg     Config
	clock   *clock
	net     *netStats
	meter   meter // of the watch, until it has ended
	beat    beat  // as well
	control *control
	client  *client
	link    *link
	bodies  *bodies
	cancel  context.CancelCauseFunc
	shards  []*shard
	samples [][]sample // by worker

	mu           sync.Mutex
	errors       map[Outcome][]string
	drainTimeout int64
}

// hold runs the streams and the watch until all have ended.
func (c *campaign) hold(ctx, requests context.Context) {
	n := c.cfg.Concurrency
	for range min(n, runtime.GOMAXPROCS(0), maxShards) {
		s := newShard()
		s.objective = c.cfg.Objective
		c.shards = append(c.shards, s)
	}
	c.samples = make([][]sample, n)
	circuits := c.circuits(requests)
	defer circuits.hangUp()
	if c.cfg.Peers != nil && !c.assemble(ctx, requests, circuits) {
		return
	}
	var streams, watch sync.WaitGroup
	for i := range n {
		streams.Go(func() { c.stream(ctx, circuits[i], i) })
	}
	ended := make(chan struct{})
	watch.Go(func() { c.watch(ctx, ended) })
	if c.cfg.Peers != nil {
		watch.Go(func() { c.meet(ctx, ended) })
	}
	streams.Wait()
	close(ended)
	watch.Wait()
}

// circuit carries the requests of one stream.
type circuit struct {
	*exchange
	hangUp func()
}

type circuits []circuit

func (c *campaign) circuits(requests context.Context) circuits {
	all := make(circuits, c.cfg.Concurrency)
	for i := range all {
		all[i].exchange, all[i].hangUp = c.link.exchange(requests, c.client, c.net, loadConnectTimeout)
	}
	return all
}

func (l circuits) hangUp() {
	for _, one := range l {
		one.hangUp()
	}
}

// stream is the life of one stream: at most one request in flight.
func (c *campaign) stream(ctx context.Context, e circuit, i int) {
	defer e.hangUp()
	n := c.cfg.Concurrency
	s := c.shards[i%len(c.shards)]
	perStream := c.cfg.Limits.MinRequests/int64(n) + 8
	samples := make([]sample, 0, min(perStream, 64))
	defer func() { c.samples[i] = samples }()
	ramp := c.cfg.Limits.Ramp
	if c.cfg.Kind == Gate {
		ramp = c.cfg.Limits.GateRamp
	}
	ramp = time.Duration(float64(ramp) * c.cfg.place(i))
	if !c.pause(ctx, ramp-time.Duration(c.clock.now())) {
		return
	}
	first, failures := true, 0
	var held ticket
	for ctx.Err() == nil {
		t, wait, ok := c.control.next(held, first)
		if !ok {
			return
		}
		if wait {
			// All streams go at once: what is made now is not between the first
			// one and the last.
			if held = t; held.kept {
				held.ask = c.bodies.body(c.cfg.number(held.number))
			}
			select {
			case <-c.control.barrier:
			case <-c.control.stop:
			case <-ctx.Done():
			}
			c.pause(ctx, ramp)
			e.rested = 0
			continue
		}
		first, held = false, ticket{}
		m := c.request(e.exchange, s, t, i)
		samples = append(samples, m)
		c.control.done(t.phase, m.ok())
		if m.ok() {
			failures = 0
			continue
		}
		failures++
		c.pause(ctx, backOff(failures))
	}
}

// backOff is the pause after the n-th failure in a row of a stream.
func backOff(n int) time.Duration {
	return min(time.Second, 50*time.Millisecond<<min(n-1, 10))
}

// request makes one request and files what it measured.
func (c *campaign) request(e *exchange, s *shard, t ticket, stream int) sample {
	number, ask := c.cfg.number(t.number), t.ask
	if !t.kept {
		ask = c.bodies.body(number)
	}
	if c.cfg.Limits.StopOnSilence > 0 {
		e.heard = &s.lastToken
	}
	e.script.most = chunksFor(ask.out)
	r := e.do(ask.body)
	if r.outcome == OK && r.tokens.Completion > int64(ask.out) {
		// The preflight saw the limit honoured: this count is not to be believed.
		r.outcome = Protocol
		r.text = fmt.Sprintf("usage reports %s where %d %s the limit", plural.Of(r.tokens.Completion, "output token"), ask.out, plural.Verb(ask.out, "was", "were"))
	}
	m := sample{
		phase: t.phase, outcome: r.outcome, marks: r.marks,
		tokens: r.tokens, asked: int64(ask.out), askedIn: int64(ask.in),
	}
	s.add(e, &m)
	c.tell(e, &m, r.text, number, stream)
	if r.outcome != OK {
		c.note(r.outcome, r.text)
	}
	return m
}

const errorsPerOutcome = 3

// note keeps a few different texts of each outcome.
func (c *campaign) note(o Outcome, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.errors[o]
	if len(known) >= errorsPerOutcome {
		return
	}
	for _, k := range known {
		if k == text {
			return
		}
	}
	c.errors[o] = append(known, text)
}

// pause waits; it is cut short by the end of sending and reports whether the
// stream may go on.
func (c *campaign) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.control.stop:
	case <-ctx.Done():
	}
	return false
}

const watchEvery = 100 * time.Millisecond

// watch enforces what no request's end would: the bounds in time, silence, the
// drain, the caller's cancellation; and it reports progress.
func (c *campaign) watch(ctx context.Context, ended <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	cancelled, given := ctx.Done(), c.givenUp()
	begun, stop := c.control.barrier, c.control.stop
	defer func() { c.beat.wake(c.stamp()); c.meter.end(c.clock.now()) }()
	var drain <-chan time.Time
	c.beat.last = c.stamp()
	beats := 0
	for {
		select {
		case <-ended:
			return
		case <-cancelled:
			c.control.haltFor("cancelled")
			cancelled = nil
		case <-given:
			c.control.haltFor(stoppedByPeers)
			given = nil
		case <-begun:
			c.meter.start(c.clock.now())
			begun = nil
		case <-stop:
			c.meter.end(c.clock.now())
			timer := time.NewTimer(c.cfg.Limits.DrainTimeout)
			defer timer.Stop()
			drain, stop = timer.C, nil
		case <-drain:
			c.drainTimeout = c.control.progress().InFlight
			c.cancel(errDrainTimeout)
			drain = nil
		case <-tick.C:
			c.beat.wake(c.stamp())
			c.control.poll()
			if c.silent() {
				c.control.haltFor("silence")
			}
			if beats++; c.cfg.Progress != nil && beats%10 == 0 {
				c.cfg.Progress(c.control.progress())
			}
			c.beat.rest(c.clock.now())
		}
	}
}

// stamp is now, for the beat of the watch.
func (c *campaign) stamp() stamp {
	s := stamp{at: c.clock.now(), used: int64(processCPU())}
	if !c.meter.off {
		s.slept = machineSlept()
	}
	return s
}

// silent reports that requests are in flight and no stream has brought a token
// for the time that the limits allow. While this side did not run, none could.
func (c *campaign) silent() bool {
	limit := int64(c.cfg.Limits.StopOnSilence)
	if limit <= 0 {
		return false
	}
	last, now := c.beat.woke, c.clock.now()
	for _, s := range c.shards {
		last = max(last, s.lastToken.Load())
	}
	return now-last >= limit && c.control.progress().InFlight > 0
}
