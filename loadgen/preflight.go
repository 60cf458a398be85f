package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Preflight is what was learned of an endpoint before any load.
type Preflight struct {
	Models []string `json:"models,omitempty"`
	Model  string   `json:"model"`
	// ServedModel is the name that an answer gave where it was another than
	// Model, which was asked for.
	ServedModel string `json:"served_model,omitempty"`
	// A prompt of n words has OverheadTokens for the chat template, n /
	// WordsPerToken for its words, and NumberTokens more because its first
	// words are numbers, by the server's own count.
	WordsPerToken  float64 `json:"words_per_token"`
	OverheadTokens float64 `json:"overhead_tokens"`
	NumberTokens   float64 `json:"number_tokens,omitempty"`
	// OutputLimitField is the name under which the server takes the output
	// limit: max_completion_tokens, or max_tokens where it refused or ignored
	// the former.
	OutputLimitField string `json:"output_limit_field"`
	// HangsUp says that the server closes the connection after each answer
	// without announcing it.
	HangsUp bool `json:"hangs_up,omitempty"`
	// Token totals of the probes, so that the campaign's total can be compared
	// with the server's own counter.
	OutputTokens int64 `json:"output_tokens"`
	PromptTokens int64 `json:"prompt_tokens"`
	Requests     int64 `json:"requests"`
	// TTFTMS and E2EMS are those of the last, warm probe; SlowestTTFTMS is the
	// largest of all probes (a cold start or a stall before any load).
	TTFTMS        float64 `json:"ttft_ms"`
	E2EMS         float64 `json:"e2e_ms"`
	SlowestTTFTMS float64 `json:"slowest_ttft_ms"`
	// ChunkGapMS is the mean gap between the chunks of the last probe: what a
	// stream brings at most, as engines slow down under load.
	ChunkGapMS float64 `json:"chunk_gap_ms,omitempty"`
	// StreamITLMS is the time an output token takes with one request in flight,
	// of the last probe: what one worker does for a single stream.
	StreamITLMS float64 `json:"stream_itl_ms,omitempty"`
	// ServerTTFTMS is the server's own TTFT of one more probe, ClientTTFTMS what
	// was measured of the same request; absent where the server does not tell.
	ServerTTFTMS float64 `json:"server_ttft_ms,omitempty"`
	ClientTTFTMS float64 `json:"client_ttft_ms,omitempty"`
	// WorkerID is the worker that served that probe, and PrefillWorkerID the one
	// that read its prompt, where another did: 64-bit numbers in decimal, as text,
	// because they lie above what a float holds. Absent where not told.
	WorkerID        string   `json:"worker_id,omitempty"`
	PrefillWorkerID string   `json:"prefill_worker_id,omitempty"`
	Warnings        []string `json:"warnings,omitempty"`
}

const (
	// The first token of a cold engine has been seen to take 42 s.
	probeFirstToken = time.Minute
	probeIdle       = 30 * time.Second
	probeTimeout    = 2 * time.Minute
	maxProbes       = 5
	// Two successive TTFTs within this factor mean a warm server.
	warmFactor = 2
)

