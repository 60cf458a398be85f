package calibrate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// HistoryPoint is one check in a history file, a JSON line each.
type HistoryPoint struct {
	SchemaVersion int `json:"schema_version"`
	// Time is when the check's last run ended; it tells checks apart.
	Time    time.Time `json:"time"`
	Verdict Verdict   `json:"verdict"`
	// Series is the SHA-256 of what was measured, places and versions left out:
	// only checks of one series are compared.
	Series            string  `json:"series_sha256"`
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu"`
	TokPerSecPerGPU   float64 `json:"output_tok_per_s_per_gpu,omitempty"`
	TTFTP99MS         float64 `json:"ttft_p99_ms,omitempty"`
	PulseRatio        float64 `json:"pulse_throughput_ratio,omitempty"`
	DriftAlarm        bool    `json:"drift_alarm,omitempty"`
}

const (
	historyVersion  = 1
	historyLineMax  = 16 << 10
	historyLinesMax = 1_000_000
)

// NewHistoryPoint is the line that a check leaves; ok is false where nothing was measured.
func NewHistoryPoint(c sweep.Curve, r CheckResult) (p HistoryPoint, ok bool) {
	for _, run := range c.Runs {
		if run.Result.Ended.After(p.Time) {
			p.Time = run.Result.Ended.UTC()
		}
	}
	f := c.Fingerprint
	f.Target, f.Deployment, f.ToolVersion, f.UnixSocket, f.Proxy, f.ExtraHeaders = "", "", "", "", "", nil
	p.SchemaVersion, p.Verdict, p.Series = historyVersion, r.Verdict, FingerprintHash(f)
	p.ConcurrencyPerGPU, p.TokPerSecPerGPU, p.TTFTP99MS, p.PulseRatio = r.Gate.ConcurrencyPerGPU, r.TokPerSecPerGPU, r.TTFTP99MS, r.Pulse.Ratio
	p.DriftAlarm = r.Drift != nil && r.Drift.Alarm
	return p, p.valid() == nil
}

// valid says what is wrong with a point.
func (p HistoryPoint) valid() error {
	known := p.Verdict == Pass || p.Verdict == Fail || p.Verdict == Inconclusive
	switch {
	case p.SchemaVersion != historyVersion:
		return fmt.Errorf("schema_version %d: this version reads %d", p.SchemaVersion, historyVersion)
	case p.Time.IsZero():
		return errors.New("no time")
	case !known:
		return fmt.Errorf("verdict %q is none of pass, fail and inconclusive", printable(string(p.Verdict)))
	case p.Series == "" || p.ConcurrencyPerGPU <= 0:
		return errors.New("no series_sha256 or no concurrency_per_gpu")
	}
	for _, v := range []float64{p.TokPerSecPerGPU, p.TTFTP99MS, p.PulseRatio} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is no measurement", v)
		}
	}
	return nil
}

// ReadHistory reads a history; an error names the line.
func ReadHistory(r io.Reader) ([]HistoryPoint, error) {
	var out []HistoryPoint
	in := bufio.NewReaderSize(r, historyLineMax)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return out, nil
		case err == io.EOF:
			return nil, fmt.Errorf("line %d has no end: it was cut short; delete it", n)
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("line %d is longer than %d bytes", n, historyLineMax)
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, err)
		case n > historyLinesMax:
			return nil, fmt.Errorf("line %d: a history has at most %d lines", n, historyLinesMax)
		}
		p, err := historyPoint(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, p)
	}
}

