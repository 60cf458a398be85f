package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// TestGoodputTable: page and Markdown show what each level served within the
// objective, a dash where that was not counted; without an objective the page says
// which flag asks for it, and Markdown says nothing.
func TestGoodputTable(t *testing.T) {
	limit := loadgen.Objective{TTFTMS: 500, ITLMS: 20}
	o := &Objective{
		SLO: sweep.SLO{Objective: limit, State: sweep.SLOCrossed, ConcurrencyPerGPU: 93.2, Low: 64, High: 110, LevelMet: 64, LevelMissed: 96, Binding: "ttft_p99",
			Levels: []sweep.SLOLevel{{ConcurrencyPerGPU: 64, Runs: 2, TTFTP99MS: 300, ITLP99MS: 9}, {ConcurrencyPerGPU: 96, Runs: 3, TTFTP99MS: 800, ITLP99MS: 12}}},
		Goodput: []sweep.GoodputLevel{{ConcurrencyPerGPU: 64, Runs: 2, RequestsPerSecPerGPU: 12.34, TokPerSecPerGPU: 1579.6, Share: .987}},
	}
	uncounted := *o
	uncounted.Goodput = nil
	for _, c := range []struct {
		name     string
		o        *Objective
		html, md []string
	}{
		{"counted", o,
			[]string{`<th scope="row">64</th><td>2</td><td>300</td><td>9.00</td><td>12.3</td><td>1,580</td><td>98.7 %</td>`, `<td>800</td><td>12.0</td><td>-</td><td>-</td><td>-</td>`,
				"Objective TTFT p99 ≤ 500 ms and ITL p99 ≤ 20.0 ms: met up to 93.2 per GPU", `<a href="#goodput">Goodput</a>`},
			[]string{"| 64 | 2 | 300 | 9.00 | 12.3 | 1,580 | 98.7 % |", "- Objective TTFT p99 ≤ 500 ms"}},
		{"not counted", &uncounted, []string{"No run counted goodput by this objective.", "<td>800</td>"}, []string{"- no run counted goodput by this objective", "| 96 | 3 | 800 | 12.0 | - | - | - |"}},
		{"not asked for", nil, []string{"No objective was asked for", "--ttft-p99 MS", "--itl-p99 MS"}, nil},
	} {
		p := Page{A: Side{Curve: Curve{Objective: c.o, Point: sweep.OperatingPoint{ConcurrencyPerGPU: 64}}}}
		var html, md bytes.Buffer
		if err := PageHTML(&html, p); err != nil {
			t.Fatal(err)
		}
		if err := PageMarkdown(&md, p); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.html {
			if !strings.Contains(html.String(), want) {
				t.Errorf("%s: the page lacks %q", c.name, want)
			}
		}
		for _, want := range c.md {
			if !strings.Contains(md.String(), want) {
				t.Errorf("%s: the Markdown lacks %q:\n%s", c.name, want, &md)
			}
		}
		if c.md == nil && strings.Contains(md.String(), "oodput") {
			t.Errorf("%s: the Markdown speaks of goodput:\n%s", c.name, &md)
		}
	}
}

// TestWhatToKnowFirst: a gate that is shown and was not to be written says why, and
// a first look says that it is one; what was said so is not said again.
func TestWhatToKnowFirst(t *testing.T) {
	const why = "C6 second window: one window"
	gate := func(o calibrate.Outcome) *Gates {
		return &Gates{Outcome: o, Reasons: []string{why, "another remark"}, ConcurrencyPerGPU: 32, FloorPerGPU: 1000, ActsFloor: 900}
	}
	none := gate(calibrate.OutcomeUnstable)
	none.ConcurrencyPerGPU = 0
	for name, c := range map[string]struct {
		gates   *Gates
		effort  sweep.Effort
		warned  string
		quick   bool
		remarks int
	}{
		"provisional":           {gate(calibrate.OutcomeProvisional), sweep.Standard, "PROVISIONAL, so not to be written: " + why, false, 1},
		"provisional and quick": {gate(calibrate.OutcomeProvisional), sweep.Quick, "PROVISIONAL, so not to be written: " + why, true, 1},
		"written":               {gate(calibrate.OutcomeOK), sweep.Full, "", false, 2},
		"simulated":             {gate(calibrate.OutcomeSimulated), sweep.Quick, "", true, 2},
		"no gate to show":       {none, sweep.Standard, "", false, 1},
		"a sweep":               {nil, sweep.Quick, "", true, 0},
	} {
		s := Side{Curve: Curve{Fingerprint: &sweep.Fingerprint{Effort: c.effort}}, Gates: c.gates}
		said := strings.Join(s.warnings(), "\n")
		if c.warned == "" && strings.Contains(said, "not to be written") || !strings.Contains(said, c.warned) || strings.Contains(said, "quick effort") != c.quick {
			t.Errorf("%s: %q", name, said)
		}
		if got := s.remarks(); len(got) != c.remarks {
			t.Errorf("%s: remarks %q", name, got)
		}
	}
}
