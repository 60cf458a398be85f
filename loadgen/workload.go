package loadgen

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// WorkloadSpec describes the requests of a campaign; it is recorded in the
// journal and is part of the fingerprint.
type WorkloadSpec struct {
	// Name is "aicr", "synthetic" or "file".
	Name string `json:"name"`
	// ISL and OSL are mean input and output tokens, with standard deviations.
	ISL       int    `json:"isl"`
	ISLStddev int    `json:"isl_stddev"`
	OSL       int    `json:"osl"`
	OSLStddev int    `json:"osl_stddev"`
	Pool      int    `json:"pool"` // distinct prompts; 0 = every request its own
	Seed      uint64 `json:"seed"`
	// IgnoreEOS is sent by synthetic workloads only.
	IgnoreEOS bool `json:"ignore_eos"`
	// File and FileSHA256 name a JSON Lines workload.
	File       string `json:"file,omitempty"`
	FileSHA256 string `json:"file_sha256,omitempty"`
}

// The workloads.
const (
	AICR      = "aicr"
	Synthetic = "synthetic"
	FromFile  = "file"
)

// DefaultSpec returns the spec of a workload as it is without further options.
// "aicr" has the arguments of AICR's inference-perf job; "synthetic" draws a
// prompt for every request.
func DefaultSpec(name string) (WorkloadSpec, error) {
	switch name {
	case AICR:
		return WorkloadSpec{Name: AICR, ISL: 128, OSL: 128, Pool: 100, Seed: 100}, nil
	case Synthetic:
		return WorkloadSpec{Name: Synthetic, ISL: 128, OSL: 128, Seed: 1, IgnoreEOS: true}, nil
	case FromFile:
		return WorkloadSpec{Name: FromFile}, nil
	}
	return WorkloadSpec{}, badInput("unknown workload %q: use %q, %q or a JSON Lines file", name, AICR, Synthetic)
}

// Bounds of a spec; above them a typing error is likelier than a wish.
const (
	maxTokens = 1 << 20
	maxPool   = 1 << 16
)

func (s WorkloadSpec) check() error {
	switch {
	case s.Name == FromFile:
		return nil
	case s.Name != AICR && s.Name != Synthetic:
		return badInput("unknown workload %q: use %q, %q or a JSON Lines file", s.Name, AICR, Synthetic)
	case s.ISL < 1 || s.ISL > maxTokens || s.OSL < 1 || s.OSL > maxTokens:
		return badInput("ISL %d and OSL %d must be between 1 and %d tokens", s.ISL, s.OSL, maxTokens)
	case s.ISLStddev < 0 || s.ISLStddev > maxTokens || s.OSLStddev < 0 || s.OSLStddev > maxTokens:
		return badInput("standard deviations of ISL (%d) and OSL (%d) must not be negative", s.ISLStddev, s.OSLStddev)
	case s.Pool < 0 || s.Pool > maxPool:
		return badInput("a pool of %d prompts: use 0 (every request its own) to %d", s.Pool, maxPool)
	case s.IgnoreEOS && s.Name != Synthetic:
		return badInput("ignore_eos belongs to the %q workload only: %q lets the model end its answers", Synthetic, s.Name)
	}
	return nil
}

// Workload makes request bodies; request i is a function of (spec, i) alone.
type Workload struct {
	spec          WorkloadSpec
	wordsPerToken float64
	limitField    string
	hangsUp       bool
	prompts       [][]byte // as JSON strings; empty = made per request
	limits        []int    // output tokens of file prompts
}

// The names under which servers take the output limit.
const (
	modernLimit = "max_completion_tokens"
	legacyLimit = "max_tokens"
)

// NewWorkload builds the generator of a spec, with the prompt length
// calibration of a preflight. Prompts of a pool and of a file are made here,
// so that no run does it in measured time.
func NewWorkload(spec WorkloadSpec, pre Preflight) (*Workload, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	w := &Workload{spec: spec, wordsPerToken: pre.WordsPerToken, limitField: pre.OutputLimitField, hangsUp: pre.HangsUp}
	if !(w.wordsPerToken > 0) || w.wordsPerToken > 100 {
		w.wordsPerToken = 1
	}
	if w.limitField != legacyLimit {
		w.limitField = modernLimit
	}
	if spec.Name == FromFile {
		return w, w.load()
	}
	for i := range spec.Pool {
		w.prompts = append(w.prompts, w.prompt(uint64(i)))
	}
	return w, nil
}

