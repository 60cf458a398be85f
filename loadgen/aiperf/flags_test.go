package aiperf

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestFlags: each name and each way of writing a value, against what it sets.
func TestFlags(t *testing.T) {
	type set = func(*Options)
	for _, c := range []struct {
		flag, value string
		want        set
	}{
		{"model", "Qwen/Qwen3-0.6B", func(o *Options) { o.Model = "Qwen/Qwen3-0.6B" }},
		{"m", " x ", func(o *Options) { o.Model = "x" }},
		{"model-names", "x", func(o *Options) { o.Model = "x" }},
		{"url", "localhost:8000", func(o *Options) { o.URL = "http://localhost:8000" }},
		{"u", "https://h/base", func(o *Options) { o.URL = "https://h/base" }},
		{"endpoint", "v1/chat/completions", func(o *Options) { o.CustomEndpoint = "v1/chat/completions" }},
		{"endpoint-type", "Completions", func(o *Options) { o.Endpoint = loadgen.Completions }},
		{"streaming", "true", func(*Options) {}},
		{"use-server-token-count", "true", func(*Options) {}},
		{"use-legacy-max-tokens", "true", func(o *Options) { o.LegacyLimit = true }},
		{"tokenizer", "builtin", func(o *Options) { o.Tokenizer = "builtin" }},
		{"request-timeout-seconds", "0.5", func(o *Options) { o.RequestTimeout = 500 * time.Millisecond }},
		{"concurrency", "256", func(o *Options) { o.Concurrency = 256 }},
		{"num-requests", "1000", func(o *Options) { o.Requests = 1000 }},
		{"benchmark-duration", "1e2", func(o *Options) { o.Duration = 100 * time.Second }},
		{"benchmark-grace-period", "0", func(o *Options) { o.Grace = 0 }},
		{"benchmark-grace-period", "inf", func(o *Options) { o.Grace = -1 }},
		{"concurrency-ramp-duration", "3", func(o *Options) { o.Ramp = 3 * time.Second }},
		{"num-warmup-requests", "64", func(o *Options) { o.WarmUp = 64 }},
		{"warmup-duration", "2.5", func(o *Options) { o.WarmUpDuration = 2500 * time.Millisecond }},
		{"failed-request-threshold", "0", func(o *Options) { o.FailedShare = 0 }},
		{"synthetic-input-tokens-mean", "128", func(o *Options) { o.ISL = 128 }},
		{"isl", "128.0", func(o *Options) { o.ISL = 128 }},
		{"prompt-input-tokens-stddev", "0.0", func(o *Options) { o.ISLStddev = 0 }},
		{"output-tokens-mean", "64", func(o *Options) { o.OSL = 64 }},
		{"prompt-output-tokens-stddev", "8", func(o *Options) { o.OSLStddev = 8 }},
		{"num-prompts", "7", func(o *Options) { o.Prompts = 7 }},
		{"random-seed", "100", func(o *Options) { o.Seed, o.SeedGiven = 100, true }},
		{"artifact-dir", "out", func(o *Options) { o.ArtifactDir = "out" }},
		{"profile-export-file", "run_1.json", func(o *Options) { o.Prefix = "run_1" }},
		{"profile-export-prefix", "/tmp/x/run_2_raw.jsonl", func(o *Options) { o.Prefix = "run_2" }},
		{"profile-export-level", "Records", func(o *Options) { o.Records = true }},
		{"ui-type", "none", func(o *Options) { o.UI = "none" }},
		{"goodput", "time_to_first_token:500 inter_token_latency:10.5", func(o *Options) {
			o.SLOs = []SLO{{"time_to_first_token", 500}, {"inter_token_latency", 10.5}}
		}},
		{"wait-for-model-timeout", "60", func(o *Options) { o.WaitForModel = time.Minute }},
		{"wait-for-model-mode", "both", func(o *Options) { o.WaitMode = "both" }},
		{"wait-for-model-interval", "1", func(o *Options) { o.WaitInterval = time.Second }},
		{"api-key", "k", func(o *Options) { o.APIKey = "k" }},
		{"H", "X-A:b:c", func(o *Options) { o.Headers = []Input{{"X-A", quote("b:c")}} }},
	} {
		got, want := Defaults(), Defaults()
		c.want(&want)
		if err := flagOf(t, c.flag).Set(&got, c.value); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("--%s %s: %+v, %v", c.flag, c.value, got, err)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ flag, value, says string }{
		{"model", "a,b", "exactly one"}, {"model", "", "exactly one"}, {"url", "a,b", "one URL"},
		{"endpoint-type", "embeddings", "chat or completions"}, {"streaming", "false", "streams only"},
		{"use-server-token-count", "false", "no tokenizer"}, {"concurrency", "0", "from 1"}, {"concurrency", "8,16", "sweep"},
		{"concurrency", "1.5", "whole number"}, {"request-count", "-1", "from 1"}, {"request-count", "100,200", "sweep"},
		{"warmup-request-count", "0", "from 1"}, {"benchmark-duration", "0", "seconds"}, {"benchmark-duration", "nan", "seconds"},
		{"benchmark-duration", "30,60", "sweep"}, {"benchmark-grace-period", "-1", "seconds"}, {"request-timeout-seconds", "1e300", "a year"},
		{"isl", "0", "from 1"}, {"osl", "99999999", "to 1048576"}, {"failed-request-threshold", "1.1", "0 to 1"},
		{"failed-request-threshold", "NaN", "0 to 1"}, {"random-seed", "-1", "not negative"}, {"num-prompts", "0", "from 1"},
		{"export-level", "raw", "not kept"}, {"ui", "dashboard", "no dashboard"}, {"wait-for-model-mode", "models", "inference or both"},
		{"goodput", "ttft:5", `"ttft" is no metric`}, {"goodput", "", "TAG:NUMBER"}, {"goodput", "time_to_first_token:inf", "TAG:NUMBER"},
		{"goodput", "time_to_first_token:-1", "not negative"},
		{"profile-export-prefix", "../x", "plain file name"}, {"profile-export-prefix", ".json", "plain file name"}, {"artifact-dir", "", "name a folder"},
		{"extra-inputs", "temperature", "key:value"}, {"extra-inputs", "{", "JSON"}, {"extra-inputs", `{"a":1}{}`, "more than one"}, {"extra-inputs", `{"a":`, "JSON"},
	} {
		o := Defaults()
		if err := flagOf(t, c.flag).Set(&o, c.value); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("--%s %s: %v, want words on %q", c.flag, c.value, err, c.says)
		}
	}
}

