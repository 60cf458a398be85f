package recipes

import (
	"math"
	"strings"
	"testing"
)

func TestEvaluate(t *testing.T) {
	shared := Gate{Floor: 50000, CeilingTTFTP99MS: 2000} // of every AICR overlay in 2026
	perGPU := Gate{FloorPerGPU: 6800}
	for name, c := range map[string]struct {
		g       Gate
		m       Measured
		floor   float64 // effective
		ceiling float64
		fails   string // words of each reason, in order
	}{
		"healthy H100":                  {shared, Measured{108790, 688, 8, 8}, 45000, 2200, ""},
		"at both thresholds":            {shared, Measured{45000, 2200, 8, 8}, 45000, 2200, ""},
		"just below the floor":          {shared, Measured{44999.9, 688, 8, 8}, 45000, 2200, "throughput"},
		"just above the ceiling":        {shared, Measured{50000, 2200.1, 8, 8}, 45000, 2200, "TTFT"},
		"both, throughput first":        {shared, Measured{20769, 33320, 4, 4}, 45000, 2200, "throughput TTFT"},
		"isolcpus, seen by TTFT only":   {shared, Measured{46718, 5717, 8, 8}, 45000, 2200, "TTFT"},
		"4 of 8 GPUs":                   {shared, Measured{25000, 1, 4, 8}, 22500, 2200, ""},
		"2 of 8 GPUs":                   {shared, Measured{11249, 1, 2, 8}, 11250, 2200, "throughput"},
		"a full small node":             {shared, Measured{27000, 1, 2, 2}, 45000, 2200, "throughput"}, // #1254's false failure
		"absolute, GPUs unknown":        {shared, Measured{44000, 1, 0, 8}, 45000, 2200, "throughput"},
		"absolute, node unknown":        {shared, Measured{46000, 1, 4, 0}, 45000, 2200, ""},
		"absolute, more than the node":  {shared, Measured{46000, 1, 16, 8}, 45000, 2200, ""},
		"per GPU, full node of 8":       {perGPU, Measured{108790, 0, 8, 8}, 48960, 0, ""},
		"per GPU, full node of 2":       {perGPU, Measured{27000, 0, 2, 2}, 12240, 0, ""},
		"per GPU, 1 GPU":                {perGPU, Measured{6119, 0, 1, 1}, 6120, 0, "throughput"},
		"per GPU, partial occupancy":    {perGPU, Measured{24481, 0, 4, 8}, 24480, 0, ""},
		"per GPU, node size irrelevant": {perGPU, Measured{24481, 0, 4, 0}, 24480, 0, ""},
		"ttft only, GPUs unknown":       {Gate{CeilingTTFTP99MS: 2000}, Measured{0, 2000, 0, 0}, 0, 2200, ""},
		"floor only, no TTFT":           {Gate{Floor: 100}, Measured{90, 0, 0, 0}, 90, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Evaluate(c.g, c.m)
			if err != nil {
				t.Fatal(err)
			}
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
			if !near(e.EffectiveFloorTokPerSec, c.floor) || !near(e.EffectiveCeilingTTFTP99MS, c.ceiling) {
				t.Errorf("effective %v and %v", e.EffectiveFloorTokPerSec, e.EffectiveCeilingTTFTP99MS)
			}
			want := strings.Fields(c.fails)
			if e.Pass != (len(want) == 0) || e.Reasons == nil || len(e.Reasons) != len(want) {
				t.Fatalf("%+v", e)
			}
			for i, w := range want {
				if !strings.Contains(e.Reasons[i], w) {
					t.Errorf("reason %d is %q", i, e.Reasons[i])
				}
			}
		})
	}
}

func TestEvaluateHasNoVerdict(t *testing.T) {
	ok := Measured{50000, 500, 8, 8}
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		g    Gate
		m    Measured
		says string
	}{
		"no gate":              {Gate{Model: "x"}, ok, "not a pass"},
		"both floors":          {Gate{Floor: 1, FloorPerGPU: 1}, ok, "both set"},
		"per GPU, 0 GPUs":      {Gate{FloorPerGPU: 1}, Measured{50000, 500, 0, 8}, "got 0"},
		"per GPU, -1 GPU":      {Gate{FloorPerGPU: 1}, Measured{50000, 500, -1, 8}, "got -1"},
		"throughput missing":   {Gate{Floor: 1}, Measured{0, 500, 8, 8}, "throughput is missing"},
		"throughput NaN":       {Gate{FloorPerGPU: 1}, Measured{nan, 500, 8, 8}, "throughput is missing"},
		"throughput infinite":  {Gate{Floor: 1}, Measured{inf, 500, 8, 8}, "throughput is missing"},
		"throughput negative":  {Gate{Floor: 1}, Measured{-1, 500, 8, 8}, "throughput is missing"},
		"TTFT missing":         {Gate{CeilingTTFTP99MS: 1}, Measured{50000, 0, 8, 8}, "TTFT p99 is missing"},
		"TTFT NaN":             {Gate{CeilingTTFTP99MS: 1}, Measured{50000, nan, 8, 8}, "TTFT p99 is missing"},
		"TTFT negative":        {Gate{CeilingTTFTP99MS: 1}, Measured{50000, -1, 8, 8}, "TTFT p99 is missing"},
		"TTFT missing, failed": {Gate{Floor: 1e9, CeilingTTFTP99MS: 1}, Measured{50000, 0, 8, 8}, "TTFT p99 is missing"},
		"floor NaN":            {Gate{Floor: nan}, ok, "not a positive number"},
		"floor negative":       {Gate{FloorPerGPU: -1}, ok, "not a positive number"},
		"ceiling infinite":     {Gate{CeilingTTFTP99MS: inf}, ok, "not a positive number"},
		"product infinite":     {Gate{FloorPerGPU: math.MaxFloat64}, ok, "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Evaluate(c.g, c.m)
			if err == nil || e.Pass || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%+v, %v", e, err)
			}
		})
	}
}
