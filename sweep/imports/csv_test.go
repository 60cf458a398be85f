package imports

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfsweep/perfsweep/knee"
)

const header = "concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms,ttft_p99_ms"

func row5(n int, x, p50, p99, itl float64) knee.Run {
	return knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: x, TTFTP50MS: p50, TTFTP99MS: p99, ITLMS: itl}
}

// row6 is a row5 with an ITL p99.
func row6(n int, x, p50, p99, itl, itl99 float64) knee.Run {
	r := row5(n, x, p50, p99, itl)
	r.ITLP99MS = itl99
	return r
}

func TestCSV(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []knee.Run
	}{
		"plain":             {header + "\n8,100.5,10,20\n8,101,,21\n", []knee.Run{row5(8, 100.5, 10, 20, 0), row5(8, 101, 0, 21, 0)}},
		"itl, any order":    {"itl_ms,ttft_p99_ms,ttft_p50_ms,output_tok_per_s_per_gpu,concurrency_per_gpu\n3,20,10,100,16\n", []knee.Run{row5(16, 100, 10, 20, 3)}},
		"itl p99":           {header + ",itl_ms,itl_p99_ms\n8,100,1,2,3,4\n8,100,1,2,,5\n", []knee.Run{row6(8, 100, 1, 2, 3, 4), row6(8, 100, 1, 2, 0, 5)}},
		"BOM, CRLF, spaces": {"\ufeff" + header + "\r\n 8 , 100, 1, 2\r\n", []knee.Run{row5(8, 100, 1, 2, 0)}},
		"exponent":          {header + "\n8.0,1e2,1,2", []knee.Run{row5(8, 100, 1, 2, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := CSV("f.csv", strings.NewReader(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What cannot be read for certain is refused, with the place.
func TestCSVRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, says string }{
		"empty":              {"", "f.csv: empty"},
		"header only":        {header + "\n", "no rows"},
		"another unit":       {strings.Replace(header, "ttft_p50_ms", "ttft_p50_s", 1) + "\n8,1,1,1\n", `f.csv:1: unknown column "ttft_p50_s"`},
		"a binary file":      {strings.Repeat("[", 1<<20), `unknown column "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["; known`},
		"column missing":     {"concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms\n8,1,1\n", `"ttft_p99_ms" is missing`},
		"column twice":       {header + ",ttft_p99_ms\n8,1,1,1,1\n", "occurs twice"},
		"short row":          {header + "\n8,1,1\n", "wrong number of fields"},
		"no throughput":      {header + "\n8,1,1,1\n8,,1,1\n", "f.csv:3: output_tok_per_s_per_gpu"},
		"not a number":       {header + "\n8,NaN,1,1\n", "f.csv:2"},
		"infinite":           {header + "\n8,+Inf,1,1\n", "f.csv:2"},
		"zero":               {header + "\n8,1,0,1\n", "ttft_p50_ms"},
		"negative":           {header + "\n-8,1,1,1\n", "concurrency_per_gpu"},
		"part of a stream":   {header + "\n8.5,1,1,1\n", "whole number"},
		"absurd concurrency": {header + "\n9999999,1,1,1\n", "whole number up to"},
		"thousands":          {header + "\n8,\"1,000\",1,1\n", "output_tok_per_s_per_gpu"},
		"Go's digits":        {header + "\n1_6,1,1,1\n", "concurrency_per_gpu"},
		"hexadecimal":        {header + "\n8,0x1p4,1,1\n", "output_tok_per_s_per_gpu"},
		"UTF-16":             {"\xff\xfec\x00o\x00", "f.csv: the text is not UTF-8 but seems to be UTF-16"},
		"UTF-16, unmarked":   {"c\x00o\x00", "seems to be UTF-16"},
		"too many rows":      {header + "\n" + strings.Repeat("8,1,1,1\n", MaxRuns+1), "more than 100000 rows"},
		"one endless line":   {header + "\n" + strings.Repeat("8", maxBytes), "more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := CSV("f.csv", strings.NewReader(c.in))
			if err == nil || got != nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %d runs, error %v; want an error with %q", len(got), err, c.says)
			}
		})
	}
}

func FuzzCSV(f *testing.F) {
	f.Add(header + "\n8,100,10,20\n16,190,11,22\n")
	f.Add(header + ",itl_ms\n8,100,,20,3\n")
	f.Fuzz(func(t *testing.T, in string) {
		runs, err := CSV("f.csv", strings.NewReader(in))
		if err != nil {
			return
		}
		if len(runs) == 0 {
			t.Error("neither runs nor an error")
		}
		for _, r := range runs {
			if r.ConcurrencyPerGPU < 1 || !(r.TokPerSecPerGPU > 0) || r.TTFTP50MS < 0 || r.TTFTP99MS < 0 || r.ITLMS < 0 {
				t.Errorf("%+v", r)
			}
		}
	})
}
