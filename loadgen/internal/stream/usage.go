package stream

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Tokens are the counts of one usage object. Some servers do not tell how many
// prompt tokens came from a cache or how many output tokens were reasoning,
// which is not the same as none.
type Tokens struct {
	Prompt, Completion        int64
	Cached, Reasoning         int64
	CachedTold, ReasoningTold bool
}

// Plus adds the usage of another choice of the same answer.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{
		Prompt: t.Prompt + o.Prompt, Completion: t.Completion + o.Completion,
		Cached: t.Cached + o.Cached, Reasoning: t.Reasoning + o.Reasoning,
		CachedTold: t.CachedTold || o.CachedTold, ReasoningTold: t.ReasoningTold || o.ReasoningTold,
	}
}

// usage reads a usage object. Counts that are no whole numbers are an error in
// the two that everything rests on, and not told in the details.
func usage(raw json.RawMessage) (t Tokens, err error) {
	var all object
	if err := json.Unmarshal(raw, &all); err != nil {
		return t, err
	}
	for name, n := range map[string]*int64{"prompt_tokens": &t.Prompt, "completion_tokens": &t.Completion} {
		if value := all[name]; len(value) > 0 {
			if err := json.Unmarshal(value, n); err != nil {
				return t, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	t.Cached, t.CachedTold = detail(all["prompt_tokens_details"], "cached_tokens")
	t.Reasoning, t.ReasoningTold = detail(all["completion_tokens_details"], "reasoning_tokens")
	return t, nil
}

func detail(raw json.RawMessage, name string) (int64, bool) {
	var details object
	var n *int64
	if json.Unmarshal(raw, &details) != nil || json.Unmarshal(details[name], &n) != nil || n == nil || *n < 0 {
		return 0, false
	}
	return *n, true
}

// timing reads nvext.timing.ttft_ms, and beside it the workers' ids, which lie
// above what a float holds. What no request can have taken is not believed.
func (c *Chunk) timing(nvext json.RawMessage) {
	var ext, timing, workers object
	var ms float64
	if json.Unmarshal(nvext, &ext) != nil || json.Unmarshal(ext["timing"], &timing) != nil || timing == nil {
		return
	}
	c.Kind |= Timing
	if json.Unmarshal(timing["ttft_ms"], &ms) == nil && ms > 0 && ms < float64(24*time.Hour/time.Millisecond) {
		c.ServerTTFT = time.Duration(ms * float64(time.Millisecond))
	}
	if json.Unmarshal(ext["worker_id"], &workers) == nil {
		c.Prefiller, c.Decoder = id(workers["prefill_worker_id"]), id(workers["decode_worker_id"])
	}
}

// id is a whole number of 64 bits; anything else is none.
func id(raw json.RawMessage) uint64 {
	n, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
