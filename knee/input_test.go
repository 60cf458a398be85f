package knee_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		opt knee.Options
		bad string
	}{
		{knee.Options{}, ""},
		{knee.Options{EStar: 0.05, Bootstrap: 1, Seed: 9}, ""},
		{knee.Options{EStar: 0.5, Bootstrap: 2000}, ""},
		{knee.Options{EStar: 0.04}, "elasticity"},
		{knee.Options{EStar: 0.51}, "elasticity"},
		{knee.Options{EStar: -0.2}, "elasticity"},
		{knee.Options{EStar: math.NaN()}, "elasticity"},
		{knee.Options{Bootstrap: -1}, "bootstrap"},
		{knee.Options{Bootstrap: 2001}, "bootstrap"},
	} {
		err := c.opt.Validate()
		if (err != nil) != (c.bad != "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.bad)
		}
		fit := knee.Find(exact(func(n float64) float64 { return 100 * min(n, 50) }, kneetest.Doubling(), 2), c.opt)
		if refused := fit.Status == knee.Insufficient; refused != (c.bad != "") {
			t.Errorf("%+v: %s %v", c.opt, fit.Status, fit.Warnings)
		}
	}
}

// Runs that cannot be measurements are left out, with a warning, and change
// nothing else.
func TestBadRunsAreLeftOut(t *testing.T) {
	good := exact(func(n float64) float64 { return 100 * min(n, 50) }, kneetest.Doubling(), 2)
	want := knee.Find(good, knee.Options{})
	bad := []knee.Run{
		{ConcurrencyPerGPU: 0, TokPerSecPerGPU: 5}, {ConcurrencyPerGPU: -4, TokPerSecPerGPU: 5},
		{ConcurrencyPerGPU: math.MaxInt, TokPerSecPerGPU: 5}, {ConcurrencyPerGPU: 8},
		{ConcurrencyPerGPU: 8, TokPerSecPerGPU: -1}, {ConcurrencyPerGPU: 8, TokPerSecPerGPU: math.NaN()},
		{ConcurrencyPerGPU: 8, TokPerSecPerGPU: math.Inf(1)}, {ConcurrencyPerGPU: 8, TokPerSecPerGPU: 1e308},
		{ConcurrencyPerGPU: 8, TokPerSecPerGPU: 5e-324},
	}
	got := knee.Find(append(bad, good...), knee.Options{})
	if len(got.Warnings) == 0 || !strings.Contains(got.Warnings[0], "9 of 29 runs ignored") {
		t.Errorf("warnings %q", got.Warnings)
	}
	got.Warnings = want.Warnings
	if d := sameFit(want, got); d != "" {
		t.Error(d)
	}
	good[0].TTFTP99MS, good[1].TTFTP50MS, good[2].ITLMS = math.NaN(), -3, math.Inf(1)
	got = knee.Find(good, knee.Options{})
	if !strings.Contains(got.Warnings[0], "3 latencies ignored") || cmp.Diff(want.Levels, got.Levels) != "" {
		t.Errorf("warnings %q, levels %+v", got.Warnings, got.Levels)
	}
}

func TestTooFewAndTooMany(t *testing.T) {
	var many []knee.Run
	for n := 1; n <= 300; n++ {
		many = append(many, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: float64(n)})
	}
	for _, runs := range [][]knee.Run{nil, many[:1], many[:3], many} {
		fit := knee.Find(runs, knee.Options{})
		if fit.Status != knee.Insufficient || len(fit.Warnings) == 0 {
			t.Errorf("%d levels: %s %q", len(runs), fit.Status, fit.Warnings)
		}
		if _, ok := fit.TokPerSecPerGPU(4); ok {
			t.Errorf("%d levels: a curve where nothing was fitted", len(runs))
		}
	}
	// Neighbouring levels leave no room for a cap between them.
	if err := incoherent(knee.Find(many[:4], knee.Options{})); err != nil {
		t.Error(err)
	}
}

func TestCurveIsDefinedOnPositiveConcurrency(t *testing.T) {
	fit := knee.Find(exact(func(n float64) float64 { return 100 * n }, kneetest.Doubling(), 2), knee.Options{})
	for _, n := range []float64{0, -1, math.NaN(), math.Inf(1), 1e308} {
		if x, ok := fit.TokPerSecPerGPU(n); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			t.Errorf("at %g: %g, %v", n, x, ok)
		}
	}
	if x, ok := fit.TokPerSecPerGPU(3); !ok || math.Abs(x/300-1) > 0.01 {
		t.Errorf("at 3: %g, %v", x, ok)
	}
}

// decodeRuns makes runs of any bytes: 2 bytes of concurrency, then raw floats
// or small ones, so that both hostile and plausible sweeps come up.
func decodeRuns(data []byte) []knee.Run {
	var runs []knee.Run
	word := func() (v uint64) {
		var b [8]byte
		data = data[copy(b[:], data):]
		return binary.LittleEndian.Uint64(b[:])
	}
	for len(data) > 0 && len(runs) < 200 {
		kind := data[0]
		r := knee.Run{ConcurrencyPerGPU: int(kind >> 2)}
		data = data[1:]
		switch kind & 3 {
		case 0:
			r.ConcurrencyPerGPU = int(word())
			r.TokPerSecPerGPU = math.Float64frombits(word())
			r.TTFTP99MS = math.Float64frombits(word())
			r.TTFTP50MS = math.Float64frombits(word())
		case 1:
			r.ConcurrencyPerGPU = 1 << (kind >> 2 & 15)
			fallthrough
		default:
			w := word()
			r.TokPerSecPerGPU = float64(w & 0xffff)
			r.TTFTP99MS = float64(w >> 16 & 0xffff)
			r.ITLMS = float64(w >> 32 & 0xff)
		}
		runs = append(runs, r)
	}
	return runs
}

func FuzzFind(f *testing.F) {
	seed := make([]byte, 0, 9*10)
	for i := range 10 {
		seed = append(seed, byte(i<<2|1))
		seed = binary.LittleEndian.AppendUint64(seed, uint64(min(100<<i, 6400))|uint64(50+10*i)<<16)
	}
	f.Add(seed, 0.2)
	f.Add([]byte{0, 255, 255, 255, 255, 255, 255, 239, 127}, 0.5)
	f.Add([]byte(nil), 0.05)
	f.Fuzz(func(t *testing.T, data []byte, e float64) {
		runs := decodeRuns(data)
		opt := knee.Options{EStar: e, Bootstrap: 5}
		fit := knee.Find(runs, opt)
		if opt.Validate() != nil {
			return
		}
		if err := incoherent(fit); err != nil {
			t.Fatal(err)
		}
		if d := sameFit(fit, knee.Find(runs, opt)); d != "" {
			t.Fatal(d)
		}
	})
}
