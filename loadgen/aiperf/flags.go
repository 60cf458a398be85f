package aiperf

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Flag is one flag of the command line.
type Flag struct {
	// Names are without dashes, AIPerf's own first; one letter is a shorthand.
	Names []string
	Help  string
	// Switch flags take no value, Many flags take several and may be repeated.
	Switch, Many bool
	set          func(*Options, string) error
}

// Set applies a value; that of a switch is true or false.
func (f Flag) Set(o *Options, value string) error { return f.set(o, value) }

// bounds of what is counted.
const (
	maxTokens   = 1 << 20
	maxStreams  = 1 << 20
	maxRequests = 1 << 32
	maxPrompts  = 1 << 16
)

// Flags are all that profile takes.
func Flags() []Flag {
	return slices.Concat(endpointFlags(), loadFlags(), promptFlags(), outputFlags())
}

func endpointFlags() []Flag {
	return []Flag{
		{Names: []string{"model", "m", "model-names"}, Help: "model to ask for", set: func(o *Options, v string) error {
			if v = strings.TrimSpace(v); v == "" || strings.Contains(v, ",") {
				return errors.New("name exactly one model")
			}
			o.Model = v
			return nil
		}},
		{Names: []string{"url", "u"}, Help: "server to load; http:// is put before a URL without a scheme (default http://localhost:8000)", set: func(o *Options, v string) error {
			if strings.Contains(v, ",") {
				return errors.New("give one URL: perfsweep does not spread load over several")
			}
			o.URL = normalURL(strings.TrimSpace(v))
			return nil
		}},
		{Names: []string{"custom-endpoint", "endpoint"}, Help: "path to send to in place of the API's own, with which it must end", set: func(o *Options, v string) error {
			o.CustomEndpoint = v
			return nil
		}},
		{Names: []string{"endpoint-type"}, Help: "chat or completions (default chat)", set: func(o *Options, v string) error {
			switch e := loadgen.Endpoint(strings.ToLower(v)); e {
			case loadgen.ChatCompletions, loadgen.Completions:
				o.Endpoint = e
				return nil
			}
			return errors.New("use chat or completions")
		}},
		{Names: []string{"streaming"}, Switch: true, Help: "always on: without streams there is no time to first token", set: func(_ *Options, v string) error {
			return on(v, "perfsweep measures streams only")
		}},
		{Names: []string{"api-key"}, Help: "key sent as a bearer token; others on this machine can read it from the process list, the environment variable PERFSWEEP_API_KEY they cannot", set: func(o *Options, v string) error {
			o.APIKey = v
			return nil
		}},
		{Names: []string{"header", "H"}, Many: true, Help: "NAME:VALUE added to every request, or a JSON object", set: func(o *Options, v string) error {
			in, err := parseInputs(v)
			o.Headers = merge(o.Headers, in)
			return err
		}},
		{Names: []string{"extra-inputs"}, Many: true, Help: "KEY:VALUE added to every body, or a JSON object", set: func(o *Options, v string) error {
			in, err := parseInputs(v)
			o.Extra = merge(o.Extra, in)
			return err
		}},
		{Names: []string{"request-timeout-seconds"}, Help: "longest that a request may take (default 600; AIPerf's six hours outlive a job)", set: seconds(func(o *Options) *time.Duration { return &o.RequestTimeout }, false)},
		{Names: []string{"use-legacy-max-tokens"}, Switch: true, Help: "send max_tokens in place of max_completion_tokens", set: func(o *Options, v string) (err error) {
			o.LegacyLimit, err = strconv.ParseBool(v)
			return err
		}},
		{Names: []string{"use-server-token-count"}, Switch: true, Help: "always on: tokens are the server's own count, from usage", set: func(_ *Options, v string) error {
			return on(v, "perfsweep has no tokenizer and counts what the server reports")
		}},
		{Names: []string{"tokenizer"}, Help: "accepted without effect, and recorded so: tokens are the server's own count", set: func(o *Options, v string) error {
			o.Tokenizer = v
			return nil
		}},
		{Names: []string{"wait-for-model-timeout"}, Help: "wait this many seconds at most for the model to answer, and calibrate the length of prompts with it (default 0: do neither)", set: seconds(func(o *Options) *time.Duration { return &o.WaitForModel }, true)},
		{Names: []string{"wait-for-model-interval"}, Help: "seconds between two tries (default 5)", set: seconds(func(o *Options) *time.Duration { return &o.WaitInterval }, false)},
		{Names: []string{"wait-for-model-mode"}, Help: "inference or both: the model must answer; it must be listed where there is a list (default inference)", set: func(o *Options, v string) error {
			if v != "inference" && v != "both" {
				return errors.New("use inference or both: a list of models alone does not say that one answers")
			}
			o.WaitMode = v
			return nil
		}},
	}
}

