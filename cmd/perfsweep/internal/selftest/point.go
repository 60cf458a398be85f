package selftest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// Point is one load: Streams streams, a token each ITL after the first.
type Point struct {
	Streams   int
	TTFT, ITL time.Duration
	Tokens    int // an answer
	// Length is how long is measured, after two waves of warm-up.
	Length time.Duration
	// InStep starts all streams at once, so that every wave is a burst: the
	// worst case for a generator. Otherwise their starts are spread.
	InStep bool
}

// answer is how long one answer takes.
func (p Point) answer() time.Duration { return p.TTFT + time.Duration(p.Tokens-1)*p.ITL }

// nominal is what the server gives while every stream is busy.
func (p Point) nominal() float64 {
	return float64(p.Streams*p.Tokens) / p.answer().Seconds()
}

// ramp spreads the starts over an answer, so that streams are out of step; a
// dial costs a millisecond of either side at worst.
func (p Point) ramp() time.Duration {
	return max(p.answer(), time.Duration(p.Streams)*time.Millisecond)
}

// takes is about how long it takes to measure.
func (p Point) takes() time.Duration {
	const startAndStop = 200 * time.Millisecond
	if p.InStep {
		return p.answer() + p.Length + startAndStop
	}
	return p.ramp() + 3*p.answer() + p.Length + startAndStop
}

// Measured is a point and what was found there. Chunks are tokens here: the
// server writes one a chunk.
type Measured struct {
	Streams          int     `json:"streams"`
	ITLMS            float64 `json:"itl_ms"`
	TokensAnAnswer   int     `json:"tokens_per_answer"`
	InStep           bool    `json:"in_step,omitempty"`
	NominalTokPerSec float64 `json:"nominal_chunks_per_s"`
	TokPerSec        float64 `json:"chunks_per_s"` // while all streams were busy
	Requests         int64   `json:"requests"`
	Failed           int64   `json:"failed,omitempty"`
	// TokensAgree says that client and server counted the same tokens.
	TokensAgree bool `json:"tokens_agree"`
	// Lag is arrival in this program minus the kernel's receive time.
	LagP50MS float64 `json:"lag_p50_ms,omitempty"`
	LagP99MS float64 `json:"lag_p99_ms,omitempty"`
	// TTFT error is |measured − the server's own|, request by request.
	TTFTErrors     int     `json:"ttft_error_requests"`
	TTFTErrorP50MS float64 `json:"ttft_error_p50_ms,omitempty"`
	TTFTErrorP99MS float64 `json:"ttft_error_p99_ms,omitempty"`
	// In flight as the server counted it.
	InFlightMax  int     `json:"in_flight_max"`
	InFlightMean float64 `json:"in_flight_mean"`
	Exact        bool    `json:"exact"`
	CPUShare     float64 `json:"cpu_share,omitempty"`
	TokPerCPUSec float64 `json:"tok_per_cpu_s,omitempty"`
	PSSMiB       float64 `json:"pss_mib,omitempty"` // largest seen
	// The server's own lateness and CPU time, and the share of the machine's
	// CPU that went to neither of the two.
	ServerLateP99MS float64 `json:"server_late_p99_ms"`
	ServerCPUSec    float64 `json:"server_cpu_s"`
	OthersCPUShare  float64 `json:"others_cpu_share,omitempty"`
	// ClientBound says, in the words of a sweep, why a run like this one would
	// be INVALID; empty when it would not be.
	ClientBound []string       `json:"client_bound,omitempty"`
	Health      loadgen.Health `json:"health"`
}

const (
	// maxLagMS is the lag above which a machine is said not to keep up.
	maxLagMS = 1
	// defaultSLOMS is the SLO of a sweep unless told otherwise.
	defaultSLOMS = 2000
	// exactShare is how much of the streams must be in flight at the server, on
	// average: the time from an answer's last byte to the next request is lost.
	exactShare = 0.99
)

// limitedBy names what the point failed of: lag, cpu, server or failures.
// It is empty when the machine drove the point.
func (m Measured) limitedBy() string {
	switch {
	case m.Failed > 0 || m.Requests == 0 || !m.TokensAgree:
		return "failures"
	case m.Health.KernelTime && m.LagP99MS >= maxLagMS:
		return "lag"
	case len(m.ClientBound) > 0:
		return "cpu"
	case m.ServerLateP99MS >= maxLagMS || m.TokPerSec < 0.98*m.NominalTokPerSec:
		return "server"
	case !m.Health.KernelTime:
		return "no kernel timestamps"
	}
	return ""
}

