package recipes

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// casesTable is every case of the two tables of the evaluator's rules, judged by
// AICR as it is and by Evaluate.
func casesTable() string {
	var b strings.Builder
	b.WriteString("| case | recipe | tok/s, TTFT ms, GPUs of node | AICR as it is | with #1254: `Evaluate` |\n|---|---|---|---|---|\n")
	row := func(name string, in AICRInput) {
		var recipe []string
		for _, c := range in.Constraints {
			recipe = append(recipe, "`"+strings.TrimPrefix(strings.TrimSpace(c.Name+" "+c.Value), "inference-")+"`")
		}
		text := strings.Join(recipe, ", ")
		if len(text) > 120 {
			text = text[:60] + "…`"
		}
		out := EmulateAICR(in)
		upstream := string(out.Status)
		if out.Code != "" {
			upstream += ", " + out.Code
		}
		if out.Status == AICRFailed && !out.Benchmarked {
			upstream += ", before the benchmark"
		}
		ours := outcome(in.Constraints, in.Measured)
		if w, _, measured := strings.Cut(ours, " is "); measured {
			ours = "fail: " + strings.Join(strings.Fields(w)[:2], " ")
		}
		if (out.Status == AICRPassed) != (ours == "pass") {
			ours = "**" + ours + "**"
		}
		m := in.Measured
		fmt.Fprintf(&b, "| %s | %s | %v, %v, %d of %d | %s | %s |\n", strings.ReplaceAll(name, "|", ""), text, m.TokPerSec, m.TTFTP99MS, m.GPUs, m.GPUsPerNode, upstream, ours)
	}
	for _, c := range allEmulatedCases() {
		row(c.name, c.input())
	}
	for _, c := range contractCases() {
		row(c.name, emulated{recipe: c.recipe, m: c.m}.input())
	}
	return b.String()
}

// The page for AICR holds the whole table, as the code decides it.
func TestUpstreamPageHasEveryCase(t *testing.T) {
	const page, begin, end = "../docs/upstream-evaluator.md", "<!-- cases -->\n", "<!-- end of cases -->"
	src, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(src), begin)
	got, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table of cases", page)
	}
	want := casesTable()
	if os.Getenv("PERFSWEEP_UPDATE") != "" { // look at the diff before committing it
		if err := os.WriteFile(page, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("the table of cases is not that of the code; PERFSWEEP_UPDATE=1 go test ./recipes -run HasEveryCase rewrites it\n%s", Diff(page, []byte(got), []byte(want)))
	}
}
