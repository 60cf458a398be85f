package aiperf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Input is one key of --extra-inputs or --header with its JSON value.
type Input struct {
	Key   string
	Value json.RawMessage
}

// parseInputs reads key:value pairs separated by commas, or one JSON object.
func parseInputs(s string) ([]Input, error) {
	if strings.HasPrefix(s, "{") {
		return parseObject(s)
	}
	var out []Input
	for item := range strings.SplitSeq(s, ",") {
		k, v, ok := strings.Cut(item, ":")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, errors.New("write key:value, or a JSON object")
		}
		out = append(out, Input{k, coerce(strings.TrimSpace(v))})
	}
	return out, nil
}

// parseObject keeps the order of a JSON object's keys.
func parseObject(s string) ([]Input, error) {
	d := json.NewDecoder(strings.NewReader(s))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	var out []Input
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("not a JSON object: %w", err)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("not a JSON object: %w", err)
		}
		out = append(out, Input{k.(string), v}) // keys of an object are strings
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return out, nil
}

// coerce gives a bare word the type that it looks like, as AIPerf does: true
// and false, none and null, integers and decimal fractions; all else is text.
func coerce(s string) json.RawMessage {
	switch strings.ToLower(s) {
	case "true", "false":
		return json.RawMessage(strings.ToLower(s))
	case "none", "null":
		return json.RawMessage("null")
	}
	digits := strings.TrimPrefix(s, "-")
	switch {
	case isDigits(digits) && (digits == "0" || digits[0] != '0'):
		return json.RawMessage(s)
	case strings.Count(digits, ".") == 1 && isDigits(strings.Replace(digits, ".", "", 1)):
		f, err := strconv.ParseFloat(s, 64)
		if err == nil && !math.IsInf(f, 0) {
			return quote(f)
		}
	}
	return quote(s)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// quote is for values that always have a JSON form.
func quote(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a bytes.Buffer takes everything
	return bytes.TrimRight(b.Bytes(), "\n")
}

// text is a JSON value as a header carries it.
func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// parseInt reads a whole number between low and high.
func parseInt(s string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("must be a whole number from %d to %d", low, high)
	}
	return n, nil
}

// parseCount reads the one value of a flag that AIPerf lets be a list.
func parseCount(s string, low, high int64) (int64, error) {
	if strings.Contains(s, ",") {
		return 0, errors.New("a list is a sweep: run profile once for each value, or see perfsweep sweep")
	}
	return parseInt(s, low, high)
}

// maxSeconds bounds every time of the command line: a year.
const maxSeconds = 366 * 24 * 3600

// parseSeconds reads a number of seconds.
func parseSeconds(s string, zero bool) (time.Duration, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > maxSeconds || f == 0 && !zero {
		return 0, errors.New("must be a number of seconds, not negative and at most a year")
	}
	if d := time.Duration(f * float64(time.Second)); d > 0 || f == 0 {
		return d, nil
	}
	return 1, nil
}

// parseSLOs reads "tag:value tag:value".
func parseSLOs(s string) ([]SLO, error) {
	var out []SLO
	for _, item := range strings.Fields(s) {
		tag, v, ok := strings.Cut(item, ":")
		f, err := strconv.ParseFloat(v, 64)
		if !ok || err != nil || f < 0 || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%q: write TAG:NUMBER with a number that is not negative, several in one argument with spaces between", item)
		}
		if m := recordMetricOf(tag); m == nil {
			return nil, fmt.Errorf("%q is no metric of single requests; known are %s", tag, strings.Join(recordTags(), ", "))
		}
		out = append(out, SLO{tag, f})
	}
	if len(out) == 0 {
		return nil, errors.New("write TAG:NUMBER")
	}
	return out, nil
}

// normalURL gives a URL without a scheme the scheme http, as AIPerf does.
func normalURL(s string) string {
	if strings.Contains(s, "://") {
		return s
	}
	return "http://" + s
}
