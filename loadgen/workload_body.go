package loadgen

import (
	"encoding/json"
	"strconv"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// bodies makes the request bodies of a run.
type bodies struct {
	w          *Workload
	head, tail []byte
	// What goes around a prompt that is a string.
	before, after string
	first         uint64 // number of the run's first request
}

// ask is one request: its body and the tokens it asks for. in counts what the
// chat template adds as well; 0 = not known.
type ask struct {
	body    []byte
	in, out int
}

func (w *Workload) bodies(cfg *Config) *bodies {
	name, _ := json.Marshal(cfg.Model) // a string always marshals
	b := &bodies{w: w, first: cfg.FirstRequest}
	input, limit := "messages", w.limitField
	if cfg.Endpoint == Completions {
		input, limit = "prompt", legacyLimit // the only limit that this API has
	} else {
		b.before, b.after = `[{"role":"user","content":`, `}]`
	}
	b.head = []byte(`{"model":` + string(name) + `,"` + input + `":`)
	extra := cfg.Network.Body // checked by Config.checkNetwork
	tail := []byte(`,"stream":true,"stream_options":{"include_usage":true},`)
	if extra["temperature"] == nil {
		tail = append(tail, `"temperature":0,`...)
	}
	if w.spec.IgnoreEOS && extra["ignore_eos"] == nil {
		tail = append(tail, `"ignore_eos":true,`...)
	}
	tail = appendFields(tail, extra)
	b.tail = append(tail, `"`+limit+`":`...)
	return b
}

// body makes request i, counted over the campaign. The bytes are new each
// time: HTTP may still be sending them when the answer is already there.
func (b *bodies) body(i uint64) ask {
	n := b.place(i)
	if len(b.w.lines) > 0 {
		line := &b.w.lines[n]
		return ask{body: b.with(line.input, line.limit), out: line.limit}
	}
	text, in := b.w.prompt(n)
	a := ask{out: b.w.out.draw(b.w.spec.Seed, n, drawOSL)}
	if b.w.calibrated {
		a.in = in + b.w.overhead
	}
	a.body = b.with(text, a.out)
	return a
}

// place is the prompt of request i. A run that is not to reuse prompts starts
// its pool at the number of its first request: the numbers of runs never meet,
// so neither do their prompts, and nobody has to remember any.
func (b *bodies) place(i uint64) uint64 {
	spec, start := b.w.spec, b.first
	size := uint64(spec.Pool)
	if n := len(b.w.lines); n > 0 {
		size = uint64(n)
		if !spec.ReusePrompts {
			return i % size // a file has nothing beyond its end; see covers
		}
	}
	k := i - start
	if size > 0 {
		k %= size
	}
	if spec.ReusePrompts {
		return k
	}
	return start + k
}

// with puts an input and a limit into a body.
func (b *bodies) with(input []byte, limit int) []byte {
	before, after := b.before, b.after
	if input[0] == '[' { // messages of a file
		before, after = "", ""
	}
	out := make([]byte, 0, len(b.head)+len(before)+len(input)+len(after)+len(b.tail)+12)
	out = append(out, b.head...)
	out = append(out, before...)
	out = append(out, input...)
	out = append(out, after...)
	out = append(out, b.tail...)
	out = strconv.AppendInt(out, int64(limit), 10)
	return append(out, '}')
}

// servable refuses an endpoint that cannot take the prompts.
func (w *Workload) servable(e Endpoint) error {
	if e != Completions {
		return nil
	}
	for _, l := range w.lines {
		if l.input[0] == '[' {
			return badInput("workload %s has messages (line %d), which the endpoint %q does not take: use %q", w.spec.File, l.line, Completions, ChatCompletions)
		}
	}
	return nil
}

// covers refuses a run for which a file has too few prompts left, because it
// would send some of them a second time.
func (w *Workload) covers(cfg *Config, limits Limits) error {
	if w.spec.Name != FromFile || w.spec.ReusePrompts {
		return nil
	}
	warm := limits.WarmUpRequests
	if cfg.Kind == Steady {
		warm = 2 * int64(cfg.Concurrency)
	}
	need, have := cfg.Share.of()*uint64(warm+limits.MinRequests), w.fresh()
	if cfg.FirstRequest+need <= have {
		return nil
	}
	left := have - min(have, cfg.FirstRequest)
	return badInput("workload %s has %s, of which %d %s left, and a run at %s sends at least %d: a prefix cache would answer repeated ones; add prompts, or allow it with --reuse-prompts",
		w.spec.File, plural.Of(len(w.lines), "prompt"), left, plural.Verb(left, "is", "are"), plural.Of(cfg.Concurrency, "stream"), need)
}

// fresh is the number of prompts that runs may send before any repeats: the
// last few of a file belong to the preflight.
func (w *Workload) fresh() uint64 { return uint64(max(0, len(w.lines)-maxProbes)) }

// repeated is how many of the first requests of a part had a prompt that was
// sent before though none should be.
func (w *Workload) repeated(cfg *Config, sent uint64) int64 {
	if w.spec.Name != FromFile || w.spec.ReusePrompts {
		return 0
	}
	first, fresh := cfg.number(0), w.fresh()
	if first < fresh {
		sent -= min(sent, (fresh-first+cfg.Share.of()-1)/cfg.Share.of())
	}
	return int64(sent)
}
