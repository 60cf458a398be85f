package loadgen

import (
	"context"
	"net"
	"time"
)

// RunKind says which protocol a run follows; the two are never mixed.
type RunKind string

const (
	// Steady runs feed the knee: ramped start, window after two waves, load
	// topped up until the last measured request has ended, then drained.
	Steady RunKind = "steady"
	// Gate runs feed floors and ceilings. They repeat AICR's protocol: N
	// warm-up requests (or Limits.WarmUpRequests), a synchronised start, a fixed
	// number of requests, a hard drain, and whole-run estimators.
	Gate RunKind = "gate"
)

// Config describes one run. The zero value of every optional field is usable.
type Config struct {
	// BaseURL is the endpoint without /v1, for example http://127.0.0.1:8000.
	BaseURL string
	// Model is sent in every request.
	Model string
	// APIKey is sent as a bearer token; it never reaches a result or an error.
	APIKey string
	// Concurrency is the total number of streams held in flight.
	Concurrency int
	Kind        RunKind
	Limits      Limits
	// Objective, when set, asks for Result.Goodput.
	Objective Objective
	// Workload makes the requests. Request numbers continue at FirstRequest,
	// so that successive runs of a campaign do not repeat prompts by accident.
	Workload     *Workload
	FirstRequest uint64
	Endpoint     Endpoint
	Transport    TransportKind
	Network      Network
	// Share says which part of a run this is, the zero value that it is all of
	// it; Peers joins it with the others.
	Share Share
	Peers Peers
	// OnRequest, when set, is called once for every request as it ends, from
	// the goroutine of its stream: it must not block.
	OnRequest func(Request)
	// Dial replaces the TCP dialler, for in-memory connections. With it set,
	// neither TCP_QUICKACK nor kernel timestamps are available.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Progress, when set, is called about once a second from one goroutine,
	// which also watches the deadlines of the run: it must not block.
	Progress func(Progress)
	// Waiting, when set, is called every few seconds while RunPreflight waits
	// for the server, from one goroutine, with what it waits for and for how
	// long: it must not block.
	Waiting func(what string, since time.Duration)
}

// Limits bound one run.
type Limits struct {
	// MinRequests and MinDuration must both be reached by the measured part of
	// a steady run; MaxDuration ends it early (Result.Capped says so) and
	// bounds its warm-up as well. A gate run sends exactly MinRequests and
	// ignores MinDuration; MaxDuration stops it from issuing more. MinRequests
	// 0 means one a stream, MaxDuration 0 ten minutes.
	MinRequests int64
	MinDuration time.Duration
	MaxDuration time.Duration
	// Ramp spreads the first request of each stream; used by steady runs.
	// AICR's protocol has none: GateRamp is for gate runs that depart from it,
	// and spreads the start of the warm-up and of the measured part.
	Ramp, GateRamp time.Duration
	// WarmUpRequests is how many requests a gate run sends before its measured
	// part (0: one a stream, negative: none). WarmUpDuration ends their sending
	// early (0: never).
	WarmUpRequests int64
	WarmUpDuration time.Duration
	// RequestTimeout bounds one request from send to last byte (0: five
	// minutes); DrainTimeout bounds the wait for the last measured requests
	// and then for the requests in flight at the end (0: two minutes).
	RequestTimeout time.Duration
	DrainTimeout   time.Duration
	// FirstTokenTimeout bounds the time from send to the first token,
	// IdleTimeout the time between two arrivals of anything after it (0: none;
	// RequestTimeout still holds).
	FirstTokenTimeout, IdleTimeout time.Duration
	// StopOnSilence stops sending once no token has arrived for this long
	// while requests are in flight (0 = never). They are drained as usual.
	StopOnSilence time.Duration
}

func (l Limits) withDefaults(streams int) Limits {
	if l.MinRequests <= 0 {
		l.MinRequests = int64(streams)
	}
	switch {
	case l.WarmUpRequests == 0:
		l.WarmUpRequests = int64(streams)
	case l.WarmUpRequests < 0:
		l.WarmUpRequests = 0
	}
	if l.MaxDuration <= 0 {
		l.MaxDuration = 10 * time.Minute
	}
	if l.RequestTimeout <= 0 {
		l.RequestTimeout = 5 * time.Minute
	}
	if l.DrainTimeout <= 0 {
		l.DrainTimeout = 2 * time.Minute
	}
	return l
}

// Progress is a snapshot of a run for a human.
type Progress struct {
	Elapsed   time.Duration
	InFlight  int64
	Completed int64
	Errors    int64
	// MeasuredFraction runs from 0 to 1 over the measured part.
	MeasuredFraction float64
}

// check refuses a configuration before anything is sent and returns the
// cleaned base URL.
func (c *Config) check() (base string, err error) {
	base, err = ParseBaseURL(c.BaseURL)
	switch {
	case err != nil:
		return "", err
	case c.Concurrency < 1:
		return "", badInput("a run needs at least one stream, not %d", c.Concurrency)
	case c.Kind != Steady && c.Kind != Gate:
		return "", badInput("unknown run kind %q: use %q or %q", c.Kind, Steady, Gate)
	case c.Model == "":
		return "", badInput("a run needs the name of a model")
	case c.Workload == nil:
		return "", badInput("a run needs a workload")
	}
	if err := c.Objective.Validate(); err != nil {
		return "", badInput("%v", err)
	}
	if err := c.checkNetwork(base); err != nil {
		return "", err
	}
	if err := c.Workload.servable(c.Endpoint); err != nil {
		return "", err
	}
	if err := c.Share.check(c.Concurrency); err != nil {
		return "", err
	}
	if c.Dial == nil {
		return base, CheckStreams(c.Concurrency)
	}
	return base, nil
}
