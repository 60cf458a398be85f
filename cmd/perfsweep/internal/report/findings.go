package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/perfsweep/perfsweep/recipes"
)

// Findings prints what lint found in a number of files.
func Findings(w io.Writer, format string, fs []recipes.Finding, files int) error {
	switch format {
	case "json":
		if fs == nil {
			fs = []recipes.Finding{}
		}
		return encode(w, struct {
			SchemaVersion int               `json:"schema_version"`
			Files         int               `json:"files"`
			Findings      []recipes.Finding `json:"findings"`
		}{schemaVersion, files, fs})
	case "csv":
		rows := [][]string{{"file", "line", "column", "severity", "rule", "message", "remedy"}}
		for _, f := range fs {
			rows = append(rows, []string{f.File, strconv.Itoa(f.Line), strconv.Itoa(f.Col), f.Severity, f.Rule, f.Message, f.Remedy})
		}
		return csv.NewWriter(w).WriteAll(rows)
	}
	p := &printer{w: w}
	for _, f := range fs {
		p.line("%s:%d:%d: %s: %s [%s]", f.File, f.Line, f.Col, f.Severity, f.Message, f.Rule)
		if f.Remedy != "" {
			p.line("    %s", f.Remedy)
		}
	}
	switch {
	case len(fs) == 0 && files == 1:
		p.line("no findings in 1 overlay file")
	case len(fs) == 0:
		p.line("no findings in %d overlay files", files)
	}
	return p.err
}
