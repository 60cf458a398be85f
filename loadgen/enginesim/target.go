package enginesim

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// key is one setting of a target. Faults are hidden from a fingerprint, as a
// sick cluster hides its sickness.
type key struct {
	name, values, what string
	fault              bool
	get                func(Params) string
	set                func(*Params, string) error
}

func keys() []key {
	integer := func(name, what string, lo, hi int, field func(*Params) *int) key {
		return key{name: name, values: fmt.Sprintf("%d..%d", lo, hi), what: what,
			get: func(p Params) string { return strconv.Itoa(*field(&p)) },
			set: func(p *Params, s string) (err error) { *field(p), err = parseInt(s, lo, hi); return err }}
	}
	real := func(name, values, what string, lo, hi float64, field func(*Params) *float64) key {
		return key{name: name, values: values, what: what, fault: true,
			get: func(p Params) string { return strconv.FormatFloat(*field(&p), 'g', -1, 64) },
			set: func(p *Params, s string) (err error) { *field(p), err = parseFloat(s, lo, hi); return err }}
	}
	lost := integer("lost", "workers that are gone", 0, maxGPUs*8-1, func(p *Params) *int { return &p.Lost })
	lost.fault = true
	return []key{
		integer("gpus", "GPUs, each with the preset's law; a frontend ceiling is not scaled", 1, maxGPUs, func(p *Params) *int { return &p.GPUs }),
		{name: "model", values: "NAME", what: "the served model's name",
			get: func(p Params) string { return p.Model }, set: func(p *Params, s string) error { p.Model = s; return checkName(s) }},
		{name: "router", values: "least-loaded|round-robin", what: "how requests are spread over workers",
			get: func(p Params) string { return string(p.Router) }, set: setRouter},
		integer("chunk", "tokens a chunk, after a first one of 1 token", 1, maxChunk, func(p *Params) *int { return &p.Chunk }),
		real("speed", "0.01..100", "factor on everything that the engine does", 0.01, 100, func(p *Params) *float64 { return &p.Speed }),
		real("stall", "0..0.9 in tenths", "share of 5 s windows that stand still, the first of ten always", 0, 0.9, func(p *Params) *float64 { return &p.Stall }),
		real("noise", "0..0.5", "standard deviation of ln throughput between runs", 0, 0.5, func(p *Params) *float64 { return &p.Noise }),
		{name: "seed", values: "0..2^64-1", what: "seed of all that is random", fault: true,
			get: func(p Params) string { return strconv.FormatUint(p.Seed, 10) }, set: setSeed},
		real("sick", "0.01..1", "speed of the last worker, as a factor", 0.01, 1, func(p *Params) *float64 { return &p.Sick }),
		lost,
		real("truncated", "0..1", "share of streams that are cut", 0, 1, func(p *Params) *float64 { return &p.Truncated }),
		real("inband", "0..1", "share of streams that end in an error event", 0, 1, func(p *Params) *float64 { return &p.InBand }),
	}
}

// KeyInfo describes a key of a target for help texts and completion.
type KeyInfo struct{ Name, Values, What, Default string }

// KeyInfos lists the keys of a target.
func KeyInfos() []KeyInfo {
	var infos []KeyInfo
	for _, k := range keys() {
		infos = append(infos, KeyInfo{k.name, k.values, k.what, k.byDefault()})
	}
	return infos
}

// byDefault is the value that a key has in the presets, with the one that has
// another.
func (k key) byDefault() string {
	const differs = "the preset's"
	have := map[string][]string{}
	for _, e := range presets() {
		value := k.get(e.p)
		have[value] = append(have[value], e.info.Name)
	}
	usual, other := "", ""
	for value, names := range have {
		switch {
		case len(names) > 1 && usual != "", len(names) == 1 && other != "":
			return differs
		case len(names) > 1:
			usual = value
		default:
			other = "; " + value + " of " + names[0]
		}
	}
	return usual + other
}

// KeyHelp lists the keys of a target for help texts, a line that names the key and
// its values and one that says what they mean.
func KeyHelp() string {
	var b strings.Builder
	for _, k := range KeyInfos() {
		fmt.Fprintf(&b, "  %s=%s (default %s)\n      %s\n", k.Name, k.Values, k.Default, k.What)
	}
	return b.String()
}

// ParseTarget reads what follows "sim:", PRESET[?key=value&…].
func ParseTarget(s string) (Params, error) {
	name, query, _ := strings.Cut(s, "?")
	p, ok := preset(name)
	if !ok {
		return Params{}, fmt.Errorf("simulator target %q: no preset is called %q; there are %s", s, name, strings.Join(presetNames(), ", "))
	}
	known := keys()
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		i := slices.IndexFunc(known, func(k key) bool { return k.name == name })
		if i < 0 {
			return Params{}, fmt.Errorf("simulator target %q: unknown key %q; the keys are %s", s, name, keyList())
		}
		if seen[name] {
			return Params{}, fmt.Errorf("simulator target %q: key %q is given twice", s, name)
		}
		seen[name] = true
		value, err := url.QueryUnescape(value)
		if err == nil {
			err = known[i].set(&p, value)
		}
		if err != nil {
			return Params{}, fmt.Errorf("simulator target %q: %s=%s: %w; the keys are %s", s, name, value, err, keyList())
		}
	}
	if err := p.Validate(); err != nil {
		return Params{}, fmt.Errorf("simulator target %q: %w", s, err)
	}
	return p, nil
}

// String is the target that makes these parameters, without "sim:".
func (p Params) String() string { return p.target(true) }

// Public is String without the fault keys: what a fingerprint may know.
func (p Params) Public() string { return p.target(false) }

func (p Params) target(faults bool) string {
	base, _ := preset(p.Preset)
	var pairs []string
	for _, k := range keys() {
		if got := k.get(p); got != k.get(base) && (faults || !k.fault) {
			pairs = append(pairs, k.name+"="+url.QueryEscape(got))
		}
	}
	if len(pairs) == 0 {
		return p.Preset
	}
	return p.Preset + "?" + strings.Join(pairs, "&")
}

func keyList() string {
	var list []string
	for _, k := range keys() {
		list = append(list, k.name+"="+k.values)
	}
	return strings.Join(list, ", ")
}

func parseInt(s string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("want a whole number from %d to %d", lo, hi)
	}
	return n, nil
}

func parseFloat(s string, lo, hi float64) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= lo && v <= hi) {
		return 0, fmt.Errorf("want a number from %g to %g", lo, hi)
	}
	return math.Abs(v), nil // not −0
}

func setSeed(p *Params, s string) error {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return errors.New("want a whole number from 0 to 2^64-1")
	}
	p.Seed = v
	return nil
}

func setRouter(p *Params, s string) error {
	p.Router = Router(s)
	if p.Router != LeastLoaded && p.Router != RoundRobin {
		return errors.New("want least-loaded or round-robin")
	}
	return nil
}

func checkName(s string) error {
	if s == "" || len(s) > 200 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("want 1 to 200 printable characters without spaces")
	}
	return nil
}
