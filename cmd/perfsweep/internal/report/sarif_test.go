package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
)

// The shape that code scanning reads: version, runs, tool.driver with name and
// rules, and results whose rule, level, message and place are all there.
func TestSARIF(t *testing.T) {
	l := Lint{Files: 1, Rules: recipes.Rules(), Findings: []recipes.Finding{
		{File: "./a b/x#1.yaml", Line: 3, Col: 7, Rule: "tab", Severity: "error", Message: "a tab", Remedy: "use spaces"},
		{File: "y.yaml", Line: 1, Col: 1, Rule: "provisional", Severity: "warning", Message: "m"},
	}}
	var out bytes.Buffer
	if err := Findings(&out, "sarif", l); err != nil {
		t.Fatal(err)
	}
	// Read with names of the standard, not with the types that wrote it.
	type text struct{ Text string }
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			ColumnKind string
			Tool       struct {
				Driver struct {
					Name, InformationURI string
					Rules                []struct {
						ID                     string
						ShortDescription, Help text
						DefaultConfiguration   struct{ Level string }
					}
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex *int
				Level     string
				Message   text
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 {
		t.Fatalf("%s", out.Bytes())
	}
	run := log.Runs[0]
	rules := run.Tool.Driver.Rules
	if run.Tool.Driver.Name != "perfsweep" || run.Tool.Driver.InformationURI == "" || run.ColumnKind != "unicodeCodePoints" || len(rules) != len(recipes.Rules()) {
		t.Errorf("%+v", run.Tool)
	}
	levels := []string{"none", "note", "warning", "error"}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.ID] || r.ID == "" || r.ShortDescription.Text == "" || r.Help.Text == "" || !slices.Contains(levels, r.DefaultConfiguration.Level) {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
	}
	if len(run.Results) != 2 {
		t.Fatalf("%+v", run.Results)
	}
	for i, r := range run.Results {
		f := l.Findings[i]
		if r.RuleIndex == nil || rules[*r.RuleIndex].ID != f.Rule || r.RuleID != f.Rule || r.Level != f.Severity || r.Message.Text == "" || len(r.Locations) != 1 {
			t.Fatalf("%+v", r)
		}
		p := r.Locations[0].PhysicalLocation
		if want := []string{"a%20b/x%231.yaml", "y.yaml"}[i]; p.ArtifactLocation.URI != want || p.Region.StartLine != f.Line || p.Region.StartColumn != f.Col {
			t.Errorf("%+v", p)
		}
	}
	out.Reset()
	if err := Findings(&out, "sarif", Lint{}); err != nil || !bytes.Contains(out.Bytes(), []byte(`"results": []`)) || !bytes.Contains(out.Bytes(), []byte(`"rules": []`)) {
		t.Errorf("%v %s", err, out.Bytes())
	}
}