// Spec returns the spec; that of a file workload has the file's digest.
func (w *Workload) Spec() WorkloadSpec { return w.spec }

// Streams of randomness: each draw of a request has its own.
const (
	drawISL uint64 = iota + 1
	drawOSL
	drawWord
)

// prompt is prompt i as a JSON string.
func (w *Workload) prompt(i uint64) []byte {
	tokens := draw(w.spec.Seed, i, drawISL, w.spec.ISL, w.spec.ISLStddev)
	words := max(1, int(math.Round(float64(tokens)*w.wordsPerToken)))
	return appendWords([]byte{'"'}, w.spec.Seed, i, words, '"')
}

// appendWords writes words of prompt i. The first two of every sixteen are
// "w" and a number: a tokenizer that only knows such words (those of test
// engines) would otherwise see equal prompts, and with real ones any two
// prompts differ in their first block, so no prefix cache joins them.
func appendWords(dst []byte, seed, i uint64, words int, end byte) []byte {
	for k := range words {
		if k > 0 {
			dst = append(dst, ' ')
		}
		r := mix(seed, i, drawWord, uint64(k))
		if k%16 < 2 {
			dst = append(dst, 'w')
			dst = strconv.AppendUint(dst, 3+r%2045, 10)
		} else {
			dst = append(dst, commonWords[r%uint64(len(commonWords))]...)
		}
	}
	return append(dst, end)
}

// outputLimit is the number of output tokens that request i asks for.
func (w *Workload) outputLimit(i uint64) int {
	if w.limits != nil {
		return w.limits[i%uint64(len(w.limits))]
	}
	return draw(w.spec.Seed, i, drawOSL, w.spec.OSL, w.spec.OSLStddev)
}

// bodies makes the request bodies of a run.
type bodies struct {
	w          *Workload
	head, tail []byte
}

// bodyShape is what the requests of a run have in common beside the workload.
type bodyShape struct {
	model    string
	endpoint Endpoint
	extra    map[string]json.RawMessage // checked by Network.check
}

func (w *Workload) bodies(shape bodyShape) *bodies {
	name, _ := json.Marshal(shape.model) // a string always marshals
	b := &bodies{w: w}
	before, after, limit := `,"messages":[{"role":"user","content":`, `}]`, w.limitField
	if shape.endpoint == Completions {
		// This API never had the modern name of the limit.
		before, after, limit = `,"prompt":`, ``, legacyLimit
	}
	b.head = bytes.Join([][]byte{[]byte(`{"model":`), name, []byte(before)}, nil)
	tail := []byte(after + `,"stream":true,"stream_options":{"include_usage":true},`)
	if shape.extra["temperature"] == nil {
		tail = append(tail, `"temperature":0,`...)
	}
	if w.spec.IgnoreEOS && shape.extra["ignore_eos"] == nil {
		tail = append(tail, `"ignore_eos":true,`...)
	}
	tail = appendFields(tail, shape.extra)
	b.tail = append(tail, `"`+limit+`":`...)
	return b
}

// body returns the bytes of request i and the output tokens it asks for. The
// bytes are new each time: HTTP may still be sending them when the answer is
// already there.
func (b *bodies) body(i uint64) ([]byte, int) {
	var prompt []byte
	if n := uint64(len(b.w.prompts)); n > 0 {
		prompt = b.w.prompts[i%n]
	} else {
		prompt = b.w.prompt(i)
	}
	return b.with(prompt, b.w.outputLimit(i))
}

func (b *bodies) with(prompt []byte, limit int) ([]byte, int) {
	out := make([]byte, 0, len(b.head)+len(prompt)+len(b.tail)+12)
	out = append(out, b.head...)
	out = append(out, prompt...)
	out = append(out, b.tail...)
	out = strconv.AppendInt(out, int64(limit), 10)
	return append(out, '}'), limit
}

// draw is a normal variate around mean, at least 1, a function of its
// arguments alone (Box–Muller).
func draw(seed, i, stream uint64, mean, stddev int) int {
	if stddev == 0 {
		return mean
	}
	u := (float64(mix(seed, i, stream, 0)>>11) + 1) / (1 << 53) // in (0, 1]
	v := float64(mix(seed, i, stream, 1)>>11) / (1 << 53)
	z := math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
	return max(1, int(math.Round(float64(mean)+z*float64(stddev))))
}

// mix hashes its arguments with the finalizer of SplitMix64 (Steele, Lea &
// Flood 2014), one round each.
func mix(words ...uint64) uint64 {
	h := uint64(0)
	for _, w := range words {
		h += w + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
