package imports

import (
	"encoding/json"
	"fmt"
	"io"
)

// guidellmNote is what every answer from GuideLLM's numbers says.
const guidellmNote = "GuideLLM's throughput is that of the whole run, ramp and drain included: a floor from it holds for runs measured alike only"

// maxReport bounds a report: it holds every request and every answer, which are
// passed over.
const maxReport = 4 << 30

// guidellmRun is what is read of a benchmark; GuideLLM says its units in the
// names of its keys.
type guidellmRun struct {
	Config  guidellmConfig
	Metrics guidellmMetrics
}

type guidellmConfig struct {
	ID       string `json:"id_"`
	Strategy struct {
		Type    string `json:"type_"`
		Streams *int   `json:"streams"`
	} `json:"strategy"`
	Backend struct {
		Model  string          `json:"model"`
		Format string          `json:"request_format"`
		Extras json.RawMessage `json:"extras"`
	} `json:"backend"`
	Requests json.RawMessage `json:"requests"`
}

type guidellmMetrics struct {
	Totals struct {
		Successful *float64 `json:"successful"`
		Errored    *float64 `json:"errored"`
		Incomplete *float64 `json:"incomplete"`
	} `json:"request_totals"`
	Concurrency guidellmMetric `json:"request_concurrency"`
	Throughput  guidellmMetric `json:"output_tokens_per_second"`
	TTFT        guidellmMetric `json:"time_to_first_token_ms"`
	ITL         guidellmMetric `json:"inter_token_latency_ms"`
}

type guidellmMetric struct {
	Successful *struct {
		Mean        *float64 `json:"mean"`
		Percentiles struct {
			P50 *float64 `json:"p50"`
			P99 *float64 `json:"p99"`
		} `json:"percentiles"`
	} `json:"successful"`
}

// GuideLLM reads the JSON that GuideLLM 0.8 writes: one run a benchmark. gpus is the
// number of GPUs measured, which the file does not tell.
func GuideLLM(name string, r io.Reader, gpus int) (Curve, error) {
	var meta struct {
		Version *int   `json:"version"`
		Tool    string `json:"guidellm_version"`
	}
	var points []point
	source := &bounded{r: r, limit: maxReport}
	text, err := plainText(source)
	if err != nil {
		return Curve{}, fmt.Errorf("%s: %w", name, err)
	}
	d := json.NewDecoder(text)
	err = object(d, name, "the document", func(member string) error {
		switch member {
		case "metadata":
			return source.held(func() error { return value(d, name, member, &meta) })
		case "benchmarks":
			return array(d, name, member, func(i int) error {
				p, err := guidellmPoint(d, source, name, fmt.Sprintf("benchmarks[%d]", i))
				if points = append(points, p); len(points) > MaxRuns {
					return fmt.Errorf("%s: more than %d benchmarks", name, MaxRuns)
				}
				return err
			})
		}
		return skip(d, name)
	})
	if err == nil {
		err = ended(d, name)
	}
	switch {
	case err != nil:
		return Curve{}, err
	case meta.Tool == "":
		return Curve{}, fmt.Errorf("%s: metadata.guidellm_version is missing: this is not a report of GuideLLM", name)
	case meta.Version == nil || *meta.Version != 2:
		return Curve{}, fmt.Errorf("%s: metadata.version is missing or another than 2, which is known", name)
	case len(points) == 0:
		return Curve{}, fmt.Errorf("%s: benchmarks is missing or empty", name)
	}
	return gather(points, gpus, guidellmNote)
}

// guidellmPoint reads the next benchmark.
func guidellmPoint(d *json.Decoder, source *bounded, name, at string) (point, error) {
	var g guidellmRun
	err := object(d, name, at, func(member string) error {
		switch member {
		case "config":
			return source.held(func() error { return value(d, name, at+".config", &g.Config) })
		case "metrics":
			return source.held(func() error { return value(d, name, at+".metrics", &g.Metrics) })
		}
		return skip(d, name)
	})
	if err != nil {
		return point{}, err
	}
	return g.point(name, at)
}

func (g *guidellmRun) point(name, at string) (p point, err error) {
	p = point{where: name + ": " + at, id: g.Config.ID, conditions: map[string]string{
		"config.backend.model": g.Config.Backend.Model, "config.backend.request_format": g.Config.Backend.Format,
		"config.backend.extras": plain(g.Config.Backend.Extras), "config.requests": plain(g.Config.Requests),
	}}
	switch key := at + ".config.strategy"; g.Config.Strategy.Type {
	case "synchronous":
		p.concurrency = 1
	case "concurrent":
		if p.concurrency, err = streams(name, key+".streams", g.Config.Strategy.Streams); err != nil {
			return p, err
		}
	default:
		return p, fmt.Errorf("%s: %s.type_ is %.40q: only concurrent and synchronous runs hold a fixed concurrency and make points of the curve", name, key, g.Config.Strategy.Type)
	}
	m := &g.Metrics
	if p.ok, err = number(name, at+".metrics.request_totals.successful", m.Totals.Successful); err != nil {
		return p, err
	}
	for _, t := range []struct {
		key string
		n   *float64
	}{{"errored", m.Totals.Errored}, {"incomplete", m.Totals.Incomplete}} {
		key := at + ".metrics.request_totals." + t.key
		if t.n == nil {
			return p, fmt.Errorf("%s: %s is missing", name, key)
		}
		n, err := count(name, key, t.n)
		if err != nil {
			return p, err
		}
		p.bad += n
	}
	for _, f := range []struct {
		key            string
		m              guidellmMetric
		required       bool
		mean, p50, p99 *float64
	}{
		{"output_tokens_per_second", m.Throughput, true, &p.tokPerSec, nil, nil},
		{"time_to_first_token_ms", m.TTFT, true, nil, &p.p50, &p.p99},
		{"inter_token_latency_ms", m.ITL, false, nil, &p.itl, &p.itl99},
		{"request_concurrency", m.Concurrency, false, &p.delivered, nil, nil},
	} {
		key := at + ".metrics." + f.key + ".successful"
		if f.m.Successful == nil {
			if f.required {
				return p, fmt.Errorf("%s: %s is missing", name, key)
			}
			continue
		}
		s := f.m.Successful
		for _, v := range []struct {
			stat     string
			from, to *float64
		}{{"mean", s.Mean, f.mean}, {"percentiles.p50", s.Percentiles.P50, f.p50}, {"percentiles.p99", s.Percentiles.P99, f.p99}} {
			if v.to == nil {
				continue
			}
			read := number
			if !f.required {
				read = numberOrNone
			}
			if *v.to, err = read(name, key+"."+v.stat, v.from); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}
