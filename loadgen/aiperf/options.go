package aiperf

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// SLO is a bound that a good request keeps: Tag is a record metric, Value is
// in its unit.
type SLO struct {
	Tag   string
	Value float64
}

// Options is a parsed command line of `aiperf profile`.
type Options struct {
	Model          string
	URL            string
	CustomEndpoint string
	Endpoint       loadgen.Endpoint
	APIKey         string
	Headers        []Input
	Extra          []Input
	LegacyLimit    bool
	Tokenizer      string // recorded, without effect

	Concurrency    int
	Requests       int64         // 0 = what Check finds
	Duration       time.Duration // 0 = no bound
	Grace          time.Duration // after Duration; negative = no bound
	Ramp           time.Duration
	WarmUp         int64
	WarmUpDuration time.Duration
	RequestTimeout time.Duration
	FailedShare    float64 // the run is given up above it; negative = never
	SLOs           []SLO

	ISL, ISLStddev int
	OSL, OSLStddev int
	Prompts        int
	Seed           uint64
	SeedGiven      bool

	WaitForModel, WaitInterval time.Duration
	WaitMode                   string

	ArtifactDir string
	Prefix      string
	Records     bool // --export-level records
	UI          string
}

// Defaults are AIPerf's, but for the request timeout: its six hours would
// outlive every job that this runs in.
func Defaults() Options {
	return Options{
		URL: "http://localhost:8000", Endpoint: loadgen.ChatCompletions,
		Concurrency: 1, Grace: 30 * time.Second, RequestTimeout: 10 * time.Minute, FailedShare: -1,
		ISL: 550, Prompts: 100,
		WaitInterval: 5 * time.Second, WaitMode: "inference",
		ArtifactDir: "artifacts",
	}
}

// unbounded stands for a number of requests that only time ends.
const unbounded = int64(1) << 40

// Check completes the options and refuses what does not fit together.
func (o *Options) Check() error {
	switch {
	case o.Model == "":
		return badInput("--model is missing: name the model to ask for")
	case o.OSL == 0:
		return badInput("--osl is missing: perfsweep holds every answer to an asked length, it does not leave that to the model")
	}
	if err := o.fitEndpoint(); err != nil {
		return err
	}
	switch {
	case o.Requests == 0 && o.Duration > 0:
		o.Requests = unbounded
	case o.Requests == 0:
		o.Requests = max(10, 2*int64(o.Concurrency))
	}
	return nil
}

// fitEndpoint moves the part of --custom-endpoint that precedes the API's own
// path into the URL.
func (o *Options) fitEndpoint() error {
	path := "/v1/chat/completions"
	if o.Endpoint == loadgen.Completions {
		path = "/v1/completions"
	}
	if custom := o.CustomEndpoint; custom != "" {
		if strings.Contains(custom, "://") {
			return badInput("--custom-endpoint %q is a whole URL: give only its path, and the rest as --url", custom)
		}
		prefix, ok := strings.CutSuffix("/"+strings.Trim(custom, "/"), path)
		if !ok {
			return badInput("--custom-endpoint %q: with --endpoint-type %s it must end in %s", custom, o.Endpoint, path)
		}
		o.URL = strings.TrimRight(o.URL, "/") + prefix
	}
	base, err := loadgen.ParseBaseURL(o.URL)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	o.URL = base
	return nil
}

// Spec is the workload that the options describe: the same prompts for the same
// seed, as AIPerf has it.
func (o *Options) Spec() loadgen.WorkloadSpec {
	return loadgen.WorkloadSpec{
		Name: loadgen.Synthetic, ReusePrompts: true, ISL: o.ISL, ISLStddev: o.ISLStddev, OSL: o.OSL, OSLStddev: o.OSLStddev,
		Pool: o.Prompts, Seed: o.Seed,
	}
}

// Config is the run that the options describe: AICR's protocol, which is
// AIPerf's, with its numbers.
func (o *Options) Config() loadgen.Config {
	c := loadgen.Config{
		BaseURL: o.URL, Model: o.Model, APIKey: o.APIKey, Concurrency: o.Concurrency, Kind: loadgen.Gate, Endpoint: o.Endpoint,
		Limits: loadgen.Limits{
			MinRequests: o.Requests, MaxDuration: math.MaxInt64 / 4, GateRamp: o.Ramp, RequestTimeout: o.RequestTimeout,
			// No request is cancelled but by its own timeout.
			DrainTimeout: o.RequestTimeout + time.Minute,
		},
	}
	l := &c.Limits
	if o.Duration > 0 {
		l.MaxDuration = o.Duration
		if o.Grace >= 0 {
			l.DrainTimeout = max(o.Grace, 1)
		}
	}
	switch {
	case o.WarmUp > 0:
		l.WarmUpRequests = o.WarmUp
	case o.WarmUpDuration > 0:
		l.WarmUpRequests = unbounded
	default:
		l.WarmUpRequests = -1
	}
	l.WarmUpDuration = o.WarmUpDuration
	if len(o.Headers) > 0 {
		c.Network.Header = map[string]string{}
		for _, h := range o.Headers {
			c.Network.Header[h.Key] = text(h.Value)
		}
	}
	if len(o.Extra) > 0 {
		c.Network.Body = map[string]json.RawMessage{}
		for _, in := range o.Extra {
			c.Network.Body[in.Key] = in.Value
		}
	}
	return c
}

// merge adds inputs; a key that is given again replaces the earlier value.
func merge(to []Input, more []Input) []Input {
	at := map[string]int{}
	for i, in := range to {
		at[in.Key] = i
	}
	for _, in := range more {
		if i, ok := at[in.Key]; ok {
			to[i] = in
			continue
		}
		at[in.Key] = len(to)
		to = append(to, in)
	}
	return to
}

func badInput(format string, args ...any) error {
	return &loadgen.BadInputError{Msg: fmt.Sprintf(format, args...)}
}