func loadFlags() []Flag {
	return []Flag{
		{Names: []string{"concurrency"}, Help: "requests in flight, in total (default 1)", set: func(o *Options, v string) error {
			n, err := parseCount(v, 1, maxStreams)
			o.Concurrency = int(n)
			return err
		}},
		{Names: []string{"request-count", "num-requests"}, Help: "requests to send (default twice the concurrency, at least 10; without an end if there is a duration)", set: func(o *Options, v string) (err error) {
			o.Requests, err = parseCount(v, 1, maxRequests)
			return err
		}},
		{Names: []string{"benchmark-duration"}, Help: "seconds after which no request is sent any more", set: func(o *Options, v string) (err error) {
			if _, err := parseCount(v, 0, 0); strings.Contains(v, ",") {
				return err
			}
			o.Duration, err = parseSeconds(v, false)
			return err
		}},
		{Names: []string{"benchmark-grace-period"}, Help: "seconds after the duration in which answers still count, or inf (default 30)", set: func(o *Options, v string) (err error) {
			if strings.EqualFold(v, "inf") {
				o.Grace = -1
				return nil
			}
			o.Grace, err = parseSeconds(v, true)
			return err
		}},
		{Names: []string{"concurrency-ramp-duration"}, Help: "seconds over which the streams start", set: seconds(func(o *Options) *time.Duration { return &o.Ramp }, false)},
		{Names: []string{"warmup-request-count", "num-warmup-requests"}, Help: "requests sent before the measured ones and left out of the statistics (default none)", set: func(o *Options, v string) (err error) {
			o.WarmUp, err = parseInt(v, 1, maxRequests)
			return err
		}},
		{Names: []string{"warmup-duration"}, Help: "seconds after which no request is sent to warm up", set: seconds(func(o *Options) *time.Duration { return &o.WarmUpDuration }, false)},
		{Names: []string{"failed-request-threshold"}, Help: "give up, and fail, when a larger share of requests than this has failed (0 to 1, after at least 10 and as many as there are streams)", set: func(o *Options, v string) error {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil || !(f >= 0 && f <= 1) {
				return errors.New("must be a number from 0 to 1")
			}
			o.FailedShare = f
			return nil
		}},
		{Names: []string{"goodput"}, Help: `count requests that keep all of these bounds: "TAG:NUMBER TAG:NUMBER", such as "time_to_first_token:500"`, set: func(o *Options, v string) (err error) {
			o.SLOs, err = parseSLOs(v)
			return err
		}},
	}
}

