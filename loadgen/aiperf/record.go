package aiperf

import (
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// record is what the statistics need of one OK request. Times are nanoseconds
// since the start of the run, 0 for a moment that never came.
type record struct {
	asked, sent, first, second, visible, last, end int64
	connect                                        int64 // dial and TLS
	output, prompt, reasoning, cached, limit       int64
	dialled, cachedTold                            bool
}

func recordOf(r *loadgen.Request) record {
	ns := func(d time.Duration) int64 { return d.Nanoseconds() }
	return record{
		asked: ns(r.Asked), sent: ns(r.Sent), first: ns(r.FirstToken), second: ns(r.SecondToken), visible: ns(r.FirstVisible),
		last: ns(r.LastToken), end: ns(r.End), connect: ns(r.Connect + r.TLS), dialled: r.NewConnection,
		output: r.OutputTokens, prompt: r.PromptTokens, reasoning: r.ReasoningTokens, cached: r.CachedTokens, cachedTold: r.CachedTold,
		limit: r.AskedTokens,
	}
}
