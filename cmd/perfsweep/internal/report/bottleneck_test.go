package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep/observe"
)

func findings(of ...observe.Bottleneck) []observe.Finding {
	var out []observe.Finding
	for i, b := range of {
		out = append(out, observe.Finding{ConcurrencyPerGPU: 8 << i, Bottleneck: b, Evidence: []string{"fact " + string(b)}, Try: "try " + string(b)})
	}
	return out
}

// The finding that explains a knee is the first one at or above it that names
// something; without a knee, or with nothing above it, the highest level's.
func TestDecisive(t *testing.T) {
	all := findings(observe.Headroom, observe.Headroom, observe.Headroom, observe.BatchCap, observe.Shedding) // at 8, 16, 32, 64, 128
	for knee, want := range map[float64]int{0: 128, 5: 64, 30: 64, 64: 64, 65: 128, 500: 128} {
		if got := Decisive(all, knee); got.ConcurrencyPerGPU != want {
			t.Errorf("knee %v: the level %d, want %d", knee, got.ConcurrencyPerGPU, want)
		}
	}
}

func TestBottlenecks(t *testing.T) {
	all := findings(observe.Headroom, observe.Headroom, observe.BatchCap, observe.Unknown)
	all[3].Against = []string{"doubt"}
	for knee, want := range map[float64][]string{
		20: {"nothing at 8 to 16; the engine batch cap at 32; an unknown cause at 64", "at 32: fact engine_batch_cap", "to try: try engine_batch_cap"},
		40: {"at 64: fact unknown", "at 64, against it: doubt"},
	} {
		var b bytes.Buffer
		p := &printer{w: &b}
		p.bottlenecks(all, knee)
		for _, s := range want {
			if !strings.Contains(b.String(), s) {
				t.Errorf("knee %v: %q lacks %q", knee, b.String(), s)
			}
		}
	}
	var b bytes.Buffer
	(&printer{w: &b}).bottlenecks(nil, 20)
	if b.Len() > 0 {
		t.Errorf("%q of servers that were not heard", b.String())
	}
}