func promptFlags() []Flag {
	length := func(to func(*Options) *int, low int64) func(*Options, string) error {
		return func(o *Options, v string) error {
			n, err := parseCount(strings.TrimSuffix(v, ".0"), low, maxTokens)
			*to(o) = int(n)
			return err
		}
	}
	return []Flag{
		{Names: []string{"isl", "prompt-input-tokens-mean", "synthetic-input-tokens-mean"}, Help: "mean prompt tokens (default 550)", set: length(func(o *Options) *int { return &o.ISL }, 1)},
		{Names: []string{"isl-stddev", "prompt-input-tokens-stddev", "synthetic-input-tokens-stddev"}, Help: "their standard deviation (default 0)", set: length(func(o *Options) *int { return &o.ISLStddev }, 0)},
		{Names: []string{"osl", "prompt-output-tokens-mean", "output-tokens-mean"}, Help: "mean output tokens to ask for", set: length(func(o *Options) *int { return &o.OSL }, 1)},
		{Names: []string{"osl-stddev", "prompt-output-tokens-stddev", "output-tokens-stddev"}, Help: "their standard deviation (default 0)", set: length(func(o *Options) *int { return &o.OSLStddev }, 0)},
		{Names: []string{"num-dataset-entries", "num-prompts"}, Help: "distinct prompts (default 100)", set: func(o *Options, v string) error {
			n, err := parseInt(v, 1, maxPrompts)
			o.Prompts = int(n)
			return err
		}},
		{Names: []string{"random-seed"}, Help: "seed of prompts and lengths (default: another one each time, and recorded)", set: func(o *Options, v string) (err error) {
			o.Seed, err = strconv.ParseUint(v, 10, 64)
			o.SeedGiven = true
			if err != nil {
				return errors.New("must be a whole number, not negative")
			}
			return nil
		}},
	}
}

func outputFlags() []Flag {
	return []Flag{
		{Names: []string{"output-artifact-dir", "artifact-dir"}, Help: "folder for what is written (default artifacts)", set: func(o *Options, v string) error {
			if o.ArtifactDir = v; v == "" {
				return errors.New("name a folder")
			}
			return nil
		}},
		{Names: []string{"profile-export-prefix", "profile-export-file"}, Help: "base name of the files in place of profile_export_aiperf and profile_export", set: func(o *Options, v string) (err error) {
			o.Prefix, err = cleanPrefix(v)
			return err
		}},
		{Names: []string{"export-level", "profile-export-level"}, Help: "summary, or records for a line a request as well (default summary)", set: func(o *Options, v string) error {
			switch strings.ToLower(v) {
			case "summary", "records":
				o.Records = strings.EqualFold(v, "records")
				return nil
			}
			return errors.New("use summary or records: bodies and answers are not kept")
		}},
		{Names: []string{"ui", "ui-type"}, Help: "none for no progress, simple for lines of it (default: as the terminal has it)", set: func(o *Options, v string) error {
			switch v = strings.ToLower(v); v {
			case "none", "simple":
				o.UI = v
				return nil
			}
			return errors.New("use none or simple: perfsweep draws no dashboard")
		}},
	}
}

// on refuses to have a switch turned off that cannot be.
func on(v, reason string) error {
	if b, err := strconv.ParseBool(v); err != nil || !b {
		return errors.New(reason)
	}
	return nil
}

func seconds(to func(*Options) *time.Duration, zero bool) func(*Options, string) error {
	return func(o *Options, v string) (err error) {
		*to(o), err = parseSeconds(v, zero)
		return err
	}
}

// Spread turns the several values that AIPerf lets follow one flag into a flag
// each: --extra-inputs a:1 b:2 is --extra-inputs a:1 --extra-inputs b:2.
func Spread(args []string) []string {
	many := map[string]bool{}
	for _, f := range Flags() {
		for _, n := range f.Names {
			many[dashed(n)] = f.Many
		}
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if out = append(out, args[i]); args[i] == "--" {
			return append(out, args[i+1:]...)
		}
		flag := args[i]
		if !many[flag] {
			continue
		}
		for n := 0; i+1 < len(args) && (n == 0 || !strings.HasPrefix(args[i+1], "-")); n++ {
			i++
			if n > 0 {
				out = append(out, flag)
			}
			out = append(out, args[i])
		}
	}
	return out
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// Explain says what to do about a flag that profile does not take; name is
// without dashes.
func Explain(name string) string {
	for reason, names := range refused() {
		if slices.Contains(names, name) {
			return fmt.Sprintf("AIPerf's --%s is not supported: %s", name, reason)
		}
	}
	if near := nearest(name); near != "" {
		return fmt.Sprintf("did you mean --%s?", near)
	}
	return ""
}
