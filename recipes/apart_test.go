package recipes

import (
	"math"
	"strings"
	"testing"
)

func TestApart(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want string
	}{
		{187, 190, "187.00 190.00"},
		{187.001, 187, "187.001 187.000"},
		{187.00000000000003, 187, "187.00000000000003 187.00000000000000"},
		{187, 187, "187.00 187.00"},
		{5e-324, 0, "0.00000000000000000 0.00000000000000000"},
		{math.NaN(), math.NaN(), "NaN NaN"},
		{math.Inf(1), 1, "+Inf 1.00"},
	} {
		s, u := Apart(c.a, c.b, 2)
		if got := s + " " + u; got != c.want {
			t.Errorf("%v and %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// A gate that is missed by little says by what.
func TestEvaluateTellsByHowLittle(t *testing.T) {
	g := Gate{Model: "m", ConcurrencyPerGPU: 8, FloorPerGPU: 1000, CeilingTTFTP99MS: 170}
	e, err := Evaluate(g, Measured{TokPerSec: math.Nextafter(900, 0), TTFTP99MS: 170*(1+Tolerance) + 1e-9, GPUs: 1})
	if err != nil || len(e.Reasons) != 2 {
		t.Fatal(e, err)
	}
	for _, r := range e.Reasons {
		if strings.Contains(r, "900.00 tok/s is below 900.00 ") || strings.Contains(r, "187.00 ms is above 187.00 ") {
			t.Error(r)
		}
	}
}
