package calibrate

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The Nile at Aswan, 1871 to 1970: its volume fell with the year 1899, the 29th
// (Cobb, Biometrika 65, 1978).
func TestPettittNile(t *testing.T) {
	nile := []float64{
		1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140,
		1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969,
		831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759,
		781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
		744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
	}
	at, p := pettitt(nile)
	if at != 28 || p > 1e-6 {
		t.Errorf("index %d, p %.3g", at, p)
	}
}

// The statistic against its definition, the sum of signs over all pairs.
func TestPettittDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 79))
	for range 200 {
		v := make([]float64, 2+rng.IntN(40))
		for i := range v {
			v[i] = float64(rng.IntN(9)) // ties
		}
		largest := -1.0
		for split := 1; split < len(v); split++ {
			u := 0.0
			for _, a := range v[:split] {
				for _, b := range v[split:] {
					u += float64(b2i(a > b) - b2i(a < b))
				}
			}
			largest = max(largest, math.Abs(u))
		}
		n := float64(len(v))
		_, p := pettitt(v)
		near(t, "p", p, min(1, 2*math.Exp(-6*largest*largest/(n*n*n+n*n))), 1e-12)
	}
	if _, p := pettitt([]float64{1}); p != 1 {
		t.Errorf("one value: p %v", p)
	}
}

// lastJudged looks at a history from its last line.
func lastJudged(points []HistoryPoint) History {
	if len(points) == 0 {
		return JudgeHistory(nil, HistoryPoint{})
	}
	return JudgeHistory(points, points[len(points)-1])
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// series is a history of checks whose throughput falls to a share of itself
// from one of them on.
func series(rng *rand.Rand, n, from int, share, cv float64) []HistoryPoint {
	out := make([]HistoryPoint, n)
	for i := range out {
		x := 1000 * math.Exp(cv*rng.NormFloat64())
		if i >= from {
			x *= share
		}
		out[i] = HistoryPoint{SchemaVersion: 1, Time: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Verdict: Pass, Series: "s", ConcurrencyPerGPU: 8,
			TokPerSecPerGPU: x, TTFTP99MS: 500 * math.Exp(0.15*rng.NormFloat64())}
	}
	return out
}

// How often a steady series is said to have changed, in one look and in any of
// a hundred checks; and how soon a change is seen.
func TestChangePointRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 79))
	const trials = 400
	once, ever, seen := 0, 0, 0
	for range trials {
		steady := series(rng, 100, 100, 1, 0.04)
		found := false
		for n := changeFewest; n <= len(steady); n++ {
			h := lastJudged(steady[:n])
			changed := h.Throughput != nil || h.TTFTP99 != nil
			found = found || changed
			if n == changeMost && changed {
				once++
			}
		}
		if found {
			ever++
		}
		if h := lastJudged(series(rng, 45, 30, 0.93, 0.03)); h.Throughput != nil {
			seen++
		}
	}
	t.Logf("false alarms: %.4f in one look, %.4f in any of 100 checks; −7 %% seen after 15 checks in %.3f", float64(once)/trials, float64(ever)/trials, float64(seen)/trials)
	if share := float64(once) / trials; share > 0.01 {
		t.Errorf("a steady history changes in %.3f of the looks", share)
	}
	if share := float64(ever) / trials; share > 0.05 {
		t.Errorf("a steady history changes in %.3f of 100 checks", share)
	}
	if share := float64(seen) / trials; share < 0.95 {
		t.Errorf("−7 %% is seen in %.3f", share)
	}
}

func TestJudgeHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 79))
	h := lastJudged(series(rng, 40, 25, 0.9, 0.02))
	if h.Checks != 40 || h.Throughput == nil || math.Abs(h.Throughput.Ratio-0.9) > 0.02 || h.Throughput.Time.YearDay() != 26 || h.TTFTP99 != nil {
		t.Errorf("%+v %+v", h, h.Throughput)
	}
	if !strings.Contains(h.Reason, "CHANGE of throughput by x0.") || !strings.Contains(h.Reason, "2026-01-26") {
		t.Errorf("%q", h.Reason)
	}
	if h := lastJudged(series(rng, 29, 15, 0.5, 0.02)); h.Throughput != nil || !strings.Contains(h.Reason, "29 comparable checks, change points are looked for from 30 on") {
		t.Errorf("%+v", h)
	}
	if h := lastJudged(series(rng, 40, 20, 0.985, 0.001)); h.Throughput != nil {
		t.Errorf("a change of 1.5 %% matters: %+v", h.Throughput)
	}
	if h := lastJudged(nil); h.Checks != 0 || h.Reason == "" {
		t.Errorf("%+v", h)
	}
	// Other series, other loads and checks without an answer are not compared.
	mixed := series(rng, 40, 20, 0.9, 0.02)
	for i := range 20 {
		switch i % 4 {
		case 0:
			mixed[i].Series = "other"
		case 1:
			mixed[i].ConcurrencyPerGPU = 16
		case 2:
			mixed[i].Verdict = Inconclusive
		case 3:
			mixed[i].TTFTP99MS = 0
		}
	}
	if h := lastJudged(mixed); h.Checks != 20 {
		t.Errorf("%d checks are compared", h.Checks)
	}
	two := series(rng, 2, 2, 1, 0.01)
	for alarms := range 4 {
		two[0].DriftAlarm, two[1].DriftAlarm = alarms&1 > 0, alarms&2 > 0
		if h := lastJudged(two); h.DriftConfirmed != (alarms == 3) {
			t.Errorf("%d: %+v", alarms, h)
		}
	}
}

func TestReadHistory(t *testing.T) {
	const good = `{"schema_version":1,"time":"2026-01-02T03:04:05Z","verdict":"pass","series_sha256":"s","concurrency_per_gpu":8}` + "\n"
	for text, want := range map[string]string{
		"":                          "",
		good + good:                 "",
		good + "{}\n":               "line 2: schema_version 0",
		good + good[:20]:            "line 2 has no end",
		good + "\n":                 "line 2: not a point",
		"null\n":                    "line 1: schema_version",
		"[1]\n":                     "line 1: not a point",
		good[:len(good)-1] + "{}\n": "line 1: something follows",
		strings.Repeat("x", 20<<10): "line 1 is longer",
		good + "\x00\xff\n":         "line 2: not a point",
		good + strings.Replace(good, `"pass"`, `"perhaps"`, 1):                                 "line 2: verdict \"perhaps\"",
		good + strings.Replace(good, "2026-01-02T03:04:05Z", "0001-01-01T00:00:00Z", 1):        "line 2: no time",
		good + strings.Replace(good, `"concurrency_per_gpu":8`, `"concurrency_per_gpu":-8`, 1): "line 2: no series",
		good + strings.Replace(good, `8}`, `8,"output_tok_per_s_per_gpu":-1}`, 1):              "line 2: -1 is no measurement",
		good + strings.Replace(good, `8}`, `8,"output_tok_per_s_per_gpu":1e999}`, 1):           "line 2: not a point",
		good + strings.Replace(good, `"schema_version":1`, `"schema_version":2`, 1):            "line 2: schema_version 2",
	} {
		points, err := ReadHistory(strings.NewReader(text))
		if want == "" && (err != nil || len(points) != strings.Count(text, "\n")) {
			t.Errorf("%q: %d points, %v", text, len(points), err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.200q: %v, want %q", text, err, want)
		}
	}
}

// A point that was read is written as one line that reads the same.
func FuzzReadHistory(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"time":"2026-01-02T03:04:05Z","verdict":"fail","series_sha256":"s","concurrency_per_gpu":8,"ttft_p99_ms":5e-324}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		points, err := ReadHistory(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		for _, p := range points {
			line, err := json.Marshal(p)
			if err != nil || bytes.ContainsRune(line, '\n') {
				t.Fatalf("%+v: %v", p, err)
			}
			again.Write(append(line, '\n'))
		}
		if back, err := ReadHistory(&again); err != nil || len(back) != len(points) {
			t.Fatalf("%d points, then %d: %v", len(points), len(back), err)
		}
		_ = lastJudged(points).Reason
	})
}

