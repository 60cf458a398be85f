package observe

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sampled lists the samples of parsed families whose names are in the
// vocabulary, in any order.
func sampled(t *testing.T, text []byte) []string {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var out []string
	add := func(name string, m *dto.Metric, v float64) {
		if vocabulary()[name] == nil {
			return
		}
		var b bytes.Buffer
		one := &dto.MetricFamily{Name: &name, Type: dto.MetricType_UNTYPED.Enum(), Metric: []*dto.Metric{{Label: m.GetLabel(), Untyped: &dto.Untyped{Value: &v}}}}
		if _, err := expfmt.MetricFamilyToText(&b, one); err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(b.String(), "\n") // behind the type
		out = append(out, line)
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				add(name, m, m.GetCounter().GetValue())
			case dto.MetricType_GAUGE:
				add(name, m, m.GetGauge().GetValue())
			case dto.MetricType_HISTOGRAM:
				add(name+"_sum", m, m.GetHistogram().GetSampleSum())
				add(name+"_count", m, float64(m.GetHistogram().GetSampleCount()))
			default:
				add(name, m, m.GetUntyped().GetValue())
			}
		}
	}
	slices.Sort(out)
	return out
}

// scanned are the same samples of what the parser is given.
func scanned(t *testing.T, page []byte) []string {
	t.Helper()
	var s samples
	if err := s.scan(page); err != nil {
		return nil
	}
	return sampled(t, s.text)
}

// The lines that are left out take nothing with them: on the pages of real
// servers, with their buckets, the parser finds the same samples of the
// vocabulary in what is left as in all.
func TestScanLosesNothing(t *testing.T) {
	for _, name := range []string{"frontend.prom", "frontend-kv.prom", "worker1-load.prom", "worker-sglang.prom", "worker-trtllm.prom", "vllm.prom", "llamacpp.prom"} {
		page := []byte(withBuckets(recorded(t, name)))
		want := sampled(t, page)
		if diff := cmp.Diff(want, scanned(t, page)); diff != "" || len(want) < 6 {
			t.Errorf("%s: %d samples (-want +got)\n%s", name, len(want), diff)
		}
	}
}

// FuzzScan is TestScanLosesNothing for pages that a client library could write:
// any labels, values and types, known families between unknown ones.
func FuzzScan(f *testing.F) {
	f.Add("tiny", "} 7 # {", 4.0, uint8(0), uint16(3), int64(0))
	f.Add("a\\\"\n,", "vllm:num_requests_running 1\n", math.Inf(1), uint8(4), uint16(200), int64(1730000000123))
	f.Fuzz(func(t *testing.T, a, b string, v float64, kind uint8, word uint16, at int64) {
		names := slices.Sorted(maps.Keys(vocabulary()))
		known, other := names[int(word)%len(names)], names[(int(word)+len(names)/2)%len(names)]
		if histogramOf(known) == histogramOf(other) {
			return // one family twice is no valid page
		}
		var page bytes.Buffer
		for i, name := range []string{"x_" + known, known, known + "_x", other} {
			m := &dto.Metric{Label: []*dto.LabelPair{pair("model", a), pair("x", b)}}
			if at != 0 {
				m.TimestampMs = &at
			}
			typ := []dto.MetricType{dto.MetricType_COUNTER, dto.MetricType_GAUGE, dto.MetricType_UNTYPED, dto.MetricType_HISTOGRAM}[(int(kind)+i)%4]
			switch typ {
			case dto.MetricType_COUNTER:
				m.Counter = &dto.Counter{Value: &v}
			case dto.MetricType_GAUGE:
				m.Gauge = &dto.Gauge{Value: &v}
			case dto.MetricType_HISTOGRAM:
				name = histogramOf(name)
				n, edge := uint64(math.Float64bits(v)>>44), 1.5
				m.Histogram = &dto.Histogram{SampleSum: &v, SampleCount: &n, Bucket: []*dto.Bucket{{UpperBound: &edge, CumulativeCount: &n}}}
			default:
				m.Untyped = &dto.Untyped{Value: &v}
			}
			if _, err := expfmt.MetricFamilyToText(&page, &dto.MetricFamily{Name: &name, Help: &b, Type: typ.Enum(), Metric: []*dto.Metric{m}}); err != nil {
				t.Fatal(err)
			}
		}
		if len(a)+len(b) > maxLine/4 || !bytes.Equal(page.Bytes(), bytes.ToValidUTF8(page.Bytes(), nil)) {
			return
		}
		if diff := cmp.Diff(sampled(t, page.Bytes()), scanned(t, page.Bytes())); diff != "" {
			t.Errorf("(-all +known)\n%s\n%s", diff, page.Bytes())
		}
	})
}

// histogramOf is the family of which a name can be a part.
func histogramOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
}

func pair(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }

// One translation of many pages says what a new one says of each: what it keeps
// between pages never shows. Pages grow and lose series, change a label, break
// and heal.
func TestTranslationOfManyPages(t *testing.T) {
	worker := func(id, running string) string {
		return `dynamo_component_uptime_seconds{worker_id="` + id + "\"} 3.5\nvllm:num_requests_running{engine=\"0\"} " + running + "\n"
	}
	pages := []string{
		worker("a", "4"), worker("a", "5"), worker("b", "5"), worker("b", "NaN"), worker("b", "6"), worker("b", "0x1p3"), worker("b", "1_0"), worker("b", "7"),
		worker("b", "7") + worker("c", "8"), worker("b", "7"), "", worker("b", "8"), "dynamo_frontend_queued_requests 1\n" + worker("b", "8"),
		"dynamo_frontend_queued_requests 2\n" + worker("b", "9"), "vllm:cache_config_info{num_gpu_blocks=\"7\"} 1\n", "vllm:cache_config_info{num_gpu_blocks=\"8\"} 1\n",
		"vllm:num_requests_running{a=\"1\"} 1\nvllm:num_requests_waiting{a=\"1\"} 2\n", "vllm:num_requests_waiting{a=\"1\"} 2\nvllm:num_requests_running{a=\"1\"} 1\n",
		"vllm:num_requests_running{evil} 1\n", "vllm:num_requests_running{model=\"other\"} 1\n", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"g\"} 4\n", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"g\"} 8\n",
	}
	for _, name := range []string{"frontend.prom", "vllm.prom", "worker1-load.prom"} {
		text := recorded(t, name)
		pages = append(pages, text, text, strings.ReplaceAll(text, "} 4", "} 5"), text[:len(text)/2])
	}
	many := newTranslation("page", "tiny")
	for round := range 2 {
		for i, page := range pages {
			want, wantErr := Translate([]byte(page), "page", "tiny")
			got, err := many.page([]byte(page))
			if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) {
				t.Errorf("round %d, page %d: errors %v and %v (-new +kept)\n%s\n%s", round, i, wantErr, err, diff, page)
			}
		}
	}
}
