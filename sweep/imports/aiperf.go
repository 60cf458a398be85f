package imports

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// AIPerfFile is the name of AIPerf's summary in an artifact folder.
const AIPerfFile = "profile_export_aiperf.json"

// Bounds of a tree of artifact folders.
const (
	maxDepth   = 8
	maxEntries = 200_000
)

// aiperfNote is what every answer from AIPerf's numbers says.
const aiperfNote = "AIPerf's throughput is that of the whole run, ramp and drain included: a floor from it holds for runs measured alike only"

// AIPerf reads the artifact folder of `aiperf profile`, or a folder with such
// folders at any depth, as a sweep leaves them: one run each. gpus is the
// number of GPUs measured, which the files do not tell.
func AIPerf(folder string, gpus int) (Curve, error) {
	var points []point
	entries := 0
	// Links in the folder are not followed; behind a separator, the one that
	// names it is.
	root := folder + string(filepath.Separator)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > maxEntries {
			return fmt.Errorf("%s has more than %d entries; name the folder of the sweep", folder, maxEntries)
		}
		if d.IsDir() {
			return enter(root, path)
		}
		if d.Name() != AIPerfFile {
			return nil
		}
		p, err := aiperfFile(path)
		points = append(points, p)
		return err
	})
	if err != nil {
		return Curve{}, err
	}
	if len(points) == 0 {
		return Curve{}, fmt.Errorf("no %s in %s or below it: name the folder that `aiperf profile` wrote, or that of its sweep", AIPerfFile, folder)
	}
	return gather(points, gpus, aiperfNote)
}

// enter leaves out folders whose summaries are not runs of their own: the
// phases of a run, and AIPerf's own averages over runs.
func enter(root, path string) error {
	if path == root {
		return nil
	}
	switch filepath.Base(path) {
	case "phases", "aggregate", "sweep_aggregate":
		return fs.SkipDir
	}
	below, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	if strings.Count(below, string(filepath.Separator)) >= maxDepth {
		return fmt.Errorf("%s lies deeper than %d folders in %s; name the folder of the sweep", path, maxDepth, root)
	}
	return nil
}

func aiperfFile(path string) (point, error) {
	f, err := openFile(path)
	if err != nil {
		return point{}, err
	}
	defer func() { _ = f.Close() }() // only read
	return aiperfPoint(path, f)
}

// AIPerfSummary reads one summary of AIPerf.
func AIPerfSummary(name string, r io.Reader, gpus int) (Curve, error) {
	p, err := aiperfPoint(name, r)
	if err != nil {
		return Curve{}, err
	}
	return gather([]point{p}, gpus, aiperfNote)
}

// metric is a block of AIPerf's summary.
type metric struct {
	Unit string   `json:"unit"`
	Avg  *float64 `json:"avg"`
	P50  *float64 `json:"p50"`
	P99  *float64 `json:"p99"`
}

// summary is what is read of a file; AIPerf adds keys as it grows.
type summary struct {
	Version    string  `json:"aiperf_version"`
	Schema     string  `json:"schema_version"`
	Benchmark  string  `json:"benchmark_id"`
	Cancelled  *bool   `json:"was_cancelled"`
	Complete   *bool   `json:"is_complete"`
	Throughput *metric `json:"output_token_throughput"`
	TTFT       *metric `json:"time_to_first_token"`
	ITL        *metric `json:"inter_token_latency"`
	Requests   *metric `json:"request_count"`
	Errors     *metric `json:"error_request_count"`
	InFlight   *metric `json:"effective_concurrency"`
	Seconds    *metric `json:"benchmark_duration"`
	Tokens     *metric `json:"total_osl"`
	WarmUp     struct {
		Tokens *metric `json:"total_osl"`
	} `json:"warmup_metrics"`
	Config struct {
		Models struct {
			Items []struct {
				Name string `json:"name"`
			} `json:"items"`
		} `json:"models"`
		Endpoint struct {
			Type  string          `json:"type"`
			Extra json.RawMessage `json:"extra"`
		} `json:"endpoint"`
		Datasets []struct {
			Type    string          `json:"type"`
			Entries json.RawMessage `json:"entries"`
			Prompts json.RawMessage `json:"prompts"`
		} `json:"datasets"`
		Phases []struct {
			Kind        string `json:"kind"`
			Excluded    bool   `json:"exclude_from_results"`
			Type        string `json:"type"`
			Concurrency *int   `json:"concurrency"`
		} `json:"phases"`
	} `json:"input_config"`
}

