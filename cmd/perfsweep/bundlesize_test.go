package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// A full campaign: its levels, the runs of each, and whose pages are read, beside a
// frontend's. Its bundle may take maxBundle bytes.
const fullLevels, fullRepeats, fullWorkers, maxBundle = 40, 10, 8, 5_000_000

// The bundle of a full campaign can be sent about, and verifies. The campaign is one
// that was measured, multiplied: each run has numbers of its own in every digit, and
// on the frontend's page and the workers' stand all metrics that are known, where a
// server publishes a half of them and constants among these. So it is an upper bound.
func TestBundleOfFullCampaign(t *testing.T) {
	levels, most := fullLevels, int64(maxBundle)
	if testing.Short() { // the race detector is seven times slower
		levels, most = levels/10, most/10
	}
	c := fullCampaign(t, levels)
	t.Chdir(t.TempDir())
	writeJournal(t, "full.jsonl", c)
	overlay := "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata:\n  name: o\nspec:\n  criteria:\n    accelerator: gb300\n"
	if err := os.WriteFile("o.yaml", []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	perfsweep := func(want int, args string) string {
		var out, said bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), nil, &out, &said); code != want {
			t.Fatalf("%s: exit code %d, want %d: %s%s", args, code, want, &said, &out)
		}
		return out.String()
	}
	perfsweep(exitInconclusive, "calibrate --journal full.jsonl --overlay o.yaml --allow-simulated --bundle full.bundle")
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	t.Logf("%d runs of %d levels, %d pages each: a journal of %d bytes, a bundle of %d", len(c.Runs), levels, fullWorkers+1, size("full.jsonl"), size("full.bundle"))
	if n := size("full.bundle"); n >= most {
		t.Errorf("the bundle has %d bytes, %d are the most", n, most)
	}
	if said := perfsweep(exitDone, "verify full.bundle"); !strings.Contains(said, fmt.Sprintf("its %d runs", levels*fullRepeats)) {
		t.Error(said)
	}
}

// fullCampaign multiplies the runs of a recorded campaign.
func fullCampaign(t *testing.T, levels int) sweep.Curve {
	t.Helper()
	c, err := sweep.ReadJournal("testdata/report/gb300.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	m := multiplier{rand.New(rand.NewPCG(1, 2))}
	templates := c.Runs
	c.Runs, c.Plan.Levels, c.Plan.Repeats, c.Plan.MaxRuns = nil, nil, fullRepeats, levels*fullRepeats
	c.Fingerprint.Labels, c.Fingerprint.GPUs = map[string]string{"engine": "vllm", "workers": fmt.Sprint(fullWorkers)}, fullWorkers
	ids := make([]string, fullWorkers)
	for i := range ids {
		ids[i] = fmt.Sprint(uint64(1e18) + m.Uint64()>>4)
	}
	at := c.Started.Add(time.Minute)
	for level := range levels {
		c.Plan.Levels = append(c.Plan.Levels, 8*(level+1))
	}
	for range fullRepeats {
		for _, n := range c.Plan.Levels {
			r := m.run(t, templates[len(c.Runs)%len(templates)], n, ids, at)
			r.Seq = len(c.Runs) + 1
			c.Runs, at = append(c.Runs, r), r.Result.Ended.Add(m.seconds(1))
		}
	}
	return c
}

// multiplier draws numbers of which every digit is another.
type multiplier struct{ *rand.Rand }

func (m multiplier) about(x, share float64) float64 { return x * (1 + share*(2*m.Float64()-1)) }

func (m multiplier) seconds(s float64) time.Duration {
	return time.Duration(m.about(s, 0.1) * float64(time.Second))
}

// run is one of other numbers at n per GPU, that agree with each other.
func (m multiplier) run(t *testing.T, template sweep.Run, n int, ids []string, at time.Time) sweep.Run {
	t.Helper()
	r := template
	roll := sweep.Roll{Ready: len(ids), IDs: ids}
	r.Step = sweep.Step{ConcurrencyPerGPU: n, Kind: loadgen.Steady, Purpose: sweep.Coarse, Why: template.Step.Why}
	r.Workers = &sweep.Workers{Expected: len(ids), From: "as at the preflight", Before: roll, After: roll}
	r.Window, r.Violations = 1, nil
	res := &r.Result
	streams := n * fullWorkers
	res.Kind, res.Concurrency = loadgen.Steady, streams
	// A curve with a knee, and noise.
	rate := m.about(20_000*fullWorkers*float64(n)/float64(n+100), 0.01)
	requests := int64(12*streams + m.IntN(streams))
	for _, e := range []*loadgen.Estimate{&res.Window, &res.WholeRun} {
		m.latencies(e, 0.7+0.6*m.Float64())
		e.Requests, e.OutputTokens = requests, float64(requests)*res.OutputTokensPerRequest
		e.Seconds = e.OutputTokens / m.about(rate, 0.001)
		e.OutputTokPerSec, e.RequestsPerSec = e.OutputTokens/e.Seconds, float64(requests)/e.Seconds
	}
	series := make([]float64, len(res.Series))
	sum := 0.0
	for i := range series {
		series[i] = m.about(1, 0.1)
		sum += series[i]
	}
	for i := range series {
		series[i] *= res.Window.OutputTokens / sum
	}
	res.Series, res.SeriesSeconds, res.SeriesStartS = series, res.Window.Seconds/float64(len(series)), m.about(0.5, 0.2)
	res.Measured, res.All = loadgen.Outcomes{loadgen.OK: requests}, loadgen.Outcomes{loadgen.OK: requests + int64(2*streams)}
	res.TotalOutputTokens, res.TotalPromptTokens = int64(res.OutputTokensPerRequest)*(requests+int64(2*streams)), 128*(requests+int64(2*streams))
	res.CachedTokensTold = requests
	m.all(reflect.ValueOf(&res.Health).Elem())
	res.Health.DeliveredConcurrency = float64(streams) * m.about(0.998, 0.001)
	res.Health.DeliveredConcurrencyLow = res.Health.DeliveredConcurrency * m.about(0.998, 0.001)
	res.Started, r.Started = at, at
	res.Ended = at.Add(m.seconds(res.Window.Seconds * 1.2))
	r.Servers = m.servers(t, ids, requests, streams)
	return r
}

// latencies multiplies what is told in ms with one number, as order is a law.
func (m multiplier) latencies(e *loadgen.Estimate, by float64) {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Float64 && strings.HasSuffix(v.Type().Field(i).Name, "MS") {
			f.SetFloat(math.Round(f.Float()*by*1e6) / 1e6)
		}
	}
}