func historyPoint(line []byte) (HistoryPoint, error) {
	var p HistoryPoint
	dec := json.NewDecoder(bytes.NewReader(line))
	if err := dec.Decode(&p); err != nil {
		return p, fmt.Errorf("not a point of a history: %w", loadgen.PlainJSON(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return p, errors.New("something follows the point")
	}
	return p, p.valid()
}

// History is what a check's history tells of its latest point.
type History struct {
	// Checks counts the ones that can be compared with the latest, itself included.
	Checks int `json:"comparable_checks"`
	// Throughput and TTFTP99 are the changes found, nil where there is none.
	Throughput *ChangePoint `json:"throughput_change,omitempty"`
	TTFTP99    *ChangePoint `json:"ttft_p99_change,omitempty"`
	// DriftConfirmed: this check and the one before it raised a drift alarm.
	DriftConfirmed bool   `json:"drift_confirmed"`
	Reason         string `json:"reason"`
}

// JudgeHistory looks at the checks of at's series up to it, in the order of
// their time: a file that several machines append to, or into which an old
// journal was judged again, is in another one. A check counts once.
func JudgeHistory(points []HistoryPoint, at HistoryPoint) History {
	var h History
	var series []HistoryPoint
	known := map[int64]bool{} // the times of series
	twice, later, moved := 0, 0, false
	for _, p := range points {
		n := len(series)
		switch measured := positive(p.TokPerSecPerGPU) && positive(p.TTFTP99MS); {
		case p.Series != at.Series || p.ConcurrencyPerGPU != at.ConcurrencyPerGPU || p.Verdict == Inconclusive || !measured:
			continue
		case p.Time.After(at.Time):
			later++
			continue
		case known[p.Time.UnixNano()]:
			twice++
			continue
		}
		known[p.Time.UnixNano()] = true
		moved = moved || n > 0 && p.Time.Before(series[n-1].Time)
		series = append(series, p)
	}
	slices.SortFunc(series, func(a, b HistoryPoint) int { return a.Time.Compare(b.Time) })
	h.Checks = len(series)
	if n := len(series); n > 1 {
		h.DriftConfirmed = series[n-1].DriftAlarm && series[n-2].DriftAlarm
	}
	h.Throughput = changeOf(series, driftThroughput, func(p HistoryPoint) float64 { return p.TokPerSecPerGPU })
	h.TTFTP99 = changeOf(series, driftTTFT, func(p HistoryPoint) float64 { return p.TTFTP99MS })
	h.Reason = h.sentence()
	if moved {
		h.Reason += "; its lines are not in the order of time, and were put into it"
	}
	if twice > 0 {
		h.Reason += fmt.Sprintf("; %d of its lines %s of a check that it has already, and %s once",
			twice, plural.Verb(twice, "is", "are"), plural.Verb(twice, "counts", "count"))
	}
	if later > 0 {
		h.Reason += fmt.Sprintf("; %s %s later than this one, and %[2]s not looked at", plural.Of(later, "check"), plural.Verb(later, "is", "are"))
	}
	return h
}

// HistoryDates refuses a history with a check that is dated after now, or
// before any could be made: its place in the order is not known, and change
// points would be looked for around it.
func HistoryDates(points []HistoryPoint, now time.Time) error {
	for i, p := range points {
		if odd := oddDate(p.Time, now); odd != "" {
			return fmt.Errorf("line %d: a check of %s, %s; correct the line or delete it", i+1, p.Time.UTC().Format(time.RFC3339), odd)
		}
	}
	return nil
}

func (h History) sentence() string {
	s := "history: " + plural.Of(h.Checks, "comparable check")
	switch {
	case h.Checks < changeFewest:
		s += fmt.Sprintf(", change points are looked for from %d on", changeFewest)
	case h.Throughput == nil && h.TTFTP99 == nil:
		s += fmt.Sprintf(", no change point in the last %d", min(h.Checks, changeMost))
	}
	for _, c := range []struct {
		what string
		at   *ChangePoint
	}{{"throughput", h.Throughput}, {"TTFT p99", h.TTFTP99}} {
		if c.at != nil {
			s += fmt.Sprintf("; CHANGE of %s by x%.3f with the check of %s (p %.2g)", c.what, c.at.Ratio, c.at.Time.Format(time.RFC3339), c.at.P)
		}
	}
	if h.DriftConfirmed {
		s += "; DRIFT CONFIRMED: the check before raised the alarm as well"
	}
	return s
}
