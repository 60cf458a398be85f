package report

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/perfsweep/perfsweep/recipes"
)

// The part of SARIF 2.1.0 (OASIS, 2020) that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Columns string        `json:"columnKind"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		URI   string      `json:"informationUri"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Help    sarifText   `json:"help"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
		Col  int `json:"startColumn"`
	}
)

// sarif writes findings as one run. Its levels are named as our severities.
func sarif(w io.Writer, l Lint) error {
	run := sarifRun{Columns: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "perfsweep", URI: "https://github.com/perfsweep/perfsweep", Rules: []sarifRule{}}
	index := map[string]int{}
	for i, r := range l.Rules {
		index[r.Name] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.Name, sarifText{r.Summary}, sarifText{r.Remedy}, sarifConfig{r.Severity}})
	}
	for _, f := range l.Findings {
		text := f.Message
		if f.Remedy != "" {
			text += "; " + f.Remedy
		}
		run.Results = append(run.Results, sarifResult{f.Rule, index[f.Rule], f.Severity, sarifText{text}, []sarifLocation{place(f)}})
	}
	return encode(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// place names the file as a relative reference (RFC 3986), which code scanning
// takes as a path below the checkout.
func place(f recipes.Finding) sarifLocation {
	uri := strings.NewReplacer("%", "%25", " ", "%20", "#", "%23", "?", "%3F").Replace(strings.TrimPrefix(filepath.ToSlash(filepath.Clean(f.File)), "./"))
	return sarifLocation{sarifPhysical{sarifArtifact{uri}, sarifRegion{f.Line, f.Col}}}
}