// RunPreflight lists the models, picks one (cfg.Model, or the only one there
// is), checks that it streams with usage, warms it with a few probes at
// concurrency 1 and calibrates prompt length. An unreachable endpoint, a model
// that is not served and an answer without usage are errors; a NotYetError where
// the server may only have to become ready.
func RunPreflight(ctx context.Context, cfg Config, spec WorkloadSpec) (Preflight, error) {
	base, err := ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return Preflight{}, err
	}
	if err := cfg.checkNetwork(base); err != nil {
		return Preflight{}, err
	}
	link, err := cfg.link(base)
	if err != nil {
		return Preflight{}, err
	}
	wait := startWaiting(cfg.Waiting)
	defer wait.end()
	cfg.Limits = cfg.Limits.probeLimits()
	cfg.Transport = Native // which transport carries the load is not in question here
	run := &clock{start: time.Now()}
	transport := newTransport(link, run, &netStats{}, preflightConnectTimeout)
	defer transport.CloseIdleConnections()

	p := Preflight{WordsPerToken: 1, OutputLimitField: modernLimit}
	if cfg.Endpoint == Completions {
		p.OutputLimitField = legacyLimit // this API never had the other
	}
	wait.on("the list of models")
	seen := &lastAnswer{next: transport}
	if err := p.chooseModel(ctx, &cfg, base, seen); err != nil {
		return p, seen.judge(err)
	}
	w, err := NewWorkload(spec, p)
	if err == nil {
		err = w.servable(cfg.Endpoint)
	}
	if err != nil {
		return p, err
	}
	client, err := newClient(&cfg, base, run)
	if err != nil {
		return p, err
	}
	e, hangUp := link.exchange(ctx, client, &netStats{}, preflightConnectTimeout)
	defer hangUp()
	e.script.naming = true
	probe := &prober{p: &p, w: w, e: e, cfg: &cfg, wait: wait}
	if err := probe.warm(); err != nil {
		return p, err
	}
	if spec.Name != FromFile {
		probe.calibrate()
	}
	probe.serverTiming()
	return p, nil
}

// chooseModel applies the rules for the model's name.
func (p *Preflight) chooseModel(ctx context.Context, cfg *Config, base string, t http.RoundTripper) error {
	models, err := listModels(ctx, cfg, base, t)
	var missing *noListError
	if errors.As(err, &missing) && cfg.Model != "" {
		p.Model = cfg.Model
		p.Warnings = append(p.Warnings, "the server has no /v1/models: whether it serves the model is not known")
		return nil
	}
	if err != nil {
		return err
	}
	p.Models = models
	served := listed(models)
	switch {
	case len(models) == 0:
		return &NotYetError{errors.New("the server lists no model yet: wait until its workers are ready (GET /v1/models)")}
	case cfg.Model == "" && len(models) > 1:
		return badInput("the server has several models: choose one of %s", served)
	case cfg.Model == "":
		p.Model = models[0]
		return nil
	}
	for _, m := range models {
		if m == cfg.Model {
			p.Model = m
			return nil
		}
	}
	return badInput("the server does not serve the model %q; it serves %s", cfg.Model, served)
}

// prober sends the probes of a preflight, one after the other.
type prober struct {
	p    *Preflight
	w    *Workload
	e    *exchange
	cfg  *Config
	wait *waiter
	// Words and prompt tokens of answered probes with prompts of our making.
	words, tokens []float64
}

// probeNumber keeps the prompts of probes apart from those of any run.
const probeNumber = uint64(1) << 62

// warm probes until two successive TTFTs agree. Prompt lengths alternate
// between half and all of the ISL, which is what calibrate needs.
func (pr *prober) warm() error {
	last := 0.0
	for i := range maxProbes {
		r, err := pr.send(i)
		if err != nil {
			return err
		}
		p := pr.p
		p.E2EMS = float64(r.last-r.sent) / nsPerMS
		p.TTFTMS = float64(r.first-r.sent) / nsPerMS
		p.SlowestTTFTMS = max(p.SlowestTTFTMS, p.TTFTMS)
		if n := len(pr.e.script.times); n > 1 {
			p.ChunkGapMS = float64(r.last-r.first) / float64(n-1) / nsPerMS
		}
		if n := r.tokens.Completion; n > 1 && r.first > 0 {
			p.StreamITLMS = float64(r.last-r.first) / float64(n-1) / nsPerMS
		}
		if r.first == 0 {
			p.E2EMS, p.TTFTMS = float64(r.end-r.sent)/nsPerMS, 0
		}
		if last > 0 && p.TTFTMS > 0 && p.TTFTMS <= warmFactor*last && last <= warmFactor*p.TTFTMS {
			return nil
		}
		last = p.TTFTMS
	}
	if last == 0 {
		pr.p.Warnings = append(pr.p.Warnings, "no probe had a visible token: TTFT cannot be measured on this model")
	} else {
		pr.p.Warnings = append(pr.p.Warnings, fmt.Sprintf("TTFT did not settle in %d probes: the last two differ by more than ×%d", maxProbes, warmFactor))
	}
	return nil
}

