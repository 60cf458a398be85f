package aiperf

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// missing are what AIPerf 0.13.0 writes and this package does not, each with
// the reason; added are keys of our own. TestCapture fails on any difference
// that is not here, and on any line here that is none.
var missing = map[string]string{
	"http_req_blocked":         "a stream has a connection of its own: no pool to wait for",
	"http_req_connecting":      "a dial is not told apart from its name look-up; http_req_connection_overhead has both, with TLS",
	"http_req_dns_lookup":      "see http_req_connecting",
	"http_req_sending":         "sending begins with the first byte written; its end is not kept",
	"http_req_waiting":         "AIPerf waits for the first byte of the body; what is kept is the head of the answer (request_ack_ns)",
	"http_req_receiving":       "see http_req_waiting",
	"http_req_data_sent":       "bytes are not counted",
	"http_req_data_received":   "bytes are not counted",
	"http_req_chunks_sent":     "reads and writes of the transport are not counted",
	"http_req_chunks_received": "reads and writes of the transport are not counted",

	"usage_prompt_tokens_diff_pct":     "there is no tokenizer on this side whose count could differ from the server's",
	"usage_completion_tokens_diff_pct": "see usage_prompt_tokens_diff_pct",
	"usage_discrepancy_count":          "see usage_prompt_tokens_diff_pct",

	"effective_concurrency":                 "curves over the run's time are not kept; perfsweep.steady_window has the steady part",
	"effective_decode_throughput":           "see effective_concurrency",
	"effective_prefill_throughput":          "see effective_concurrency",
	"effective_decode_concurrency":          "see effective_concurrency",
	"effective_prefill_concurrency":         "see effective_concurrency",
	"effective_total_throughput":            "see effective_concurrency",
	"effective_decode_throughput_per_user":  "see effective_concurrency",
	"effective_prefill_throughput_per_user": "see effective_concurrency",
	"tokens_in_flight":                      "see effective_concurrency",
	"active_decode_throughput":              "see effective_concurrency",
	"active_prefill_throughput":             "see effective_concurrency",
	"active_decode_throughput_per_user":     "see effective_concurrency",
	"active_prefill_throughput_per_user":    "see effective_concurrency",
	"active_total_throughput":               "see effective_concurrency",

	"telemetry_data":               "no GPU telemetry is read",
	"input_config.artifacts":       "auto_plot and plot_required: nothing is plotted",
	"input_config.gpu_telemetry":   "no GPU telemetry is read",
	"input_config.server_metrics":  "no server metrics are read by profile",
	"input_config.network_latency": "latencies are not corrected for the network's",
	"input_config.otel":            "no such export",
	"input_config.mlflow":          "no such export",
	"input_config.wandb":           "no such export",
	"input_config.runtime":         "it names AIPerf's user interface",
	"metadata.x_request_id":        "no id is sent with a request",
	"metadata.x_correlation_id":    "no id is sent with a request",
	"metadata.root_correlation_id": "no id is sent with a request",
	"csv:GPU telemetry":            "no GPU telemetry is read",
}

var added = map[string]string{
	"perfsweep": "where the numbers come from, and what the generator says of itself",
}

// differences gathers what two files do not share.
type differences struct {
	t          *testing.T
	used       map[string]bool
	unexpected []string
}

func (d *differences) lacks(key string) {
	if missing[key] == "" {
		d.unexpected = append(d.unexpected, "lacks "+key)
	}
	d.used[key] = true
}

func (d *differences) has(key string) {
	if added[key] == "" {
		d.unexpected = append(d.unexpected, "has "+key)
	}
	d.used[key] = true
}

