// Package observetest measures levels of a deployment under watch for tests: with
// the load generator, as a sweep does, while its pages are read.
package observetest

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
	"github.com/perfsweep/perfsweep/sweep/observe/bothsides"
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
	// After, if any, adds to what a level's run measured.
	After func(*loadgen.Result)
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
		level, r := d.measure(t, cfg, watch, spec)
		level.ConcurrencyPerGPU, level.GPUs = n, d.GPUs
		levels = append(levels, level)
		first, residence = r.NextRequest, time.Duration(r.Window.E2EMeanMS*float64(time.Millisecond))
	}
	return levels
}

// measure makes one run and joins what both sides say of its measured part.
func (d Deployment) measure(t *testing.T, cfg loadgen.Config, watch observe.Watch, spec loadgen.WorkloadSpec) (observe.Level, loadgen.Result) {
	t.Helper()
	watcher, err := watch.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := loadgen.Run(t.Context(), cfg)
	snaps := watcher.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if d.After != nil {
		d.After(&r)
	}
	span, _ := bothsides.Span(snaps, r) // a run without a measured part is a level without a word
	return observe.Level{Client: bothsides.Client(r, sweep.Validate(r, spec, 0, 2000)), Span: span}, r
}
