package loadgen

import (
	"testing"
	"time"
)

// TestAICRArguments states every argument of AICR's inference-perf job (aicr
// repository, validators/performance: AIPerf 0.13.0) and what the "aicr"
// workload makes of it in a gate run.
func TestAICRArguments(t *testing.T) {
	const streams, requests = 4, 1000
	e := &engine{ttft: 10 * time.Millisecond, itl: time.Millisecond}
	cfg := Config{
		Concurrency: streams, Kind: Gate, FirstRequest: 5000, Workload: workload(t, aicr(t)),
		Limits: Limits{MinRequests: requests},
	}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil {
			t.Fatal(err)
		}
		spec := cfg.Workload.Spec()
		prompts, order := map[string]int{}, make([]string, 0, len(e.bodies))
		for _, b := range e.bodies {
			prompts[prompt(b)]++
			order = append(order, prompt(b))
		}
		any0 := e.bodies[0]
		options, _ := any0["stream_options"].(map[string]any)
		for _, c := range []struct {
			flag      string
			got, want any
		}{
			{"--model", any0["model"], "m"},
			{"--endpoint-type chat", len(any0["messages"].([]any)), 1},
			{"--streaming", any0["stream"], true},
			{"usage, which AIPerf asks for when streaming", options["include_usage"], true},
			{"--concurrency", e.most(), int64(streams)},
			{"--request-count", r.Measured.Total(), int64(requests)},
			{"--warmup-request-count", r.All.Total() - r.Measured.Total(), int64(streams)},
			{"--prompt-input-tokens-mean", spec.ISL, 128},
			{"--prompt-input-tokens-stddev", spec.ISLStddev, 0},
			{"--prompt-output-tokens-mean", any0["max_completion_tokens"], 128.0},
			{"--prompt-output-tokens-stddev", spec.OSLStddev, 0},
			{"--num-dataset-entries", len(prompts), 100},
			{"--random-seed", spec.Seed, uint64(100)},
			{"--extra-inputs temperature:0", any0["temperature"], 0.0},
			{"no ignore_eos", any0["ignore_eos"], nil},
			{"no min_tokens", any0["min_tokens"], nil},
			{"no other field", len(any0), 6},
			// AIPerf goes through its data set in order, warm-up first, and
			// starts over; each of its runs begins at the first prompt.
			{"prompts used as often as each other", prompts[order[0]] >= 10 && prompts[order[0]] <= 11, true},
		} {
			if c.got != c.want {
				t.Errorf("%s: %v, want %v", c.flag, c.got, c.want)
			}
		}
		b := cfg.Workload.bodies(&cfg)
		if first := prompt(parsed(t, b.body(5000).body)); first != prompt(parsed(t, workload(t, aicr(t)).bodies(&Config{Model: "m"}).body(0).body)) {
			t.Error("a later run does not begin at the first prompt")
		}
	})
}

// TestAICRIsNotBent: what the job compiles in cannot be changed under its name.
func TestAICRIsNotBent(t *testing.T) {
	for name, edit := range map[string]func(*WorkloadSpec){
		"stddev": func(s *WorkloadSpec) { s.ISLStddev = 1 }, "osl stddev": func(s *WorkloadSpec) { s.OSLStddev = 1 },
		"pool": func(s *WorkloadSpec) { s.Pool = 101 }, "seed": func(s *WorkloadSpec) { s.Seed = 1 },
		"eos": func(s *WorkloadSpec) { s.IgnoreEOS = true }, "prefix": func(s *WorkloadSpec) { s.SharedPrefix = .5 },
		"fresh": func(s *WorkloadSpec) { s.ReusePrompts = false },
	} {
		s := aicr(t)
		edit(&s)
		if _, err := NewWorkload(s, Preflight{}); !isBadInput(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := aicr(t)
	s.ISL, s.OSL = 1000, 32 // its two knobs
	if _, err := NewWorkload(s, Preflight{}); err != nil {
		t.Error(err)
	}
}
