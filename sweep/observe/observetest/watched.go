// Package observetest measures levels of a deployment under watch for tests: with
// the load generator, as a sweep does, while its pages are read.
package observetest

import (
	"context"
	"math"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// Deployment is how to reach one and what to watch of it.
type Deployment struct {
	Base, Model string
	GPUs        int
	// Dial is the way to one in memory; nil is the network's.
	Dial func(context.Context, string, string) (net.Conn, error)
	// Pages are the workers' own; the frontend's is watched in any case.
	Pages []string
	// Before, if any, is called before each level with its index.
	Before func(level int)
}

// Sweep measures concurrencies per GPU, ascending, for some time each.
func (d Deployment) Sweep(t *testing.T, spec loadgen.WorkloadSpec, each time.Duration, perGPU ...int) []observe.Level {
	t.Helper()
	pre, err := loadgen.RunPreflight(t.Context(), loadgen.Config{BaseURL: d.Base, Model: d.Model, Dial: d.Dial}, spec)
	if err != nil {
		t.Fatal(err)
	}
	w, err := loadgen.NewWorkload(spec, pre)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: d.Dial}
	defer transport.CloseIdleConnections()
	watch := observe.Watch{Model: d.Model}
	for _, page := range append([]string{d.Base + "/metrics"}, d.Pages...) {
		watch.Sources = append(watch.Sources, observe.Source{URL: page, Client: &http.Client{Transport: transport}})
	}
	var levels []observe.Level
	first, residence := uint64(0), time.Duration(pre.E2EMS*float64(time.Millisecond))
	for i, n := range perGPU {
		if d.Before != nil {
			d.Before(i)
		}
		cfg := loadgen.Config{
			BaseURL: d.Base, Model: d.Model, Dial: d.Dial, Concurrency: n * d.GPUs, Kind: loadgen.Steady, Workload: w, FirstRequest: first,
			Limits: loadgen.Limits{MinRequests: int64(n * d.GPUs), MinDuration: each, MaxDuration: 6 * each, Ramp: min(residence, each)},
		}
		level, r := measure(t, cfg, watch, spec)
		level.ConcurrencyPerGPU, level.GPUs = n, d.GPUs
		levels = append(levels, level)
		first, residence = r.NextRequest, time.Duration(r.Window.E2EMeanMS*float64(time.Millisecond))
	}
	return levels
}

// measure makes one run and joins what both sides say of its measured part,
// which begins with the first request that is measured.
func measure(t *testing.T, cfg loadgen.Config, watch observe.Watch, spec loadgen.WorkloadSpec) (observe.Level, loadgen.Result) {
	t.Helper()
	var mu sync.Mutex
	from := time.Duration(math.MaxInt64)
	cfg.OnRequest = func(q loadgen.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !q.WarmUp && !q.TopUp && q.Sent > 0 {
			from = min(from, q.Sent)
		}
	}
	watcher, err := watch.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := loadgen.Run(t.Context(), cfg)
	snaps := watcher.Stop()
	if err != nil {
		t.Fatal(err)
	}
	c := client(r, spec)
	start := r.Started.Add(from)
	span := observe.Summarize(snaps, start, start.Add(time.Duration(float64(len(c.Series))*c.SeriesS*float64(time.Second))))
	span.Events = observe.Events(start, snaps, span, c)
	return observe.Level{Client: c, Span: span}, r
}

// client is what the load generator knows of its own run.
func client(r loadgen.Result, spec loadgen.WorkloadSpec) observe.Client {
	e := r.Estimate()
	c := observe.Client{
		Streams: r.Concurrency, InFlight: r.Health.DeliveredConcurrency, OK: r.Measured[loadgen.OK], Shed: r.Measured[loadgen.Shed],
		OutputTokPerSec: e.OutputTokPerSec, TTFTP50MS: e.TTFTP50MS, ITLMeanMS: e.ITLMeanMS, GapP50MS: e.GapP50MS,
		Series: r.Series, SeriesS: r.SeriesSeconds, LongestSilenceMS: r.LongestSilenceMS,
		LagP99MS: r.Health.LagP99MS, RunQueueShare: r.Health.RunQueueShare,
	}
	c.Other = r.Measured.Total() - c.OK - c.Shed
	for _, v := range sweep.Validate(r, spec, 0, 2000) {
		if v.Gate == "V8" || v.Gate == "V3" && r.Measured.Bad() == 0 {
			c.ClientBound, c.ClientWhy = true, v.Observed
		}
	}
	return c
}
