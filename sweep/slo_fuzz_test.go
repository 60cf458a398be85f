package sweep

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// FuzzFindSLO: whatever a journal or a CSV holds, the answer is one that JSON
// can hold, and its interval holds the crossing and the levels around it.
func FuzzFindSLO(f *testing.F) {
	add := func(ttft, itl float64, runs ...float64) {
		var raw []byte
		for _, v := range runs {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
		f.Add(ttft, itl, raw)
	}
	add(200, 0, 50, 1, 60, 2, 100, 3, 400, 4, 3000, 5)
	add(200, 3.5, 50, 1, 60, 2, 100, 3, 400, 4)
	add(1, 1, math.MaxFloat64, math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64, math.MaxFloat64)
	add(math.NaN(), math.Inf(1), math.NaN(), math.Inf(1), -1, 0)
	f.Fuzz(func(t *testing.T, ttft, itl float64, raw []byte) {
		var runs []LatencyRun
		for i := 0; i+16 <= len(raw) && i < 64*16; i += 16 {
			at := func(k int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(raw[i+8*k:])) }
			runs = append(runs, LatencyRun{ConcurrencyPerGPU: 1 << (i / 32 % 13), TTFTP99MS: at(0), ITLP99MS: at(1)})
		}
		s := FindSLO(loadgen.Objective{TTFTMS: ttft, ITLMS: itl}, runs)
		if _, err := json.Marshal(s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		switch s.State {
		case SLOCrossed:
			if n := s.ConcurrencyPerGPU; !(s.Low <= float64(s.LevelMet) && float64(s.LevelMet) <= n && n <= float64(s.LevelMissed) && float64(s.LevelMissed) <= s.High) {
				t.Errorf("%+v", s)
			}
		case SLOMet, SLONotMet:
			if open := s.State == SLOMet && s.HighOpen || s.State == SLONotMet && s.LowOpen; !(s.Low <= s.High) || !open {
				t.Errorf("%+v", s)
			}
		case SLOInsufficient:
			if s.Reason == "" || s.ConcurrencyPerGPU != 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}
