//go:build vllm

package engines

import (
	"os"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/test/internal/live"
)

// TestVLLM takes the server that PERFSWEEP_VLLM_URL names, which must serve
// nobody else, not more than four requests at once and the model tiny, or
// starts one.
func TestVLLM(t *testing.T) {
	e := engine{
		output: "vllm:generation_tokens_total",
		prompt: []string{"vllm:prompt_tokens_total"},
		// No cached ones: it tells its clients of none unless started to.
		// Random weights give random letters.
		stops:    `["e", "a"]`,
		endToken: `{"1": 100}`,
	}
	if url := os.Getenv("PERFSWEEP_VLLM_URL"); url != "" {
		base, err := loadgen.ParseBaseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		e.Engine = live.Engine{Base: base, Model: "tiny"}
	} else {
		e.Engine = live.Scripted{Name: "vllm", Slots: slots, StartTimeout: 25 * time.Minute}.Start(t)
	}
	e.compare(t)
}
