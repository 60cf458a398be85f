package aiperf

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Run is what an export tells beside the numbers.
type Run struct {
	Options *Options
	// ID names the run, Tool and Version say what made it, Command how.
	ID, Version, Command string
	Result               loadgen.Result
	// Cancelled says that the run was interrupted or given up, Incomplete why
	// it has less than it was to have.
	Cancelled  bool
	Incomplete string
	Notes      []string
}

// member is a key of a JSON object whose order is kept.
type member struct {
	key   string
	value any
}

type object []member

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, quote(m.key)...), ':'), v...)
	}
	return append(b, '}'), nil
}

func (o object) with(key string, value any) object { return append(o, member{key, value}) }

// JSON is the content of profile_export_aiperf.json.
func (c *Recorder) JSON(run Run) ([]byte, error) {
	o := object{{"schema_version", schemaVersion}, {"aiperf_version", Version}, {"benchmark_id", run.ID}}
	o = append(o, blocks(c.measured.metrics(run.Options.SLOs))...)
	o = o.with("input_config", inputConfig(run.Options)).with("run_info", object{
		{"benchmark_id", run.ID}, {"random_seed", run.Options.Seed}, {"trial", 0}, {"cli_command", run.Command},
	}).with("was_cancelled", run.Cancelled).with("is_complete", run.Incomplete == "")
	if run.Incomplete != "" {
		o = o.with("incomplete_reason", run.Incomplete)
	}
	o = o.with("error_summary", c.measured.failed.list()).
		with("start_time", clockTime(run.Result.Started)).with("end_time", clockTime(run.Result.Ended))
	if warm := c.warm.metrics(nil); len(warm) > 0 {
		o = o.with("warmup_metrics", blocks(warm))
	}
	b, err := json.Marshal(o.with("perfsweep", ours(run)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// clockTime is a time with its zone, which AIPerf leaves out.
func clockTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

func blocks(metrics []metric) object {
	var o object
	for _, m := range metrics {
		b := object{{"unit", m.unit}}
		if m.stats == nil {
			o = o.with(m.tag, b.with("avg", m.value))
			continue
		}
		s := m.stats
		b = b.with("avg", s.avg())
		for i, q := range quantiles {
			b = b.with(percentileName(q), s.p[i])
		}
		b = append(b, object{{"min", s.min}, {"max", s.max}, {"std", s.std}, {"count", s.count}, {"sum", s.sum}}...)
		o = o.with(m.tag, b)
	}
	return o
}

func percentileName(q float64) string { return "p" + strconv.Itoa(int(100*q+.5)) }

// inputConfig is what was asked for, without keys and header values.
func inputConfig(o *Options) object {
	endpoint := object{{"urls", []string{o.URL}}, {"type", o.Endpoint}, {"streaming", true}}
	if len(o.Extra) > 0 {
		var extra object
		for _, in := range o.Extra {
			extra = extra.with(in.Key, in.Value)
		}
		endpoint = endpoint.with("extra", extra)
	}
	if len(o.Headers) > 0 {
		var headers object
		for _, h := range o.Headers {
			headers = headers.with(h.Key, "[redacted]")
		}
		endpoint = endpoint.with("headers", headers)
	}
	length := func(mean, stddev int) object { return object{{"mean", mean}, {"stddev", stddev}} }
	out := object{
		{"models", object{{"items", []object{{{"name", o.Model}}}}}},
		{"endpoint", endpoint},
		{"datasets", []object{{
			{"name", "main"}, {"type", "synthetic"}, {"entries", o.Prompts}, {"random_seed", o.Seed},
			{"prompts", object{{"isl", length(o.ISL, o.ISLStddev)}, {"osl", length(o.OSL, o.OSLStddev)}}},
		}}},
		{"phases", phases(o)},
	}
	artifacts := object{{"dir", o.ArtifactDir}}
	if o.Records {
		artifacts = artifacts.with("records", []string{"jsonl"})
	}
	out = out.with("artifacts", artifacts.with("raw", false))
	if o.Tokenizer != "" {
		out = out.with("tokenizer", object{{"name", o.Tokenizer}, {"has_effect", false}})
	}
	return out
}

func phases(o *Options) []object {
	var out []object
	one := func(kind string, requests int64, duration time.Duration) object {
		p := object{{"name", kind}, {"kind", kind}, {"type", "concurrency"}}
		if kind == "warmup" {
			p = p.with("exclude_from_results", true)
		}
		if requests > 0 && requests < unbounded {
			p = p.with("requests", requests)
		}
		if duration > 0 {
			p = p.with("duration", duration.Seconds())
		}
		return p.with("concurrency", o.Concurrency)
	}
	if o.WarmsUp() {
		out = append(out, one("warmup", o.WarmUp, o.WarmUpDuration))
	}
	return append(out, one("profiling", o.Requests, o.Duration))
}

// WarmsUp reports whether a warm-up was asked for.
func (o *Options) WarmsUp() bool { return o.WarmUp > 0 || o.WarmUpDuration > 0 }

// ours is what AIPerf has no key for: where the numbers come from, what the
// generator says of itself, and the steady part of the run.
func ours(run Run) object {
	r := run.Result
	o := object{
		{"version", run.Version}, {"token_counts", "usage of the server"}, {"percentiles", PercentileDefinition},
		{"throughput", "tokens of OK requests over first send to last token, ramp and drain included; not to be checked against a floor from a steady window"},
		{"outcomes", r.Measured}, {"health", r.Health},
	}
	// A window that is a small part of the run says little.
	if w := r.Window; r.Health.LittleMeasured && w.Seconds > r.WholeRun.Seconds/2 {
		o = o.with("steady_window", w)
	}
	if run.Options.Tokenizer != "" {
		o = o.with("accepted_without_effect", []string{"--tokenizer"})
	}
	if notes := slices.Concat(run.Notes, r.Warnings); len(notes) > 0 {
		o = o.with("warnings", notes)
	}
	return o
}