// TestNames: no two flags share a name, and none that is taken is refused.
func TestNames(t *testing.T) {
	taken := map[string]bool{}
	for _, f := range Flags() {
		for _, n := range f.Names {
			if taken[n] || f.Help == "" {
				t.Errorf("--%s is there twice, or has no help", n)
			}
			taken[n] = true
		}
	}
	for reason, names := range refused() {
		for _, n := range names {
			if taken[n] || reason == "" {
				t.Errorf("--%s is taken and refused", n)
			}
			taken[n] = true
		}
	}
}

func TestExplain(t *testing.T) {
	for name, want := range map[string]string{
		"request-rate": "does not pace", "no-streaming": "always streamed", "ttft-sla-ms": "--goodput", "num-profile-runs": "one run",
		"concurency": "mean --concurrency", "requests-count": "mean --request-count", "warmup-requests-count": "mean --warmup-request-count",
		"output-artefact-dir": "mean --output-artifact-dir", "xyz": "", "zzzzzzzzzzzzzzzz": "",
	} {
		if got := Explain(name); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("--%s: %q, want %q", name, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	for in, want := range map[string]string{
		"profile --extra-inputs a:1 b:2 --streaming": "profile --extra-inputs a:1 --extra-inputs b:2 --streaming",
		"profile -H a:1 b:2 c:3":                     "profile -H a:1 -H b:2 -H c:3",
		"profile --extra-inputs=a:1 b:2":             "profile --extra-inputs=a:1 b:2",
		"profile --extra-inputs -x":                  "profile --extra-inputs -x",
		"profile --model a b":                        "profile --model a b",
		"profile --header":                           "profile --header",
		"profile -- -H a b":                          "profile -- -H a b",
	} {
		if got := strings.Join(Spread(strings.Fields(in)), " "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestCoerce: bare words get the types that AIPerf gives them.
func TestCoerce(t *testing.T) {
	for in, want := range map[string]string{
		"temperature:0": `0`, "a:true": `true`, "a:FALSE": `false`, "a:None": `null`, "a:-3": `-3`, "a:007": `"007"`, "a:-07": `"-07"`,
		"a:0.70": `0.7`, "a:.5": `0.5`, "a:5.": `5`, "a:-0.5": `-0.5`, "a:1.2.3": `"1.2.3"`, "a:1e5": `"1e5"`, "a:x<y": `"x<y"`, "a:": `""`, "a: b ": `"b"`,
		"a:h:1": `"h:1"`, `{"a":[1,{"b":2}]}`: `[1,{"b":2}]`, `{ "a" : "x" }`: `"x"`, "a:-": `"-"`, "a:.": `"."`,
	} {
		got, err := parseInputs(in)
		if err != nil || len(got) != 1 || string(got[0].Value) != want {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
	}
	got, err := parseInputs(`z:1,a:"q",z2:2`)
	if err != nil || len(got) != 3 || got[0].Key != "z" || got[2].Key != "z2" {
		t.Errorf("%s, %v", got, err)
	}
	if got := merge([]Input{{"a", quote(1)}, {"b", quote(2)}}, []Input{{"a", quote(3)}, {"c", quote(4)}}); len(got) != 3 || string(got[0].Value) != "3" {
		t.Errorf("merged into %s", got)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		flags [][2]string
		says  string
	}{
		{[][2]string{{"osl", "1"}}, "--model is missing"},
		{[][2]string{{"model", "m"}}, "--osl is missing"},
		{[][2]string{{"model", "m"}, {"osl", "1"}, {"url", "http://u:p@h"}}, "credentials"},
		{[][2]string{{"model", "m"}, {"osl", "1"}, {"url", "ftp://h"}}, "scheme"},
		{[][2]string{{"model", "m"}, {"osl", "1"}, {"endpoint", "/v2/talk"}}, "must end in /v1/chat/completions"},
	} {
		o := Defaults()
		for _, f := range c.flags {
			if err := flagOf(t, f[0]).Set(&o, f[1]); err != nil {
				t.Fatal(err)
			}
		}
		err := o.Check()
		var bad *loadgen.BadInputError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%v: %v, want %q", c.flags, err, c.says)
		}
	}
}

// TestConfig: AICR's job becomes AICR's protocol, and each bound finds its place.
func TestConfig(t *testing.T) {
	o := options(t, [2]string{"concurrency", "512"}, [2]string{"request-count", "4096"}, [2]string{"warmup-request-count", "512"},
		[2]string{"isl", "128"}, [2]string{"extra-inputs", "temperature:0"}, [2]string{"endpoint", "pre/v1/chat/completions"}, [2]string{"url", "h:1/"}, [2]string{"H", "X-A:1"})
	c := o.Config()
	if c.Kind != loadgen.Gate || c.Concurrency != 512 || c.Limits.MinRequests != 4096 || c.Limits.WarmUpRequests != 512 || c.BaseURL != "http://h:1/pre" ||
		string(c.Network.Body["temperature"]) != "0" || c.Network.Header["X-A"] != "1" || c.Limits.DrainTimeout <= c.Limits.RequestTimeout || c.Limits.MaxDuration < 1000*time.Hour {
		t.Errorf("%+v", c)
	}
	if s := o.Spec(); s.ISL != 128 || s.OSL != 128 || s.Pool != 100 || s.Seed != 100 || s.IgnoreEOS {
		t.Errorf("%+v", s)
	}
	if l := options(t).Config().Limits; l.WarmUpRequests != -1 || l.MinRequests != 10 {
		t.Errorf("of nothing: %+v", l)
	}
	timed := options(t, [2]string{"benchmark-duration", "60"}, [2]string{"benchmark-grace-period", "0"}, [2]string{"warmup-duration", "5"})
	if l := timed.Config().Limits; l.MinRequests != unbounded || l.MaxDuration != time.Minute || l.DrainTimeout != 1 || l.WarmUpRequests != unbounded || l.WarmUpDuration != 5*time.Second {
		t.Errorf("by time: %+v", l)
	}
}

func TestCommand(t *testing.T) {
	args := []string{"profile", "--api-key", "s3cret", "--api-key=s3cret", "-H", "A: s3cret", "--header=A:s3cret", "-HA:s3cret", "--model", "it's", "--streaming"}
	got := Command("perfsweep", args)
	if strings.Contains(got, "s3cret") || strings.Count(got, "[redacted]") != 5 || !strings.HasSuffix(got, `--model 'it'\''s' --streaming`) {
		t.Error(got)
	}
	if !slices.Equal(Spread(args), args) {
		t.Error("one value each is not to be spread")
	}
}
