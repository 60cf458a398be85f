//go:build engines || vllm

package engines

import (
	"fmt"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// tokens are totals since the engine's start, or of some requests.
type tokens struct{ output, prompt, cached int64 }

func (t tokens) String() string {
	return fmt.Sprintf("%d output tokens, %d prompt tokens, %d of them cached", t.output, t.prompt, t.cached)
}

func (t tokens) since(before tokens) tokens {
	return tokens{t.output - before.output, t.prompt - before.prompt, t.cached - before.cached}
}

// count reads the engine's own counters.
func (e engine) count(t *testing.T) tokens {
	t.Helper()
	names := append(append([]string{e.output}, e.prompt...), e.cached...)
	sums := e.Scrape(t, names...)
	n := tokens{output: int64(sums[e.output])}
	for _, name := range e.prompt {
		n.prompt += int64(sums[name])
	}
	for _, name := range e.cached {
		n.cached += int64(sums[name])
	}
	return n
}

// settleLimit is how long an engine may take to count what it has sent.
const settleLimit = 10 * time.Second

// sameTokens compares three counts of one run and its preflight: the result's,
// the requests' and the engine's. Preflight tells no cached tokens, so of these
// the engine may have counted more, by no more than the probes' prompts.
func (e engine) sameTokens(t *testing.T, before, want tokens, r loadgen.Result, all []loadgen.Request, pre loadgen.Preflight) (got tokens) {
	t.Helper()
	var sum tokens
	for _, r := range all {
		sum.output += r.OutputTokens
		sum.prompt += r.PromptTokens
		sum.cached += r.CachedTokens
	}
	if sum.output != r.TotalOutputTokens || sum.prompt != r.TotalPromptTokens {
		t.Errorf("requests add up to %s; the result has %d and %d", sum, r.TotalOutputTokens, r.TotalPromptTokens)
	}
	deadline := time.NewTimer(settleLimit)
	defer deadline.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		got = e.count(t).since(before)
		if got.output == want.output && got.prompt == want.prompt {
			break
		}
		select {
		case <-tick.C:
			continue
		case <-deadline.C:
			t.Errorf("the engine counted %s; the client %s", got, want)
			return got
		}
	}
	if got.cached < sum.cached || got.cached > sum.cached+pre.PromptTokens {
		t.Errorf("the engine found %d tokens in its cache, the client was told of %d in a run whose preflight sent %d",
			got.cached, sum.cached, pre.PromptTokens)
	}
	return got
}

func reasons(all []loadgen.Request) map[string]int {
	n := map[string]int{}
	for _, r := range all {
		n[r.FinishReason]++
	}
	return n
}

func chunks(all []loadgen.Request) (n int) {
	for _, r := range all {
		n += len(r.Chunks)
	}
	return n
}
