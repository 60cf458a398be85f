package aiperf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestGolden: the bytes of each file, as they were last looked at. After an
// intended change, copy what the failure leaves in the folder that it names.
func TestGolden(t *testing.T) {
	o := options(t, [2]string{"warmup-request-count", "4"}, [2]string{"concurrency", "4"}, [2]string{"request-count", "20"}, [2]string{"isl", "128"},
		[2]string{"extra-inputs", "temperature:0,ignore_eos:true"}, [2]string{"H", "X-Team:secret-value"}, [2]string{"tokenizer", "builtin"},
		[2]string{"export-level", "records"}, [2]string{"goodput", "time_to_first_token:100"})
	c, lines := recorded(t, o, failed(loadgen.Shed, "status 503 Service Unavailable: full"))
	run := aRun(o)
	run.Notes, run.Result.Measured = []string{"a note"}, loadgen.Outcomes{loadgen.OK: 20, loadgen.Shed: 1}
	asJSON, err := c.JSON(run)
	if err != nil {
		t.Fatal(err)
	}
	asCSV, err := c.CSV(run)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{
		"golden.json": asJSON, "golden.csv": asCSV, "golden.jsonl": lines.Bytes(), "golden.txt": c.Text(run),
	} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err == nil && bytes.Equal(got, want) {
			continue
		}
		left := filepath.Join(os.TempDir(), name)
		t.Errorf("%s is not what it was; see %s (%v, %v)", name, left, err, os.WriteFile(left, got, 0o600))
		if bytes.Contains(got, []byte("secret-value")) {
			t.Error("it holds the value of a header")
		}
	}
}
