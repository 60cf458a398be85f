package report

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

func TestObjectiveText(t *testing.T) {
	both := loadgen.Objective{TTFTMS: 500, ITLMS: 20}
	crossed := sweep.SLO{
		Objective: both, State: sweep.SLOCrossed, ConcurrencyPerGPU: 93.2, Low: 64, High: 110, LevelMet: 64, LevelMissed: 96, Binding: "ttft_p99",
		Levels: []sweep.SLOLevel{{ConcurrencyPerGPU: 64, Runs: 2, TTFTP99MS: 300, ITLP99MS: 9}, {ConcurrencyPerGPU: 96, Runs: 3, TTFTP99MS: 800, ITLP99MS: 12}},
	}
	open := crossed
	open.LowOpen, open.HighOpen = true, true
	goodput := []sweep.GoodputLevel{{ConcurrencyPerGPU: 64, Runs: 2, RequestsPerSecPerGPU: 12.34, TokPerSecPerGPU: 1579.6, Share: .987, WithoutITL: 7}}
	for _, c := range []struct {
		name string
		o    *Objective
		op   sweep.OperatingPoint
		want []string
		not  string
	}{
		{"none", nil, sweep.OperatingPoint{ConcurrencyPerGPU: 48}, nil, "objective"},
		{"crossed", &Objective{SLO: crossed}, sweep.OperatingPoint{ConcurrencyPerGPU: 48, Bound: "0.8_knee"}, []string{
			"objective TTFT p99 ≤ 500 ms and ITL p99 ≤ 20.0 ms: met up to 93.2 per GPU (90% interval 64 to 110), crossed between 64 and 96 by TTFT\n",
			"the operating point stays at 48 per GPU: an objective never raises it\n",
			"       64     2          300        9.00\n       96     3          800        12.0\n",
		}, "good"},
		{"lowered", &Objective{SLO: crossed, Goodput: goodput}, sweep.OperatingPoint{ConcurrencyPerGPU: 64, Bound: "objective"}, []string{
			"the objective, not the knee, holds the operating point at 64 per GPU\n",
			" 12.3 ", " 1,580 ", " 98.7 %\n", "good: ended well and within every limit",
			"7 answers had one token and so no ITL: they were judged by TTFT alone\n",
		}, "never raises"},
		{"open ends", &Objective{SLO: open}, sweep.OperatingPoint{}, []string{"(90% interval below 64 to above 110)"}, "operating point"},
		{"met", &Objective{SLO: sweep.SLO{Objective: both, State: sweep.SLOMet, ConcurrencyPerGPU: 256, Low: 192, High: 256, HighOpen: true}}, sweep.OperatingPoint{}, []string{
			"met at every level, so up to at least 256 per GPU (90% interval 192 to above 256)\n",
		}, "crossed"},
		{"not met", &Objective{SLO: sweep.SLO{Objective: loadgen.Objective{ITLMS: 1}, State: sweep.SLONotMet, LevelMissed: 8, Binding: "itl_p99"}}, sweep.OperatingPoint{}, []string{
			"objective ITL p99 ≤ 1.00 ms: not met at 8 per GPU, the lowest level, by ITL\nno operating point: none meets the objective\n",
		}, "TTFT"},
		{"unknown", &Objective{SLO: sweep.SLO{Objective: both, State: sweep.SLOInsufficient, Reason: "nothing is known", Notes: []string{"a note"}}}, sweep.OperatingPoint{ConcurrencyPerGPU: 48}, []string{
			"cannot be judged: nothing is known\n", "the operating point at 48 per GPU is not held against it, so no gate can be made there\n", "  a note\n",
		}, "per GPU  runs"},
	} {
		var b strings.Builder
		p := &printer{w: &b}
		p.objective(c.o, c.op)
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: lacks %q:\n%s", c.name, want, b.String())
			}
		}
		if p.err != nil || strings.Contains(b.String(), c.not) {
			t.Errorf("%s: error %v, or it has %q:\n%s", c.name, p.err, c.not, b.String())
		}
	}
}
