package imports

import (
	"fmt"
	"math"
)

// AIPerfRun is one run of AIPerf as a whole.
type AIPerfRun struct {
	Version     string
	Concurrency int
	// Requests that ended well, and those that did not.
	Requests, Errors int64
	Seconds          float64
	// OutputTokens are those of Requests and WarmUpTokens those sent before, both
	// as AIPerf's tokenizer counts them; 0 = not told.
	OutputTokens, WarmUpTokens float64
	TokPerSec, TTFTP99MS       float64
}

// ReadAIPerfRun reads one summary of AIPerf as that of a run that is held against
// another tool's: it must be a whole run, and every number must be there.
func ReadAIPerfRun(path string) (AIPerfRun, error) {
	f, err := openFile(path)
	if err != nil {
		return AIPerfRun{}, err
	}
	defer func() { _ = f.Close() }() // only read
	var s summary
	if err := document(path, f, &s); err != nil {
		return AIPerfRun{}, err
	}
	if err := s.whole(path); err != nil {
		return AIPerfRun{}, err
	}
	r := AIPerfRun{Version: s.Version}
	if r.Concurrency, err = s.concurrency(path); err != nil {
		return r, err
	}
	var requests, failed float64
	for _, v := range []struct {
		key, unit string
		m         *metric
		stat      string
		optional  bool
		to        *float64
	}{
		{"output_token_throughput", perSecond, s.Throughput, "avg", false, &r.TokPerSec},
		{"time_to_first_token", inMS, s.TTFT, "p99", false, &r.TTFTP99MS},
		{"benchmark_duration", inSeconds, s.Seconds, "avg", false, &r.Seconds},
		{"request_count", ofCount, s.Requests, "avg", false, &requests},
		{"error_request_count", ofCount, s.Errors, "avg", true, &failed},
		{"total_osl", inTokens, s.Tokens, "avg", true, &r.OutputTokens},
		{"warmup_metrics.total_osl", inTokens, s.WarmUp.Tokens, "avg", true, &r.WarmUpTokens},
	} {
		if err := v.m.read(path, v.key, v.unit, v.stat, v.optional, v.to); err != nil {
			return r, err
		}
	}
	r.Requests, r.Errors = int64(math.Round(requests)), int64(math.Round(failed))
	return r, nil
}

// read puts one statistic of a metric where it belongs.
func (m *metric) read(name, key, unit, stat string, optional bool, to *float64) (err error) {
	switch {
	case m == nil && optional:
		return nil
	case m == nil:
		return fmt.Errorf("%s: %s is missing", name, key)
	case m.Unit != unit:
		return fmt.Errorf("%s: %s.unit is %.40q; %q is known", name, key, m.Unit, unit)
	}
	from := m.Avg
	if stat == "p99" {
		from = m.P99
	}
	key += "." + stat
	if *to, err = number(name, key, from); optional {
		*to, err = count(name, key, from)
	}
	if err == nil && *to > 1<<53 {
		err = fmt.Errorf("%s: %s is %v, which nothing measures", name, key, *to)
	}
	return err
}