// Measure holds one point against a server of its own.
func (c Command) Measure(ctx context.Context, p Point) (Measured, error) {
	skip := 0
	if p.InStep {
		skip = p.Streams // the warm-up of a gate run
	}
	srv, err := c.start(ctx, p, skip)
	if err != nil {
		return Measured{}, err
	}
	cfg, errs, err := p.config(srv.url)
	if err != nil {
		_, _, _ = srv.stop() // the run was never made
		return Measured{}, err
	}
	debug.FreeOSMemory() // what an earlier point left is not this one's
	stop := make(chan struct{})
	peak := make(chan float64)
	go func() { peak <- watchPSS(stop) }()
	cpu, busy, at := processCPU(), machineBusy(), time.Now()
	r, err := loadgen.Run(ctx, cfg)
	cpu, busy = processCPU()-cpu, machineBusy()-busy
	wall := time.Since(at)
	close(stop)
	m := p.found(r, errs.sorted())
	m.PSSMiB = <-peak
	truth, serverCPU, serr := srv.stop()
	switch {
	case err != nil:
		return m, fmt.Errorf("holding %s: %w", plural.Of(p.Streams, "stream"), err)
	case serr != nil:
		return m, serr
	}
	m.InFlightMax, m.InFlightMean = truth.InFlightMax, truth.InFlightMean
	m.Exact = truth.InFlightMax == p.Streams && truth.InFlightMean >= exactShare*float64(p.Streams)
	want := r.TotalOutputTokens
	if p.InStep {
		want = int64(r.WholeRun.OutputTokens)
	}
	m.TokensAgree = truth.Tokens == want
	m.ServerLateP99MS, m.ServerCPUSec = truth.LateP99MS, serverCPU.Seconds()
	if cpu > 0 {
		m.TokPerCPUSec = float64(r.TotalOutputTokens) / cpu.Seconds()
	}
	if busy > 0 {
		m.OthersCPUShare = max(0, (busy-cpu-serverCPU).Seconds()/wall.Seconds()/float64(runtime.NumCPU()))
	}
	return m, nil
}

// errorsOf collects the TTFT errors of a run.
type errorsOf struct {
	mu  sync.Mutex
	all []time.Duration
}

func (e *errorsOf) add(r loadgen.Request) {
	if r.WarmUp || r.TopUp || r.Outcome != loadgen.OK || r.ServerTTFT == 0 || r.FirstToken == 0 {
		return
	}
	d := r.FirstToken - r.Sent - r.ServerTTFT
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, max(d, -d))
}

func (e *errorsOf) sorted() []time.Duration {
	slices.Sort(e.all)
	return e.all
}

func (p Point) config(url string) (loadgen.Config, *errorsOf, error) {
	w, err := loadgen.NewWorkload(loadgen.WorkloadSpec{
		Name: loadgen.Synthetic, ISL: 32, OSL: p.Tokens, Seed: 1,
	}, loadgen.Preflight{WordsPerToken: 1})
	if err != nil {
		return loadgen.Config{}, nil, fmt.Errorf("the prompts of the selftest: %w", err)
	}
	errs := &errorsOf{}
	cfg := loadgen.Config{
		BaseURL: url, Model: "paced", Concurrency: p.Streams, Kind: loadgen.Steady, Workload: w, OnRequest: errs.add,
		Limits: loadgen.Limits{
			MinDuration: p.Length, MaxDuration: p.Length + 2*p.answer() + 10*time.Second,
			// A minute: what a starved machine is late with has not failed.
			Ramp: p.ramp(), DrainTimeout: p.answer() + time.Minute,
		},
	}
	if p.InStep {
		cfg.Kind = loadgen.Gate
		waves := max(1, math.Round(p.Length.Seconds()/p.answer().Seconds()))
		cfg.Limits.MinRequests = int64(waves) * int64(p.Streams)
	}
	return cfg, errs, nil
}

// found is what the generator itself says of the point.
func (p Point) found(r loadgen.Result, errs []time.Duration) Measured {
	m := Measured{
		Streams: p.Streams, ITLMS: ms(p.ITL), TokensAnAnswer: p.Tokens, InStep: p.InStep,
		NominalTokPerSec: p.nominal(), TokPerSec: r.Estimate().OutputTokPerSec,
		Requests: r.All[loadgen.OK], Failed: r.All.Bad(),
		LagP50MS: r.Health.LagP50MS, LagP99MS: r.Health.LagP99MS,
		TTFTErrors: len(errs), CPUShare: r.Health.CPUShare, Health: r.Health,
	}
	if n := len(errs); n > 0 {
		at := func(q float64) float64 { return ms(errs[max(0, int(math.Ceil(q*float64(n)))-1)]) }
		m.TTFTErrorP50MS, m.TTFTErrorP99MS = at(.5), at(.99)
	}
	for _, v := range sweep.Validate(r, loadgen.WorkloadSpec{OSL: p.Tokens}, 0, defaultSLOMS) {
		if v.Gate == "V8" {
			m.ClientBound = append(m.ClientBound, fmt.Sprintf("%s (limit %s)", v.Observed, v.Threshold))
		}
	}
	return m
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
