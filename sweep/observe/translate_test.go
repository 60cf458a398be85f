package observe

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func translated(t *testing.T, page, model string) Snapshot {
	t.Helper()
	s, err := Translate([]byte(page), "page", model)
	if err != nil {
		t.Fatalf("%v\n%s", err, page)
	}
	return s
}

// Pages of real servers. Dynamo's are of 1.6.1 with mocker workers, vLLM's of
// 0.32.0 and llama.cpp's of 2026-11, each while it served.
func TestRecordedPages(t *testing.T) {
	for name, want := range map[string]Snapshot{
		"frontend.prom": {
			Frontend: Reading{
				Active: 16, Queued: 8, Requests: 18, EngineErrors: 6, FrontendTokens: 338, LoopStalls: 7, LoopQueue: 0,
				MaxNumSeqs: 4, KVBlocks: 4096, KVBlockTokens: 16, ContextTokens: 512, UptimeS: 3.80335309,
				PreprocessSum: 0.020177785, PreprocessN: 29, RouteSum: 0.00039210899999999997, RouteN: 30,
				SendSum: 0.054888217, SendN: 30,
				EngineTTFTSum: 1.8386439169999997, EngineTTFTN: 20, EngineITLSum: 0.678657913, EngineITLN: 29,
			},
			Engines: map[string]Reading{
				"14959705552560362131": {LastITLS: 0.031839299, LastTTFTS: 0.168585623},
				"1670803154388559761":  {LastITLS: 0.024706501, LastTTFTS: 0.184310112},
			},
			Facts: map[string]string{FactContextTokens: "512", FactKVBlockTokens: "16", FactKVBlocks: "4096", FactMaxNumSeqs: "4"},
		},
		"frontend-kv.prom": {
			Frontend: Reading{
				Active: 1, Queued: 0, Requests: 2, EngineErrors: 1, Shed: 1, RouterPending: 0, FrontendTokens: 11, LoopStalls: 1, LoopQueue: 0,
				MaxNumSeqs: 16, KVBlocks: 64, KVBlockTokens: 16, UptimeS: 1.257729045, // the context length is 0: unknown
				PreprocessSum: 0.000998878, PreprocessN: 3, RouteSum: 0.000005558, RouteN: 2, SendSum: 0.003997756, SendN: 3,
				EngineTTFTSum: 0.155255331, EngineTTFTN: 2, EngineITLSum: 0, EngineITLN: 0,
			},
			Engines: map[string]Reading{"15684307785248021598": {DecodeBlocks: 18, LastITLS: 0.078699683, LastTTFTS: 0.087044291}},
			Facts:   map[string]string{FactRouterMode: "kv", FactKVBlockTokens: "16", FactKVBlocks: "64", FactMaxNumSeqs: "16"},
		},
		"worker1-load.prom": { // tokens are firsts and gaps: the mocker counts none
			Engines: map[string]Reading{"14959705552560362131": {
				Running: 4, Waiting: 4, KVUsage: 0.0087890625, Preemptions: 0, Requests: 5, EngineErrors: 1, UptimeS: 3.74417612,
				EngineTTFTSum: 0.8825117729999999, EngineTTFTN: 10, EngineITLSum: 4.266004703999998, EngineITLN: 163, OutputTokens: 173,
			}},
			Facts: map[string]string{FactEngine: "vllm"},
		},
		"worker-sglang.prom": {
			Engines: map[string]Reading{"14925175449696676472": {
				Running: 2, Waiting: 2, Requests: 1, UptimeS: 1.3542579080000001,
				EngineTTFTSum: 0.22201552599999996, EngineTTFTN: 3, EngineITLSum: 1.3944344039999998, EngineITLN: 56, OutputTokens: 59,
			}},
			Facts: map[string]string{FactEngine: "sglang"},
		},
		"worker-trtllm.prom": {
			Engines: map[string]Reading{"4061398635656781728": {
				Running: 2, Waiting: 2, KVUsage: 0.00048828125, Preemptions: 0, Requests: 1, UptimeS: 1.1085428959999999,
				EngineTTFTSum: 0.29014528, EngineTTFTN: 3, EngineITLSum: 1.3438192339999995, EngineITLN: 51, OutputTokens: 54,
			}},
			Facts: map[string]string{FactEngine: "trtllm"},
		},
		"vllm.prom": {
			Engines: map[string]Reading{"page/0": {
				Running: 4, Waiting: 0, KVUsage: 0.0004883408619216212, Preemptions: 0, Requests: 775, EngineErrors: 0, Shed: 0,
				PrefixQueries: 84265, PrefixHits: 0, PromptTokens: 84265, OutputTokens: 24683, KVBlocks: 8192, KVBlockTokens: 128,
				EngineTTFTSum: 394.5642578601837, EngineTTFTN: 779, EngineITLSum: 303.2886606979978, EngineITLN: 23904,
				QueueTimeSum: 346.96167160999994, QueueTimeCount: 775,
			}},
			Facts: map[string]string{FactEngine: "vllm", FactPrefixCaching: "true", FactKVBlocks: "8192", FactKVBlockTokens: "128"},
		},
		"llamacpp.prom": {
			Engines: map[string]Reading{"page": {
				Running: 0, Waiting: 0, PromptTokens: 132, PrefixHits: 422, PrefixQueries: 554, OutputTokens: 104,
				EngineITLSum: 74.4659, EngineITLN: 104,
			}},
			Facts: map[string]string{FactEngine: "llama.cpp"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want.Source = "page"
			if diff := cmp.Diff(want, translated(t, recorded(t, name), "tiny")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A frontend and the worker itself write one id in two ways.
func TestWorkerIDsJoin(t *testing.T) {
	front, worker := translated(t, recorded(t, "frontend.prom"), "tiny"), translated(t, recorded(t, "worker1-load.prom"), "tiny")
	for id := range worker.Engines {
		if _, ok := front.Engines[id]; !ok {
			t.Errorf("worker %s is not among the frontend's %v", id, slices.Collect(maps.Keys(front.Engines)))
		}
	}
	for _, c := range []struct {
		text string
		base int
		want string
	}{
		{"22fe21c0000d07fe", 16, "2521489949892347902"}, {"ffffffffffffffff", 16, "18446744073709551615"},
		{"18446744073709551615", 10, "18446744073709551615"}, {"007", 10, "7"}, // one id, one name
		{"18446744073709551616", 10, ""}, {"-1", 10, ""}, {"", 16, ""}, {"pod-0", 16, ""}, {"0x1f", 16, ""},
	} {
		if got, ok := WorkerID(c.text, c.base); got != c.want || ok != (c.want != "") {
			t.Errorf("WorkerID(%q, %d) = %q, %v; want %q", c.text, c.base, got, ok, c.want)
		}
	}
}

func engine(r Reading) Snapshot {
	return Snapshot{Engines: map[string]Reading{"page": r}}
}

func TestDialects(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want Snapshot
	}{
		"old vLLM": {`vllm:gpu_cache_usage_perc{model_name="m"} 0.25
vllm:time_per_output_token_seconds_sum{model_name="m"} 3
vllm:time_per_output_token_seconds_count{model_name="m"} 100`, engine(Reading{KVUsage: 0.25, EngineITLSum: 3, EngineITLN: 100})},
		"a new name goes before the old one": {"vllm:gpu_cache_usage_perc 0.9\nvllm:kv_cache_usage_perc 0.5\n", engine(Reading{KVUsage: 0.5})},
		"TensorRT-LLM's own server":          {"trtllm_num_requests_running 3\ntrtllm_kv_cache_utilization 0.5\ntrtllm_kv_cache_max_blocks 100\n", engine(Reading{Running: 3, KVUsage: 0.5, KVBlocks: 100})},
		"SGLang": {`sglang:token_usage{tp_rank="0"} 0.5
sglang:token_usage{tp_rank="1"} 0.5
sglang:num_retracted_requests_total{tp_rank="0"} 2
sglang:num_retracted_requests_total{tp_rank="1"} 2
sglang:prompt_tokens_total 10
sglang:cached_tokens_total{cache_source="device"} 3
sglang:cached_tokens_total{cache_source="host"} 1
sglang:cache_config_info{num_pages="100",page_size="64"} 1`,
			engine(Reading{KVUsage: 0.5, Preemptions: 2, PromptTokens: 10, PrefixQueries: 10, PrefixHits: 4, KVBlocks: 100, KVBlockTokens: 64})},
		"data-parallel ranks": {`vllm:num_requests_running{engine="0"} 1
vllm:num_requests_running{engine="1"} 2
dynamo_component_uptime_seconds{worker_id="ff"} 9
dynamo_component_request_duration_seconds_count{worker_id="ff",dynamo_endpoint="generate"} 30
dynamo_component_request_duration_seconds_count{worker_id="ff",dynamo_endpoint="other"} 500`,
			Snapshot{Engines: map[string]Reading{"255": {Running: 1, UptimeS: 9}, "255/1": {Running: 2, UptimeS: 9}}}},
		"one page of several workers": {`dynamo_component_uptime_seconds{worker_id="a"} 1
dynamo_component_uptime_seconds{worker_id="b"} 2
vllm:num_requests_running 7`, Snapshot{Engines: map[string]Reading{"10": {UptimeS: 1}, "11": {UptimeS: 2}, "page": {Running: 7}}}},
		"router queue by class, and both loops' queues": {`dynamo_frontend_router_queue_pending_requests{policy_class="a"} 3
dynamo_frontend_router_queue_pending_requests{policy_class="b"} 4
dynamo_tokio_global_queue_depth 100
dynamo_tokio_worker_local_queue_depth{worker="0"} 10
dynamo_tokio_worker_local_queue_depth{worker="1"} 1
dynamo_tokio_worker_busy_ratio{worker="0"} 999`, Snapshot{Frontend: Reading{RouterPending: 7, LoopQueue: 111}}},
		"GPU": {`DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",modelName="NVIDIA GB300",DCGM_FI_DRIVER_VERSION="580.1",Hostname="n"} 700.5
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a"} 0.9
DCGM_FI_DEV_CLOCKS_EVENT_REASONS{gpu="0",UUID="GPU-a"} 4
DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="1",Hostname="n"} 65
DCGM_FI_DEV_XID_ERRORS{gpu="1",Hostname="n"} 79
DCGM_FI_DEV_ECC_DBE_AGG_TOTAL{gpu="1",Hostname="n"} 2`, Snapshot{GPUs: map[string]Reading{
			"GPU-a": {PowerW: 700.5, SMActive: 0.9, Throttle: 0, PowerCap: 1},
			"n/1":   {Throttle: 1, PowerCap: 0, XID: 79, ECCDouble: 2},
		}}},
		"node": {"node_pressure_cpu_waiting_seconds_total 12.5\nnode_pressure_memory_waiting_seconds_total 0\n", Snapshot{Node: Reading{CPUPressure: 12.5, MemPressure: 0}}},
		"OpenMetrics": {"# TYPE vllm:num_preemptions counter\nvllm:num_preemptions_total{a=\"} # {\",b=\"\\\"}\"} 4 1730000000.123 # {trace_id=\"x\"} 1.0 1730000000.1\n# EOF",
			engine(Reading{Preemptions: 4})},
	} {
		t.Run(name, func(t *testing.T) {
			got := translated(t, c.page, "m")
			got.Source, got.Facts = "", nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What a page says of another model is no one's here.
func TestOnlyTheModel(t *testing.T) {
	const page = "vllm:num_requests_running{model_name=\"Org/Model\"} 3\nvllm:num_requests_waiting{model_name=\"other\"} 9\nvllm:num_preemptions_total 1\n"
	for model, want := range map[string]Reading{
		"Org/Model": {Running: 3, Preemptions: 1},
		"org/model": {Running: 3, Preemptions: 1},
		"third":     {Preemptions: 1},
		"":          {Running: 3, Waiting: 9, Preemptions: 1},
	} {
		if diff := cmp.Diff(want, translated(t, page, model).Engines["page"]); diff != "" {
			t.Errorf("model %q (-want +got)\n%s", model, diff)
		}
	}
}

func TestValuesOutOfRange(t *testing.T) {
	for _, v := range []string{"NaN", "+Inf", "-Inf", "-1", "-1e300"} {
		page := "vllm:num_requests_running " + v + "\nvllm:num_preemptions_total " + v + "\nvllm:num_requests_waiting 1\n"
		if diff := cmp.Diff(Reading{Waiting: 1}, translated(t, page, "").Engines["page"]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", v, diff)
		}
	}
	for page, want := range map[string]Reading{
		"vllm:kv_cache_usage_perc 55\nvllm:num_requests_waiting 1\n":                                          {Waiting: 1}, // a percentage
		"vllm:kv_cache_usage_perc 1.0000001\n":                                                                {KVUsage: 1},
		"vllm:num_preemptions_total{a=\"1\"} 1.7e308\nvllm:num_preemptions_total{a=\"2\"} 3\n":                {Preemptions: 3},
		"vllm:num_requests_waiting 1\nvllm:cache_config_info{num_gpu_blocks=\"None\",block_size=\"-16\"} 1\n": {Waiting: 1},
	} {
		if diff := cmp.Diff(want, translated(t, page, "").Engines["page"]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", page, diff)
		}
	}
}

// Errors never quote the page, which may hold anything.
func TestPagesRefused(t *testing.T) {
	engines := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("dynamo_component_uptime_seconds{worker_id=\"" + strings.Repeat("f", 1+i%15) + strings.Repeat("0", i/15%2) + "\"} 1\n")
		}
		return b.String()
	}
	for name, page := range map[string]string{
		"empty":              "",
		"JSON":               `[{"gpuMemUsage": 1, "evil": "x"}]`,
		"nothing known":      "evil_total 1\n",
		"a broken value":     "vllm:num_requests_running evil\n",
		"broken labels":      "vllm:num_requests_running{evil} 1\n",
		"not UTF-8":          "vllm:num_requests_running{evil=\"\xff\"} 1\n",
		"too many series":    engines(maxSeries + 1),
		"only a broken line": "vllm:num_requests_running{evil=\"x\n",
		"one endless line":   "vllm:num_requests_running{evil=\"" + strings.Repeat("x", maxLine) + "\"} 1\n",
	} {
		s, err := Translate([]byte(page), "page", "")
		if err == nil || strings.Contains(err.Error(), "evil") {
			t.Errorf("%s: %+v, error %v", name, s, err)
		}
	}
}

// FuzzTranslate: whatever a server sends, readings are finite and not negative,
// names and facts are plain, and the same page says the same.
func FuzzTranslate(f *testing.F) {
	f.Add([]byte("dynamo_frontend_router_queue_pending_requests{model=\"tiny\"} 3\ndynamo_component_router_worker_registered 1\n"))
	f.Add([]byte("dynamo_component_uptime_seconds{worker_id=\"cf9b8cf0accc9293\"} 3.7\nvllm:num_requests_running{engine=\"0\"} 4\n"))
	f.Add([]byte("vllm:cache_config_info{block_size=\"128\",enable_prefix_caching=\"True\"} 1.0"))
	f.Add([]byte("vllm:num_preemptions_total{engine=\"7\"} 4 1.5 # {a=\"b\"} 1"))
	f.Add([]byte("DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"\x1b]0;\"} 1e400"))
	f.Fuzz(func(t *testing.T, page []byte) {
		kept := newTranslation("page", "tiny")
		s, err := kept.page(page)
		again, err2 := kept.page(page)
		if diff := cmp.Diff(s, again); diff != "" || (err == nil) != (err2 == nil) {
			t.Fatalf("errors %v and %v; %s", err, err2, diff)
		}
		readings := []Reading{s.Frontend, s.Node}
		for _, of := range []map[string]Reading{s.Engines, s.GPUs} {
			for name, r := range of {
				if _, ok := plainName(strings.ReplaceAll(name, "/", "")); !ok && len(name) <= maxName {
					t.Errorf("name %q", name)
				}
				readings = append(readings, r)
			}
		}
		for _, r := range readings {
			for m, v := range r {
				if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
					t.Errorf("%s is %v", m, v)
				}
			}
		}
		for key, v := range s.Facts {
			if _, ok := plainName(strings.ReplaceAll(v, ",", "")); !ok && len(v) <= maxName {
				t.Errorf("%s is %q", key, v)
			}
		}
	})
}
