package imports

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/knee"
)

// MaxRuns bounds a file; a campaign has at most a few hundred runs.
const MaxRuns = 100_000

var (
	required = []string{"concurrency_per_gpu", "output_tok_per_s_per_gpu", "ttft_p50_ms", "ttft_p99_ms"}
	optional = []string{"itl_ms", "itl_p99_ms"}
)

// CSV reads runs with the header
// concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms,ttft_p99_ms[,itl_ms][,itl_p99_ms],
// one row a run, several rows a level allowed. name is for error positions.
func CSV(name string, r io.Reader) ([]knee.Run, error) {
	text, err := plainText(&bounded{r: r, limit: maxBytes})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	cr := csv.NewReader(text)
	cr.ReuseRecord = true
	cr.TrimLeadingSpace = true
	head, err := cr.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: empty; the header must be %s", name, strings.Join(required, ","))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	col, err := columns(name, head)
	if err != nil {
		return nil, err
	}
	var runs []knee.Run
	for {
		rec, err := cr.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(runs) == MaxRuns {
			return nil, fmt.Errorf("%s: more than %d rows", name, MaxRuns)
		}
		run, err := row(col, rec)
		if err != nil {
			line, _ := cr.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		runs = append(runs, run)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s: a header and no rows", name)
	}
	return runs, nil
}

// columns maps names to places; unknown, duplicate and missing ones are errors,
// because a misread unit is worse than a refused file.
func columns(name string, head []string) (map[string]int, error) {
	col := map[string]int{}
	for i, h := range head {
		h = strings.TrimSpace(h)
		if !known(h) {
			return nil, fmt.Errorf("%s:1: unknown column %.40q; known are %s", name, h, strings.Join(append(append([]string{}, required...), optional...), ", "))
		}
		if _, dup := col[h]; dup {
			return nil, fmt.Errorf("%s:1: column %.40q occurs twice", name, h)
		}
		col[h] = i
	}
	for _, h := range required {
		if _, ok := col[h]; !ok {
			return nil, fmt.Errorf("%s:1: column %q is missing; the header must be %s", name, h, strings.Join(required, ","))
		}
	}
	return col, nil
}

func known(h string) bool {
	for _, k := range append(append([]string{}, required...), optional...) {
		if h == k {
			return true
		}
	}
	return false
}

// row reads one run. A latency may be empty (absent); throughput may not.
func row(col map[string]int, rec []string) (knee.Run, error) {
	num := func(key string, mayBeEmpty bool) (float64, error) {
		i, ok := col[key]
		if !ok {
			return 0, nil
		}
		s := strings.TrimSpace(rec[i])
		if s == "" && mayBeEmpty {
			return 0, nil
		}
		v, err := strconv.ParseFloat(s, 64)
		// Go's own spellings, such as 1_6 and 0x1p4, are no other tool's.
		if err != nil || strings.ContainsAny(s, "_xX") || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
			return 0, fmt.Errorf("%s is %.40q; it must be a number greater than 0", key, s)
		}
		return v, nil
	}
	n, err := num("concurrency_per_gpu", false)
	if err != nil {
		return knee.Run{}, err
	}
	if n != math.Trunc(n) || n > 1<<20 {
		return knee.Run{}, fmt.Errorf("concurrency_per_gpu is %v; it must be a whole number up to %d", n, 1<<20)
	}
	run := knee.Run{ConcurrencyPerGPU: int(n)}
	for _, f := range []struct {
		key   string
		to    *float64
		empty bool
	}{
		{"output_tok_per_s_per_gpu", &run.TokPerSecPerGPU, false},
		{"ttft_p50_ms", &run.TTFTP50MS, true},
		{"ttft_p99_ms", &run.TTFTP99MS, true},
		{"itl_ms", &run.ITLMS, true},
		{"itl_p99_ms", &run.ITLP99MS, true},
	} {
		if *f.to, err = num(f.key, f.empty); err != nil {
			return knee.Run{}, err
		}
	}
	if run.TTFTP99MS > 0 && run.TTFTP50MS > run.TTFTP99MS {
		return knee.Run{}, fmt.Errorf("ttft_p50_ms of %v is above ttft_p99_ms of %v; the columns may be exchanged", run.TTFTP50MS, run.TTFTP99MS)
	}
	return run, nil
}
