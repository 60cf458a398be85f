package selftest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

func TestLimitedBy(t *testing.T) {
	good := Measured{
		Requests: 10, TokensAgree: true, NominalTokPerSec: 100, TokPerSec: 99, LagP99MS: .99, ServerLateP99MS: .99,
		Health: loadgen.Health{KernelTime: true},
	}
	if got := good.limitedBy(); got != "" {
		t.Fatalf("a good point is limited by %s", got)
	}
	for want, spoil := range map[string]func(*Measured){
		"failures":             func(m *Measured) { m.TokensAgree = false },
		"failures ":            func(m *Measured) { m.Failed = 1 },
		"failures  ":           func(m *Measured) { m.Requests = 0 },
		"lag":                  func(m *Measured) { m.LagP99MS = 1 },
		"cpu":                  func(m *Measured) { m.ClientBound = []string{"71 % of the generator's CPU"} },
		"server":               func(m *Measured) { m.ServerLateP99MS = 1 },
		"server ":              func(m *Measured) { m.TokPerSec = 97.9 },
		"no kernel timestamps": func(m *Measured) { m.Health.KernelTime = false },
	} {
		m := good
		spoil(&m)
		if got := m.limitedBy(); got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFound(t *testing.T) {
	p := Point{Streams: 64, TTFT: 50 * time.Millisecond, ITL: 20 * time.Millisecond, Tokens: 128}
	if got := p.nominal(); math.Abs(got-3163) > 1 { // 64 × 128 / 2.59 s
		t.Errorf("nominal %g", got)
	}
	r := loadgen.Result{
		Kind: loadgen.Steady, Measured: loadgen.Outcomes{loadgen.OK: 5}, All: loadgen.Outcomes{loadgen.OK: 9, loadgen.Timeout: 1},
		Window: loadgen.Estimate{OutputTokPerSec: 3000, OutputTokens: 100}, Health: loadgen.Health{CPUShare: .71, LagP99MS: 21, KernelTime: true},
	}
	var errs errorsOf
	for i := range 100 {
		sign := time.Duration(1 - 2*(i%2)) // early or late is equally wrong
		errs.add(loadgen.Request{Outcome: loadgen.OK, Sent: 5, FirstToken: 5 + 1e9 + sign*time.Duration(100-i)*time.Microsecond, ServerTTFT: 1e9})
	}
	for _, r := range []loadgen.Request{
		{Outcome: loadgen.OK, FirstToken: 2e9, ServerTTFT: 1e9, WarmUp: true}, {Outcome: loadgen.OK, FirstToken: 2e9, ServerTTFT: 1e9, TopUp: true},
		{Outcome: loadgen.Truncated, FirstToken: 2e9, ServerTTFT: 1e9}, {Outcome: loadgen.OK, FirstToken: 2e9}, {Outcome: loadgen.OK, ServerTTFT: 1e9},
	} {
		errs.add(r) // none of these can be compared, or is measured
	}
	m := p.found(r, errs.sorted())
	if m.TTFTErrors != 100 || m.TTFTErrorP50MS != .05 || m.TTFTErrorP99MS != .099 || m.Requests != 9 || m.Failed != 1 || m.TokPerSec != 3000 {
		t.Errorf("%+v", m)
	}
	if len(m.ClientBound) != 2 || !strings.Contains(m.ClientBound[0], "71 %") || !strings.Contains(m.ClientBound[1], "21.00 ms") {
		t.Errorf("client-bound: %q", m.ClientBound)
	}
}

// TestBudget: whatever the budget, the parts that are always measured fit into
// it, and the search has time for a try.
func TestBudget(t *testing.T) {
	for budget := time.Second; budget <= 2*DefaultBudget; budget += time.Second / 2 {
		te := &tester{o: Options{Streams: 1024, Budget: budget}, scale: min(1, budget.Seconds()/DefaultBudget.Seconds())}
		timing := te.timingPoint()
		all := timing.takes() + te.point(rateFirst, rateITL, rateAnswer).takes() + te.heldPoint(heldRate).takes()
		if budget >= 4*time.Second && all > budget {
			t.Errorf("in %s the fixed parts take %s", budget, all)
		}
		for _, p := range []Point{timing, te.heldPoint(heldRate), te.heldPoint(1e6)} {
			if p.Tokens < 2 || p.Length <= 0 || p.ITL <= 0 {
				t.Errorf("in %s: %+v", budget, p)
			}
		}
	}
}

func TestDoubts(t *testing.T) {
	good := Measured{TokensAgree: true, Exact: true, TTFTErrors: 5}
	doubt := func(change func(*Result)) string {
		timing, held := good, good
		te := &tester{o: Options{Streams: 9}, r: Result{Timing: &timing, Held: &held, Ceiling: &Ceiling{}}}
		change(&te.r)
		te.doubts()
		return strings.Join(te.r.Warnings, "\n")
	}
	if got := doubt(func(*Result) {}); got != "" {
		t.Errorf("a good selftest is doubted: %s", got)
	}
	for want, change := range map[string]func(*Result){
		"others used up to 11 %":   func(r *Result) { r.Points = []Measured{{OthersCPUShare: .02}, {OthersCPUShare: .11}} },
		"has no ceiling":           func(r *Result) { r.Ceiling = nil },
		"9 streams: the server":    func(r *Result) { r.Held.Exact = false },
		"64 streams in step: 3 re": func(r *Result) { r.Timing.Failed = 3 },
		"9 streams: 0 requests":    func(r *Result) { r.Held.TokensAgree = false },
		"step: TTFT could not":     func(r *Result) { r.Timing.TTFTErrors = 0 },
	} {
		if got := doubt(change); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
