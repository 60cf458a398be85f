package recipes

import (
	"strings"
	"testing"
)

// The record is the table of 59 rows, and agrees with the second copy of its
// figures from which the shipped overlays were made.
func TestPublicRuns(t *testing.T) {
	runs, err := PublicRuns()
	if err != nil {
		t.Fatal(err)
	}
	byRow := map[int][]KnownRun{}
	for _, k := range runs {
		byRow[k.Row] = append(byRow[k.Row], k)
	}
	for row := 1; row <= 59; row++ {
		if len(byRow[row]) == 0 {
			t.Errorf("row %d is missing", row)
		}
	}
	if len(byRow) != 59 || len(runs) != 65 {
		t.Errorf("%d rows, %d runs", len(byRow), len(runs))
	}
	for key, list := range publicRecord() {
		for _, want := range list {
			k := byRow[want.row][0]
			if k.GPUs != want.gpus || k.ConcurrencyPerGPU != want.conc || k.TokPerSec != want.tokPerSec || k.TTFTP99MS != want.ttftMS {
				t.Errorf("%s row %d: %+v, the overlays' record has %+v", key, want.row, k, want)
			}
			if want.gpus != 0 && k.Accelerator+"-"+k.Service != key || want.gpus == 0 && k.Service != "" {
				t.Errorf("row %d is of %s-%s, the overlays' record says %s", want.row, k.Accelerator, k.Service, key)
			}
			if strings.Contains(want.excluded, k.Fault) != k.Bad && !(k.Fault == "stall" && want.excluded == "stalled") && !(k.Fault == "" && !k.Bad) {
				t.Errorf("row %d is %s here and %q there", want.row, k.State(), want.excluded)
			}
		}
	}
}

const runsHeader = "row,run,accelerator,service,gpus,concurrency_per_gpu,model,image,router,output_tok_per_s,ttft_p99_ms,state,fault,source,date,note\n"

func TestReadRuns(t *testing.T) {
	one, err := ReadRuns(strings.NewReader("# a comment\n" + runsHeader + "7,a,h100,eks,8,256,m,i,LL,1000.5,20,bad,stall,#1,2026-01-02,n\n"))
	if err != nil || len(one) != 1 || one[0] != (KnownRun{7, "a", "h100", "eks", 8, 256, "m", "i", "LL", 1000.5, 20, true, "stall", "#1", "2026-01-02", "n"}) {
		t.Fatalf("%+v, %v", one, err)
	}
	for name, c := range map[string]struct{ file, says string }{
		"empty":             {"", "no header"},
		"another header":    {"a,b\n", "the header is"},
		"no run":            {runsHeader, "no run"},
		"too few cells":     {runsHeader + "1,,h100\n", "wrong number of fields"},
		"no row":            {runsHeader + ",,h100,eks,8,256,,,,1,1,bad,,#1,,\n", "row, accelerator and source"},
		"no source":         {runsHeader + "1,,h100,eks,8,256,,,,1,1,bad,,,,\n", "row, accelerator and source"},
		"no state":          {runsHeader + "1,,h100,eks,8,256,,,,1,1,,,#1,,\n", "healthy or bad"},
		"healthy and fault": {runsHeader + "1,,h100,eks,8,256,,,,1,1,healthy,stall,#1,,\n", "drop the fault"},
		"NaN":               {runsHeader + "1,,h100,eks,8,256,,,,NaN,1,bad,,#1,,\n", "output_tok_per_s"},
		"negative":          {runsHeader + "1,,h100,eks,8,256,,,,1,-1,bad,,#1,,\n", "ttft_p99_ms"},
		"zero":              {runsHeader + "1,,h100,eks,8,256,,,,0,1,bad,,#1,,\n", "leave the cell empty"},
		"thousands":         {runsHeader + "1,,h100,eks,8,256,,,,\"50,000\",1,bad,,#1,,\n", "output_tok_per_s"},
		"half a GPU":        {runsHeader + "1,,h100,eks,0.5,256,,,,1,1,bad,,#1,,\n", "gpus"},
	} {
		if runs, err := ReadRuns(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, runs, err)
		}
	}
}

func FuzzReadRuns(f *testing.F) {
	f.Add(runsHeader + "1,,h100,eks,8,256,,,,1,1,bad,,#1,,\n")
	f.Add("#\n\"")
	f.Fuzz(func(t *testing.T, file string) {
		runs, err := ReadRuns(strings.NewReader(file))
		for _, k := range runs {
			if err != nil || k.Row <= 0 || k.GPUs < 0 || k.TokPerSec < 0 || k.TTFTP99MS < 0 || k.Source == "" {
				t.Fatalf("%+v, %v", k, err)
			}
		}
	})
}
