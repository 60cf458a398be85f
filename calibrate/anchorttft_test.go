package calibrate

import (
	"strings"
	"testing"
)

// A campaign that waits far longer than its anchor is told so, in the gate, the
// reasons and the comment; throughput alone decides C7.
func TestTTFTAgainstTheAnchor(t *testing.T) {
	for _, c := range []struct {
		by   float64
		warn bool
		says string
	}{{1, false, "TTFT p99 x1.00 of its 677 ms"}, {1 / 1.9, false, "TTFT p99 x1.90"}, {1 / 2.3, false, "TTFT p99 x2.30"}, {1 / 2.8, true, "TTFT p99 x2.80"}, {3, false, "TTFT p99 x0.33"}} {
		f := withAnchor(1, func(a *AnchorJournal) {
			for i := range a.Curve.Runs {
				a.Curve.Runs[i].Result.WholeRun.TTFTP99MS *= c.by
			}
		})
		p := f.propose()
		g := gate(p, "C7")
		if g.State != Met || !strings.Contains(g.Observed, c.says) || p.Anchor.TTFTP99Ratio <= 0 {
			t.Errorf("x%.2f: %+v", c.by, g)
		}
		told := strings.Contains(strings.Join(p.Reasons, "\n"), "WARNING: TTFT p99 is x")
		if told != c.warn || (len(p.Anchor.Warnings) > 0) != c.warn {
			t.Errorf("x%.2f: %q", c.by, p.Reasons)
		}
		f.simulated()
		f.policy.Anchors[0].Curve.Fingerprint.Simulated = true
		if text := strings.Join(f.propose().Comment, " "); strings.Contains(text, "WARNING: TTFT") != c.warn || !strings.Contains(text, "TTFT p99 is x") {
			t.Errorf("x%.2f: the comment %q", c.by, text)
		}
	}
}

// A tail of too few requests is compared with nothing.
func TestTTFTOfAnAnchorOfFewRequests(t *testing.T) {
	f := withAnchor(1, nil)
	for i := range f.policy.Anchors[0].Curve.Runs {
		f.policy.Anchors[0].Curve.Runs[i].Result.WholeRun.Requests = 500
	}
	p := f.propose()
	if p.Anchor.TTFTP99Ratio != 0 || len(p.Anchor.Warnings) > 0 {
		t.Errorf("%+v", p.Anchor)
	}
}
