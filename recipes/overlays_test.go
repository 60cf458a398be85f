package recipes

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// record is a run of Qwen/Qwen3-8B in the public record of AICR. The number
// counts the rows of its table of runs; source is where the run was published.
type record struct {
	row       int
	gpus      int // 0 = not recorded
	conc      int // per GPU
	image     string
	router    string // RR round-robin, LL least-loaded
	tokPerSec float64
	ttftMS    float64
	source    string
	excluded  string // why it does not count; "" = it does
}

// publicRecord lists, for each accelerator and service, all runs with a known
// throughput. What counts: accelerator, service and GPU count are recorded, the
// run is healthy, and nothing newer (image, then router) was published.
func publicRecord() map[string][]record {
	const stalled, older = "stalled", "an older image or router"
	return map[string][]record{
		"h100-eks": {
			{1, 8, 256, "0.9.0", "RR", 108789.87, 687.5, "#1116", older},
			{2, 8, 256, "", "", 64538, 16328, "#1181", "5 of 8 workers ready"},
			{3, 8, 256, "", "", 108455, 657, "#1181", older},
			{6, 8, 256, "1.0.2", "RR", 108739, 973, "report §4.5", older}, // the lowest of rows 4–9
			{11, 8, 256, "1.0.2", "RR", 84049, 4155, "#1197", stalled},
			{13, 8, 256, "1.0.2", "RR", 48920, 30743, "report §4.7", stalled},
			{15, 8, 256, "1.0.2", "RR", 92865, 1056, "report §4.7", older},
			{18, 8, 256, "1.0.2", "RR", 92590, 4844, "report §4.7", stalled},
			{20, 8, 256, "1.0.2", "RR", 77537, 12295, "report §4.7", stalled},
			{26, 8, 256, "", "kv", 104282, 1068, "#1374", older},
			{27, 8, 256, "", "LL", 120975, 660, "#1374", ""},
			{28, 8, 256, "", "LL", 136054, 703, "#1399", ""},
		},
		"h100-gke": {
			{30, 8, 256, "0.9.0", "RR", 108164, 586, "report §4.6", older},
			{31, 8, 256, "1.0.2", "RR", 137105, 474, "report §4.6", ""},
			{32, 8, 256, "1.0.2", "RR", 140641, 227, "report §4.6", ""},
			{33, 8, 256, "1.0.2", "RR", 138700, 365, "report §4.6", ""},
		},
		"h100-aks": {
			{34, 8, 256, "", "LL", 146705, 674, "#1699", "image not recorded, before the first run named 1.2.1"},
			{35, 8, 256, "1.2.1", "LL", 54060, 4485, "#1766", "isolcpus"},
			{36, 8, 256, "1.2.1", "LL", 49248, 5125, "#1766", "isolcpus"},
			{37, 8, 256, "1.2.1", "LL", 46718, 5717, "#1766", "isolcpus"},
			{38, 8, 256, "1.2.1", "LL", 50404, 6034, "#1766", "isolcpus"},
			{39, 8, 256, "1.2.1", "LL", 148344, 614, "#1767", ""},
			{40, 8, 256, "1.2.1", "LL", 146452, 547, "nodewright-packages#96", ""},
			{41, 8, 256, "", "LL", 148004, 579.7, "overlay", ""}, // 41–44: later than row 40, so 1.2.1 or newer
			{42, 8, 256, "", "LL", 147600, 564, "#1840", ""},
			{43, 8, 256, "", "LL", 145300, 604, "#1863", ""},
			{44, 8, 256, "", "LL", 144879, 549, "#1896", ""},
		},
		"gb200-eks": {
			{45, 4, 256, "", "", 65952, 1240, "#1116", ""},
			{46, 0, 256, "", "kv", 69649, 1817, "#1374", "service and GPU count not recorded"},
			{47, 0, 256, "", "LL", 94929, 742, "#1374", "service and GPU count not recorded"},
		},
		"gb300-eks": {
			{48, 4, 256, "1.0.2-cuda13", "", 86539, 893, "#1318", older},
			{49, 4, 256, "1.2.1", "LL", 20769, 33320, "#2385", "past the knee"},
			{50, 4, 256, "1.2.1-cuda13", "LL", 21100, 33362, "#2385", "past the knee"},
			{51, 4, 128, "1.2.1", "LL", 84788, 677, "#2385", ""},
		},
		"rtx-pro-6000-eks": {
			{52, 8, 256, "", "", 59260, 445, "#1116", older},
			{53, 8, 256, "1.0.2", "RR", 73993, 537, "report §4.1", ""},
			{54, 8, 256, "1.0.2", "RR", 74833, 459, "report §4.8", ""},
			{55, 0, 256, "", "kv", 64357, 799, "#1374", "service and GPU count not recorded"},
			{56, 0, 256, "", "LL", 79433, 379, "#1374", "service and GPU count not recorded"},
		},
		"gb200-oke": nil, // mirrored upstream, never run
		"b200-gke":  nil, // never run
	}
}

// floor2 rounds down to two significant digits.
func floor2(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Floor(v/unit) * unit
}