// send makes probe i; a server that refuses or ignores max_completion_tokens
// is asked once more with max_tokens.
func (pr *prober) send(i int) (reply, error) {
	r, words, asked := pr.try(i)
	if pr.w.limitField == modernLimit {
		refused := r.outcome == HTTPStatus && strings.Contains(r.text, modernLimit)
		ignored := r.outcome == OK && r.tokens.Completion > int64(asked)
		if refused || ignored {
			pr.w.limitField, pr.p.OutputLimitField = legacyLimit, legacyLimit
			pr.p.Warnings = append(pr.p.Warnings, "the server does not honour max_completion_tokens: max_tokens is sent instead")
			r, words, asked = pr.try(i)
		}
	}
	if r.outcome != OK {
		return r, pr.failure(r)
	}
	pr.learnHangUp()
	if r.tokens.Completion > int64(asked) {
		return r, fmt.Errorf("the server gave %s where %d %s the limit: it honours neither %s nor %s", plural.Of(r.tokens.Completion, "output token"), asked, plural.Verb(asked, "was", "were"), modernLimit, legacyLimit)
	}
	if pr.w.spec.IgnoreEOS && r.tokens.Completion < int64(asked) && i == 0 {
		pr.p.Warnings = append(pr.p.Warnings, fmt.Sprintf("the server gave %d of %s though ignore_eos was sent: it does not honour it, and runs will fail gate V4", r.tokens.Completion, plural.Of(asked, "output token")))
	}
	if words > 0 {
		pr.words = append(pr.words, float64(words))
		pr.tokens = append(pr.tokens, float64(r.tokens.Prompt))
	}
	return r, nil
}

func (pr *prober) try(i int) (r reply, words, asked int) {
	b := pr.bodies()
	var body []byte
	if n := len(pr.w.lines); n > 0 {
		line := pr.w.lines[(n-1-i%n)%n] // the last ones; see fresh
		body, asked = b.with(line.input, line.limit), line.limit
	} else {
		words, asked = pr.w.spec.ISL, pr.w.spec.OSL
		if i%2 == 0 {
			words = (words + 1) / 2
		}
		body = b.with(pr.w.words(probeNumber+uint64(i), words, numbers), asked)
	}
	return pr.do(body), words, asked
}

func (pr *prober) bodies() *bodies {
	return pr.w.bodies(&Config{Model: pr.p.Model, Endpoint: pr.cfg.Endpoint, Network: pr.cfg.Network})
}

// do sends one body and counts it.
func (pr *prober) do(body []byte) reply {
	pr.wait.on(fmt.Sprintf("the answer to single request %d", pr.p.Requests+1))
	r := pr.e.do(body)
	pr.p.Requests++
	pr.p.OutputTokens += r.tokens.Completion
	pr.p.PromptTokens += r.tokens.Prompt
	if r.outcome == OK {
		pr.p.servedAs(cleanText(pr.e.script.model, pr.e.secrets...))
	}
	return r
}

// probeFailure says what a failed probe means for the user.
func probeFailure(r reply) error {
	hint := ""
	switch {
	case r.outcome == Shed:
		hint = "; the server refuses even a single request: is it ready?"
	case strings.Contains(r.text, "stream_options"):
		hint = "; tokens are counted from usage, which this server must stream"
	case strings.Contains(r.text, "ignore_eos"):
		hint = "; without it the output length is the model's own: ask for that with --ignore-eos=false"
	case strings.Contains(r.text, "status 401"), strings.Contains(r.text, "status 403"):
		hint = "; does it need an API key?"
	}
	return fmt.Errorf("a single request failed (%s): %s%s", r.outcome, r.text, hint)
}
