//go:build engines

package engines

import (
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/test/internal/live"
)

func TestDynamo(t *testing.T) {
	e := engine{
		Engine: live.Dynamo{Workers: 1, Cap: slots, Speedup: 2}.Start(t),
		output: live.DynamoOutputTokens,
		prompt: []string{live.DynamoInputTokens},
		cached: []string{live.DynamoCachedTokens},
		// Words w1000 to w1999 at random; the stop string cuts off a word's end.
		stops:        `["5"]`,
		chunkIsToken: true,
	}
	e.compare(t)
}

func TestLlamaCPP(t *testing.T) {
	// Its threads spin while they wait for each other: with as many as cores,
	// on cores that others use too, a token takes a second.
	server := live.Scripted{Name: "llamacpp", Slots: slots, Flags: []string{"--threads", "1"}, StartTimeout: 8 * time.Minute}
	e := engine{
		Engine:      server.Start(t),
		output:      "llamacpp:tokens_predicted_total",
		prompt:      []string{"llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"},
		cached:      []string{"llamacpp:prompt_tokens_cached_total"},
		stops:       `["e", "a", " "]`,
		endToken:    `[[1, 100]]`,
		headersWait: true,
	}
	e.compare(t)
}
