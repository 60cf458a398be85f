package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// Lint is what lint found in a number of files.
type Lint struct {
	Files    int
	Findings []recipes.Finding
	Resolved []*recipes.Resolved // with --resolved, a file each
	Rules    []recipes.Rule
}

type lintDoc struct {
	SchemaVersion int                 `json:"schema_version"`
	Files         int                 `json:"files"`
	Findings      []recipes.Finding   `json:"findings"`
	Resolved      []*recipes.Resolved `json:"resolved,omitempty"`
}

// Add takes the findings of one more file. Those of a chain that several files
// share are kept once.
func (l *Lint) Add(fs []recipes.Finding) {
	for _, f := range fs {
		if !slices.Contains(l.Findings, f) {
			l.Findings = append(l.Findings, f)
		}
	}
}

// Findings prints a lint.
func Findings(w io.Writer, format string, l Lint) error {
	switch format {
	case "json":
		if l.Findings == nil {
			l.Findings = []recipes.Finding{}
		}
		return encode(w, lintDoc{schemaVersion, l.Files, l.Findings, l.Resolved})
	case "sarif":
		return sarif(w, l)
	case "csv":
		rows := [][]string{{"file", "line", "column", "severity", "rule", "message", "remedy"}}
		for _, f := range l.Findings {
			rows = append(rows, []string{f.File, strconv.Itoa(f.Line), strconv.Itoa(f.Col), f.Severity, f.Rule, f.Message, f.Remedy})
		}
		return csv.NewWriter(w).WriteAll(rows)
	}
	p := &printer{w: w}
	for _, r := range l.Resolved {
		p.resolved(r)
	}
	for _, f := range l.Findings {
		p.line("%s:%d:%d: %s: %s [%s]", f.File, f.Line, f.Col, f.Severity, f.Message, f.Rule)
		if f.Remedy != "" {
			p.line("    %s", f.Remedy)
		}
	}
	if len(l.Findings) == 0 {
		p.line("no findings in %s", plural.Of(l.Files, "overlay file"))
	}
	return p.err
}

// resolved prints a chain and where each value of its gate comes from.
func (p *printer) resolved(r *recipes.Resolved) {
	p.line("%s, as AICR resolves it from", r.Name)
	for i, s := range r.Sources {
		p.line("  %2d. %-11s %s (%s)", i+1, s.Role, s.Overlay, s.File)
	}
	if len(r.Checks)+len(r.Constraints) == 0 {
		p.line("  no performance phase")
	}
	for _, c := range r.Checks {
		p.line("  check       %s  from %s:%d", c.Name, c.From.File, c.From.Line)
	}
	for _, c := range r.Constraints {
		p.line("  constraint  %s %q  from %s:%d", c.Name, c.Value, c.From.File, c.From.Line)
		for _, o := range c.Overrides {
			p.line("              overrides %q of %s:%d", o.Value, o.File, o.Line)
		}
	}
	switch {
	case r.Enabled:
		p.line("  the gate is judged")
	default:
		p.line("  no gate is judged")
	}
	p.line("")
}