// The units that each metric must have: a number is never guessed into one.
const (
	perSecond = "tokens/sec"
	inMS      = "ms"
	ofCount   = "requests"
	inSeconds = "sec"
	inTokens  = "tokens"
)

func aiperfPoint(name string, r io.Reader) (p point, err error) {
	var s summary
	if err := document(name, r, &s); err != nil {
		return p, err
	}
	p = point{where: name, id: s.Benchmark, conditions: s.conditions()}
	if err := s.whole(name); err != nil {
		return p, err
	}
	if p.concurrency, err = s.concurrency(name); err != nil {
		return p, err
	}
	var none float64
	for _, f := range []struct {
		key, unit string
		m         *metric
		required  bool
		avg       *float64
		p50, p99  *float64
	}{
		{"output_token_throughput", perSecond, s.Throughput, true, &p.tokPerSec, nil, nil},
		{"time_to_first_token", inMS, s.TTFT, true, nil, &p.p50, &p.p99},
		{"inter_token_latency", inMS, s.ITL, false, nil, &p.itl, &p.itl99},
		{"request_count", ofCount, s.Requests, true, &p.ok, nil, nil},
		{"error_request_count", ofCount, s.Errors, false, &none, nil, nil},
		{"effective_concurrency", ofCount, s.InFlight, false, &p.delivered, nil, nil},
	} {
		if f.m == nil && !f.required {
			continue
		}
		if f.m == nil {
			return p, fmt.Errorf("%s: %s is missing", name, f.key)
		}
		if f.m.Unit != f.unit {
			return p, fmt.Errorf("%s: %s.unit is %.40q; %q is known", name, f.key, f.m.Unit, f.unit)
		}
		for _, v := range []struct {
			stat string
			from *float64
			to   *float64
		}{{"avg", f.m.Avg, f.avg}, {"p50", f.m.P50, f.p50}, {"p99", f.m.P99, f.p99}} {
			switch {
			case v.to == nil:
			case v.to == &none:
				p.bad, err = count(name, f.key+".avg", v.from)
			case f.required:
				*v.to, err = number(name, f.key+"."+v.stat, v.from)
			default:
				*v.to, err = numberOrNone(name, f.key+"."+v.stat, v.from)
			}
			if err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// whole refuses what is no summary of a whole run.
func (s *summary) whole(name string) error {
	switch {
	case s.Version == "":
		return fmt.Errorf("%s: aiperf_version is missing: this is not a summary of AIPerf", name)
	case !strings.HasPrefix(s.Schema, "1."):
		return fmt.Errorf("%s: schema_version is %.40q; 1.x is known", name, s.Schema)
	case s.Cancelled != nil && *s.Cancelled:
		return fmt.Errorf("%s: was_cancelled is true: the numbers are those of a part; remove the folder or run it again", name)
	case s.Complete != nil && !*s.Complete:
		return fmt.Errorf("%s: is_complete is false: the numbers are those of a part; remove the folder or run it again", name)
	}
	return nil
}

// concurrency is that of the one phase that was measured.
func (s *summary) concurrency(name string) (int, error) {
	at := -1
	for i, ph := range s.Config.Phases {
		if ph.Kind == "warmup" || ph.Excluded {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("%s: input_config.phases has more than one measured phase: the numbers are a mixture", name)
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("%s: input_config.phases has no measured phase: at which concurrency was this measured?", name)
	}
	key := "input_config.phases[" + strconv.Itoa(at) + "]"
	if ph := s.Config.Phases[at]; ph.Type != "concurrency" {
		return 0, fmt.Errorf("%s: %s.type is %.40q: only a fixed concurrency makes a point of the curve", name, key, ph.Type)
	}
	return streams(name, key+".concurrency", s.Config.Phases[at].Concurrency)
}

// conditions are what all runs of a curve must share.
func (s *summary) conditions() map[string]string {
	c := map[string]string{
		"input_config.endpoint.type":  s.Config.Endpoint.Type,
		"input_config.endpoint.extra": plain(s.Config.Endpoint.Extra),
	}
	for i, m := range s.Config.Models.Items {
		c[fmt.Sprintf("input_config.models.items[%d].name", i)] = m.Name
	}
	for i, d := range s.Config.Datasets {
		key := fmt.Sprintf("input_config.datasets[%d]", i)
		c[key+".type"], c[key+".entries"], c[key+".prompts"] = d.Type, plain(d.Entries), plain(d.Prompts)
	}
	return c
}

// plain spells a JSON value so that equal ones are equal, whatever their
// layout and the order of their keys.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}