// all multiplies every number of a struct with one of its own.
func (m multiplier) all(v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Float64 {
			f.SetFloat(m.about(f.Float(), 0.2))
		}
	}
}

func (m multiplier) servers(t *testing.T, ids []string, requests int64, streams int) *sweep.Servers {
	t.Helper()
	frontend := []observe.Metric{
		observe.Active, observe.Queued, observe.RouterPending, observe.Shed, observe.PreprocessSum, observe.PreprocessN, observe.RouteSum, observe.RouteN, observe.SendSum, observe.SendN,
		observe.LoopStalls, observe.LoopQueue, observe.MaxNumSeqs, observe.KVBlocks, observe.KVBlockTokens, observe.ContextTokens, observe.FrontendTokens,
		observe.Requests, observe.EngineTTFTSum, observe.EngineTTFTN,
	}
	worker := []observe.Metric{
		observe.Running, observe.Waiting, observe.KVUsage, observe.Preemptions, observe.PrefixQueries, observe.PrefixHits, observe.PromptTokens, observe.OutputTokens, observe.Requests,
		observe.EngineErrors, observe.UptimeS, observe.EngineTTFTSum, observe.EngineTTFTN, observe.EngineITLSum, observe.EngineITLN, observe.LastITLS, observe.LastTTFTS,
		observe.DecodeBlocks, observe.QueueTimeSum, observe.QueueTimeCount,
	}
	span := observe.Span{Scrapes: 60 + m.IntN(60), LongestGapS: m.about(1, 0.01), Frontends: 1, FrontendsStart: 1, FrontendsEnd: 1, Frontend: m.stats(frontend)}
	s := &sweep.Servers{Frontends: &sweep.Frontends{Expected: 1, Before: 1, After: 1}}
	for i, id := range ids {
		span.Workers = append(span.Workers, observe.Worker{ID: id, Page: fmt.Sprintf("http://10.0.0.%d:9090/metrics", i), Stats: m.stats(worker), UnreadS: m.about(1, 0.01)})
		s.Shares = append(s.Shares, sweep.Share{Worker: id, Completed: m.about(float64(requests)/fullWorkers, 0.02), InFlight: m.about(float64(streams)/fullWorkers, 0.02)})
	}
	var err error
	if s.Said, err = json.Marshal(span); err != nil {
		t.Fatal(err)
	}
	return s
}

func (m multiplier) stats(of []observe.Metric) observe.Stats {
	out := observe.Stats{}
	for _, name := range of {
		mean := m.about(100, 0.9)
		out[name] = observe.Stat{Mean: mean, Min: mean * m.Float64(), Max: mean * (1 + m.Float64()), Delta: m.about(100*mean, 0.1), N: 60}
	}
	return out
}