func shipped(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("overlays/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, p := range paths {
		src, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Parse(p, src)
		if err != nil {
			t.Fatal(err)
		}
		acc, svc, sys := o.Criterion("accelerator"), o.Criterion("service"), o.Criterion("os")
		if want := fmt.Sprintf("%s-%s-%s-inference-dynamo", acc, svc, sys); o.Name() != want || filepath.Base(p) != want+".yaml" || (sys == "cos") != (svc == "gke") {
			t.Errorf("%s is named %s, its criteria say %s", p, o.Name(), want)
		}
		if o.APIVersion() != "aicr.run/v1beta1" || !strings.HasPrefix(string(src), "# SPDX-FileCopyrightText: ") {
			t.Errorf("%s: apiVersion %s, or no licence", p, o.APIVersion())
		}
		for rule, n := range yamllint(string(src)) {
			t.Errorf("%s: yamllint %s × %d", p, rule, n)
		}
		found[acc+"-"+svc] = string(src)
	}
	return found
}

// Every shipped floor is recomputed from the runs it says it comes from.
func TestShippedOverlaysFollowThePublicRecord(t *testing.T) {
	overlays := shipped(t)
	if len(overlays) != len(publicRecord()) {
		t.Errorf("%d overlays, %d records", len(overlays), len(publicRecord()))
	}
	for key, runs := range publicRecord() {
		src := overlays[key]
		o, err := Parse(key, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		g, ok, err := o.Gate()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(src, "provisional: public record, no sweep") {
			t.Errorf("%s does not say provisional", key)
		}
		if runs == nil {
			if ok || !g.Empty() || len(o.Checks()) != 0 || !strings.Contains(src, "The check is off.") {
				t.Errorf("%s: never measured, but has %+v", key, g)
			}
			continue
		}
		lowest := record{tokPerSec: math.Inf(1)}
		for _, r := range runs {
			if r.excluded == "" && r.tokPerSec/float64(r.gpus) < lowest.tokPerSec {
				lowest, lowest.tokPerSec = r, r.tokPerSec/float64(r.gpus)
			}
		}
		want := Gate{"Qwen/Qwen3-8B", lowest.conc, "dynamo-router", floor2(0.80 * lowest.tokPerSec), 0, 2000}
		if g != want || !ok {
			t.Errorf("%s: %+v\nwant %+v from row %d", key, g, want, lowest.row)
		}
		says := thousands(lowest.tokPerSec * float64(lowest.gpus))
		if !strings.Contains(src, says+" tok/s") && !strings.Contains(src, says+" / ") {
			t.Errorf("%s does not name its source %s", key, says)
		}
		if eff := thousands(0.9 * want.FloorPerGPU); !strings.Contains(strings.ReplaceAll(src, "\n      #", ""), "acts as "+eff) {
			t.Errorf("%s does not say that it acts as %s", key, eff)
		}
		judgeRecord(t, key, g, runs)
	}
}

func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	return s[:len(s)-3] + "," + s[len(s)-3:]
}

// judgeRecord: healthy runs pass their own overlay, the known bad ones fail.
func judgeRecord(t *testing.T, key string, g Gate, runs []record) {
	for _, r := range runs {
		if r.gpus == 0 || r.excluded != "" && r.ttftMS < 2200 {
			continue
		}
		e, err := Evaluate(g, Measured{r.tokPerSec, r.ttftMS, r.gpus, r.gpus})
		if err != nil || e.Pass != (r.excluded == "") {
			t.Errorf("%s row %d (%s): %+v, %v", key, r.row, r.excluded, e, err)
		}
	}
}

func TestShippedOverlaysLint(t *testing.T) {
	for key, src := range shipped(t) {
		var got []string
		for _, f := range Lint(key, []byte(src)) {
			got = append(got, f.Severity+" "+f.Rule)
		}
		want := "warning provisional, warning per-gpu-name"
		if publicRecord()[key] == nil {
			want = ""
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s; want %s", key, s, want)
		}
	}
}

// A calibration of a shipped overlay replaces the provisional comment and
// switches the check on where it was off.
func TestShippedOverlaysCanBeCalibrated(t *testing.T) {
	files := shipped(t)
	fixture, err := os.ReadFile("testdata/aicr-h100-like.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files["fixture"] = string(fixture)
	for key, src := range files {
		for _, g := range []Gate{sampleGate(), {"m", 1, "gateway-epp", 0, 1e6, 1}, {"m", 1, "gateway-epp", 0, 0, 0.5}} {
			out, err := setGate(t, src, g, sampleComment())
			if err != nil {
				t.Errorf("%s: %v", key, err)
			}
			if strings.Contains(out, "provisional") || strings.Count(out, markBegin) != 1 {
				t.Errorf("%s keeps the old comment", key)
			}
			o, err := Parse(key, []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			current, ok, _ := o.Gate()
			if same, err := o.SetGate(current, nil); ok && (err != nil || strings.Count(Diff(key, []byte(src), same), "\n+") > 1) {
				t.Errorf("%s: its own gate changes it: %v\n%s", key, err, Diff(key, []byte(src), same))
			}
		}
	}
	// Half of the speed could vanish unseen: the reason for this program.
	if f := Lint("fixture", fixture); len(f) != 1 || f[0].Rule != "floor-slack" || f[0].Line != 77 {
		t.Errorf("%+v", f)
	}
}
