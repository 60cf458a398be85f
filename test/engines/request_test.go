//go:build engines || vllm

package engines

import (
	"slices"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// checkRequest holds one request to what must be true of any.
func (e engine) checkRequest(t *testing.T, r loadgen.Request, end ending) {
	t.Helper()
	if r.Outcome != loadgen.OK {
		t.Errorf("request %d: %s: %s", r.Number, r.Outcome, r.Error)
		return
	}
	switch {
	case r.OutputTokens < 1 || r.OutputTokens > r.AskedTokens,
		r.FinishReason == "length" && r.OutputTokens != r.AskedTokens:
		t.Errorf("request %d ended by %q with %d tokens of %d", r.Number, r.FinishReason, r.OutputTokens, r.AskedTokens)
	case r.FinishReason != "stop" && r.FinishReason != "length":
		t.Errorf("request %d: finish reason %q", r.Number, r.FinishReason)
	}
	if e.chunkIsToken && int64(len(r.Chunks)) != r.OutputTokens {
		t.Errorf("request %d has %d chunks for %d tokens", r.Number, len(r.Chunks), r.OutputTokens)
	}
	order := []time.Duration{r.Asked, r.Sent, r.Headers}
	if len(r.Chunks) > 0 {
		order = append(order, r.FirstToken)
	}
	if len(r.Chunks) > 1 {
		order = append(order, r.SecondToken)
	}
	if len(r.Chunks) > 0 {
		order = append(order, r.LastToken)
	}
	order = append(order, r.End)
	if !slices.IsSorted(order) || r.Headers == 0 || len(r.Chunks) > 0 && r.FirstToken == 0 {
		t.Errorf("request %d (%d chunks): asked, sent, headers, tokens, end at %v: out of order", r.Number, len(r.Chunks), order)
	}
	if r.FirstVisible != 0 && (r.FirstVisible < r.FirstToken || r.FirstVisible > r.LastToken) {
		t.Errorf("request %d: the first visible token at %v is not between the first and the last, %v and %v",
			r.Number, r.FirstVisible, r.FirstToken, r.LastToken)
	}
}

// checkHeads tells the two kinds of engine apart, by order alone. A head that
// waits for a slot means that no more answers than slots are begun and not yet
// half told, however many streams there are; half, because the end of one
// answer and the head of the next may overtake each other.
func (e engine) checkHeads(t *testing.T, all []loadgen.Request) {
	t.Helper()
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for _, r := range all {
		half := r.FirstToken + (r.LastToken-r.FirstToken)/2
		edges = append(edges, edge{r.Headers, 1}, edge{half, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.step - b.step
	})
	most, open := 0, 0
	for _, x := range edges {
		open += x.step
		most = max(most, open)
	}
	t.Logf("up to %d answers begun and not half told, on %d slots", most, slots)
	if e.headersWait != (most <= slots) {
		t.Errorf("up to %d answers were begun and not half told on %d slots; headers wait for a slot: %t", most, slots, e.headersWait)
	}
}