// What a check leaves can be read again.
func TestHistoryPointOfACheck(t *testing.T) {
	base, now := pulseFixture()
	gate := testGate()
	gate.ConcurrencyPerGPU, gate.FloorPerGPU = 32, 4300
	r := Check(gate, now, 8, &base)
	p, ok := NewHistoryPoint(now, r)
	if !ok || p.Verdict != Pass || p.TokPerSecPerGPU != r.TokPerSecPerGPU || p.PulseRatio != r.Pulse.Ratio || p.Time.IsZero() {
		t.Errorf("%v %+v", ok, p)
	}
	now.Fingerprint.Target, now.Fingerprint.ToolVersion = "http://other", "v9"
	if q, _ := NewHistoryPoint(now, r); q.Series != p.Series {
		t.Error("another address is another series")
	}
	now.Fingerprint.Labels = map[string]string{"image": "new"}
	if q, _ := NewHistoryPoint(now, r); q.Series == p.Series {
		t.Error("another image is the same series")
	}
	now.Runs = nil
	if q, ok := NewHistoryPoint(now, r); ok {
		t.Errorf("no runs, and a point: %+v", q)
	}
}

// The order of lines does not matter, a check counts once, and what came after
// the one that is judged is not looked at.
func TestHistoryOrder(t *testing.T) {
	points := series(rand.New(rand.NewPCG(6, 79)), 40, 25, 0.9, 0.02)
	want := lastJudged(points)
	last := points[39]
	back := slices.Clone(points)
	slices.Reverse(back)
	for name, c := range map[string]struct {
		points []HistoryPoint
		says   string
	}{
		"backwards": {back, "; its lines are not in the order of time, and were put into it"},
		"doubled":   {slices.Concat(points, points[:7]), "; 7 of its lines are of a check that it has already, and count once"},
		"old again": {slices.Concat(points[1:], points[:1]), "; its lines are not in the order of time, and were put into it"},
	} {
		got := JudgeHistory(c.points, last)
		if got.Reason != want.Reason+c.says || got.Checks != 40 || *got.Throughput != *want.Throughput {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := JudgeHistory(points, points[20]); got.Checks != 21 || got.Throughput != nil || !strings.HasSuffix(got.Reason, "; 19 checks are later than this one, and are not looked at") {
		t.Errorf("as of the 21st: %+v", got)
	}
}

// No change is looked for across a change of what is measured.
func TestNoChangeAcrossFingerprints(t *testing.T) {
	points := series(rand.New(rand.NewPCG(7, 79)), 80, 40, 0.5, 0.02)
	for i := range points[:40] {
		points[i].Series = "before"
	}
	if h := lastJudged(points); h.Checks != 40 || h.Throughput != nil || h.TTFTP99 != nil {
		t.Errorf("%+v", h)
	}
	for i := range points {
		points[i].Series = "before"
	}
	if h := lastJudged(points); h.Throughput == nil {
		t.Errorf("one series: %+v", h)
	}
}

func TestHistoryDates(t *testing.T) {
	points := series(rand.New(rand.NewPCG(8, 79)), 4, 4, 1, 0.02)
	now := points[3].Time
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{now.Add(59 * time.Minute), ""},
		{now.Add(24*time.Hour + time.Minute), "line 3: a check of 2026-01-05T00:01:00Z, which is still to come by this machine's clock; correct the line or delete it"},
		{now.AddDate(200, 0, 0), "line 3: a check of 2226-01-04T00:00:00Z, which is still to come"},
		{time.Unix(5, 0), "line 3: a check of 1970-01-01T00:00:05Z, by a clock that was never set"},
	} {
		points[2].Time = c.at
		if err := HistoryDates(points, now); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.at, err)
		}
	}
}
