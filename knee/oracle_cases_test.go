package knee_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
)

// oracleCase is one drawn curve with what the reference implementation of
// knee.md §16 says of it, and the closed-form truth that decides who is right.
type oracleCase struct {
	Name    string     `json:"name"`
	Setting string     `json:"setting"`
	Truth   float64    `json:"truth"`
	Runs    string     `json:"runs"` // "n x p50 p99;…"
	Oracle  oracleSaid `json:"oracle"`
}

type oracleSaid struct {
	Status knee.Status `json:"status"`
	Knee   float64     `json:"knee,omitempty"`
}

const oracleFile = "testdata/oracle.jsonl"

func parseRuns(t *testing.T, s string) []knee.Run {
	t.Helper()
	var runs []knee.Run
	for part := range strings.SplitSeq(s, ";") {
		var r knee.Run
		if _, err := fmt.Sscan(part, &r.ConcurrencyPerGPU, &r.TokPerSecPerGPU, &r.TTFTP50MS, &r.TTFTP99MS); err != nil {
			t.Fatalf("run %q: %v", part, err)
		}
		runs = append(runs, r)
	}
	return runs
}

func readCases(t *testing.T) []oracleCase {
	t.Helper()
	data, err := os.ReadFile(oracleFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases []oracleCase
	for line := range strings.Lines(string(data)) {
		var c oracleCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s line %d: %v", oracleFile, len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases
}