// TestCapture compares what is written with what AIPerf wrote, key by key:
// names, units, and which statistics there are.
func TestCapture(t *testing.T) {
	o := options(t, [2]string{"warmup-request-count", "4"}, [2]string{"export-level", "records"}, [2]string{"tokenizer", "x"}, [2]string{"extra-inputs", "temperature:0"})
	c, lines := recorded(t, o)
	d := &differences{t: t, used: map[string]bool{}}

	real, mine := decode(t, read(t, "profile_export_aiperf.json")), summary(t, c, aRun(o))
	d.blocks("", real, mine)
	d.blocks("", real["warmup_metrics"].(map[string]any), mine["warmup_metrics"].(map[string]any))
	d.keys("input_config.", real["input_config"], mine["input_config"])
	d.keys("run_info.", real["run_info"], mine["run_info"])

	asCSV, err := c.CSV(aRun(o))
	if err != nil {
		t.Fatal(err)
	}
	d.csv(read(t, "profile_export_aiperf.csv"), asCSV)

	captured := bytes.Split(bytes.TrimSpace(read(t, "profile_export.jsonl")), []byte("\n"))
	written := bytes.Split(bytes.TrimSpace(lines.Bytes()), []byte("\n"))
	for _, pair := range [][2]int{{0, 0}, {1, 4}} { // of the warm-up, of the measured part
		real, mine := decode(t, captured[pair[0]]), decode(t, written[pair[1]])
		d.keys("", real, mine)
		d.keys("metadata.", real["metadata"], mine["metadata"])
		d.blocks("", real["metrics"].(map[string]any), mine["metrics"].(map[string]any))
		if a, b := real["metadata"].(map[string]any)["benchmark_phase"], mine["metadata"].(map[string]any)["benchmark_phase"]; a != b {
			t.Errorf("phase %v, AIPerf's %v", b, a)
		}
	}
	slices.Sort(d.unexpected)
	for _, u := range slices.Compact(d.unexpected) {
		t.Errorf("the export %s and no reason is given", u)
	}
	for _, list := range []map[string]string{missing, added} {
		for key, reason := range list {
			if !d.used[key] || reason == "" {
				t.Errorf("%s is listed as a difference and is none", key)
			}
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// blocks compares objects of which some members are metrics.
func (d *differences) blocks(prefix string, real, mine map[string]any) {
	d.t.Helper()
	d.keys(prefix, real, mine)
	for key, v := range real {
		a, _ := v.(map[string]any)
		b, _ := mine[key].(map[string]any)
		if a["unit"] == nil || b == nil {
			continue
		}
		if a["unit"] != b["unit"] {
			d.t.Errorf("%s is in %v, AIPerf's in %v", key, b["unit"], a["unit"])
		}
		for name := range a {
			if _, ok := b[name]; !ok {
				d.t.Errorf("%s has no %s", key, name)
			}
		}
		for name := range b {
			if _, ok := a[name]; !ok {
				d.t.Errorf("%s has a %s, AIPerf's has none", key, name)
			}
		}
	}
}

func (d *differences) keys(prefix string, real, mine any) {
	a, b := real.(map[string]any), mine.(map[string]any)
	for key := range a {
		if _, ok := b[key]; !ok {
			d.lacks(prefix + key)
		} else if fmt.Sprintf("%T", a[key]) != fmt.Sprintf("%T", b[key]) {
			d.t.Errorf("%s%s is %T, AIPerf's %T", prefix, key, b[key], a[key])
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			d.has(prefix + key)
		}
	}
	if prefix == "input_config." && len(b["artifacts"].(map[string]any)) < len(a["artifacts"].(map[string]any)) {
		d.lacks("input_config.artifacts")
	}
}

// csv compares the lines by name, and the columns.
func (d *differences) csv(real, mine []byte) {
	d.t.Helper()
	a, b := rows(d.t, real), rows(d.t, mine)
	if strings.Join(a["Metric"], ",") != strings.Join(b["Metric"], ",") {
		d.t.Errorf("columns %v, AIPerf's %v", b["Metric"], a["Metric"])
	}
	for name, cells := range b {
		if a[name] == nil || len(a[name]) != len(cells) {
			d.t.Errorf("the CSV file has %q with %d cells, AIPerf's %v", name, len(cells), a[name])
		}
	}
	var absent int
	for name := range a {
		switch {
		case b[name] != nil:
		case strings.HasPrefix(name, "Endpoint"):
			d.lacks("csv:GPU telemetry")
		default:
			absent++
		}
	}
	// All metrics that the JSON file lacks by a reason, and only those.
	want := 0
	for key := range missing {
		if !strings.ContainsAny(key, ".:") && key != "telemetry_data" {
			want++
		}
	}
	if absent != want {
		d.t.Errorf("the CSV file lacks %d metrics, the JSON file %d", absent, want)
	}
}

// rows are the lines of a CSV file by their first cell.
func rows(t *testing.T, b []byte) map[string][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, l := range lines {
		if l[0] == "Metric" && len(l) == 2 {
			continue // the head of the second table
		}
		out[l[0]] = l
	}
	return out
}
