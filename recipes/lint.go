package recipes

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Finding is one mistake in an overlay.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Col      int    `json:"column"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"` // "error" or "warning"
	Message  string `json:"message"`
	Remedy   string `json:"remedy"`
}

// The severities. An error breaks the gate; a warning may be meant.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Options is what a file cannot say of itself.
type Options struct {
	Today     time.Time     // with MaxAge, for stale provenance
	MaxAge    time.Duration // 0 = any age
	Validator string        // image tag of the validator that will run the overlay
}

// Lint returns every mistake found in src that this file alone can decide,
// sorted by position. What a parent overlay may supply is a warning. Mixins and
// validator catalogs are linted too, by the rules that speak of them.
func Lint(name string, src []byte) []Finding { return LintWith(name, src, Options{}) }

// LintWith is Lint with knowledge from outside of the file.
func LintWith(name string, src []byte, opt Options) []Finding {
	l := linter{findings: []Finding{}}
	o, err := Parse(name, src)
	if other := l.otherKind(name, src, err); other {
		return SortFindings(l.findings)
	}
	if err != nil {
		var pos *PosError
		if !errors.As(err, &pos) {
			pos = &PosError{File: name, Line: 1, Col: 1, Rule: "yaml-syntax", Msg: err.Error()}
		}
		l.add(pos, SeverityError)
		return l.findings
	}
	l.o = o
	l.lint(opt)
	return SortFindings(l.findings)
}

// otherKind lints what lies beside overlays in a recipe folder.
func (l *linter) otherKind(name string, src []byte, err error) bool {
	var pos *PosError
	if !errors.As(err, &pos) || pos.Rule != "not-an-overlay" {
		return false
	}
	if l.o, err = parseAs("ValidatorCatalog", name, src); err == nil {
		l.catalog()
		return true
	}
	if l.o, err = parseAs("RecipeMixin", name, src); err == nil {
		r := Resolved{}
		r.mixin(l.o)
		l.findings = append(l.findings, r.Findings...)
		return true
	}
	return false
}

// SortFindings sorts by file and position.
func SortFindings(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return list
}

// LintResolved lints a leaf with its whole chain: what the chain supplies is no
// finding, and what the chain breaks is one.
func LintResolved(name string, src []byte, r *Resolved, opt Options) []Finding {
	list := LintWith(name, src, opt)
	list = slices.DeleteFunc(list, func(f Finding) bool {
		switch f.Rule {
		case "check-without-gate", "gate-without-check", "no-model", "no-concurrency", "one-threshold", "no-platform":
			return true
		}
		return slices.ContainsFunc(r.Findings, func(g Finding) bool { return g.Rule == f.Rule && g.File == f.File && g.Line == f.Line })
	})
	return SortFindings(append(list, r.Findings...))
}

type linter struct {
	o        *Overlay
	findings []Finding
}

func (l *linter) add(p *PosError, severity string) {
	if p.Remedy == "" { // the message says what is wrong, and every finding says what to do
		if i := slices.IndexFunc(Rules(), func(r Rule) bool { return r.Name == p.Rule }); i >= 0 {
			q := *p
			q.Remedy = Rules()[i].Remedy
			p = &q
		}
	}
	l.findings = append(l.findings, Finding{p.File, p.Line, p.Col, p.Rule, severity, p.Msg, p.Remedy})
}

func (l *linter) warn(n *yaml.Node, rule, msg, remedy string) {
	l.add(l.o.errNode(n, rule, msg, remedy), SeverityWarning)
}

func (l *linter) lint(opt Options) {
	o := l.o
	_, problems := o.readGate()
	for _, p := range problems {
		l.add(p, SeverityError)
	}
	if _, _, _, err := o.managedBlock(); err != nil {
		var pos *PosError
		if errors.As(err, &pos) {
			l.add(pos, SeverityError)
		}
	}
	if line := o.generatedLine(); line > 0 {
		l.add(o.errAt(line, 1, "generated-file", "the file says that it is generated", "change what generates it, or the edit is lost"), SeverityWarning)
	}
	l.shapes()
	l.misplaced(o.root, "")
	l.checks()
	l.names()
	l.storageClass()
	l.completeness()
	l.provisional()
	l.provenance(opt)
	l.validator(opt.Validator)
	l.style()
}

// names looks at each constraint's name.
func (l *linter) names() {
	for _, it := range l.o.items {
		name := it.name.Value
		if name == NameFloorPerGPU {
			what, severity := "ignores "+name+", and then no throughput is gated", SeverityWarning
			if !slices.ContainsFunc(l.o.items, func(it item) bool { return isThreshold(it.name.Value) && it.name.Value != name }) {
				what, severity = "finds no gate here, skips the check and exits 0", SeverityError
			}
			l.add(l.o.errNode(it.name, "per-gpu-name", "an AICR evaluator without NVIDIA/aicr#1254 "+what,
				"check that your validator knows the name and add "+NameCeiling+", or write "+NameFloor+" for one node shape"), severity)
		}
		if isThreshold(name) && it.value != nil && it.value.Style == 0 || name == NameConcurrency && it.value != nil && it.value.ShortTag() == "!!int" {
			l.warn(it.value, "unquoted-value", name+": a value without quotes; some YAML readers take it for a number or refuse it", "quote it")
		}
		if isKnown(name) {
			continue
		}
		if near := nearest(name); near != "" {
			l.add(l.o.errNode(it.name, "unknown-constraint", fmt.Sprintf("unknown constraint %q, which AICR would ignore", clip(name)),
				"did you mean "+near+"?"), SeverityError)
			continue
		}
		l.warn(it.name, "unknown-constraint", fmt.Sprintf("unknown constraint %q; AICR ignores names that it does not know", clip(name)), "check the name")
	}
}

func isThreshold(name string) bool { return isFloor(name) || name == NameCeiling }

// completeness compares checks, inputs and thresholds with each other. It asks
// for names, not for values, so that one bad value gives one finding.
func (l *linter) completeness() {
	o := l.o
	has := map[string]*yaml.Node{}
	var demand *yaml.Node
	for _, it := range o.items {
		if it.value != nil && !isNull(it.value) && strings.TrimSpace(it.value.Value) != "" {
			has[it.name.Value] = it.name
		}
		if demand == nil && isThreshold(it.name.Value) {
			demand = it.name
		}
	}
	enabled := slices.IndexFunc(o.checkNames, func(n *yaml.Node) bool { return n.Value == CheckName })
	if enabled >= 0 && demand == nil {
		l.warn(o.checkNames[enabled], "check-without-gate", CheckName+" is enabled but this file demands nothing; without an inherited gate AICR skips it and exits 0",
			"add a floor and a ceiling")
	}
	if demand == nil {
		return
	}
	if enabled < 0 {
		l.warn(demand, "gate-without-check", CheckName+" is not in checks here, so unless it is inherited the gate is never judged", "add it to checks, or remove the gate")
	}
	if has[NameModel] == nil {
		l.warn(demand, "no-model", "the gate pins no model, so a compiled default can move it", "add "+NameModel)
	}
	if has[NameConcurrency] == nil {
		l.warn(demand, "no-concurrency", "the gate pins no concurrency, so a compiled default can move it", "add "+NameConcurrency)
	}
	l.alone(demand, enabled >= 0)
}

// statusWord is the first word by which people mark values nobody measured.
func statusWord(s string) string {
	return regexp.MustCompile(`(?i)\b(provisional|placeholder|simulated|mirrored|unmeasured|untested|tighten later|todo|tbd|fixme)\b`).FindString(s)
}

// provisional finds one in the comments: in a managed one only in the status that
// it begins with, for the rest of it names what was measured, and names may be any;
// in people's anywhere but in names.
func (l *linter) provisional() {
	o := l.o
	if !slices.ContainsFunc(o.items, func(it item) bool { return isThreshold(it.name.Value) }) {
		return
	}
	g, _ := o.readGate()
	managed, end, found, _ := o.managedBlock()
	from, to := o.phaseLines()
	for i := from; i < to; i++ {
		body := o.text.lines[i].body
		at := commentAt(body)
		if at < 0 {
			continue
		}
		comment := withoutNames(body[at+1:], g.Model)
		if found && i >= managed && i <= end {
			if comment, _, _ = strings.Cut(comment, ":"); i != managed+1 {
				continue
			}
		}
		if m := statusWord(comment); m != "" {
			l.add(o.errAt(i+1, o.text.column(i, at+1), "provisional",
				fmt.Sprintf("the comment says %q: the values were not calibrated here", m), "run perfsweep calibrate on this overlay"), SeverityWarning)
			return
		}
	}
}

// withoutNames leaves names of models, images and addresses out of a comment: the
// model of the gate, and words with a slash but for those that are statuses on
// both sides of it.
func withoutNames(comment, model string) string {
	words := strings.Fields(comment)
	for i, w := range words {
		bare := strings.Trim(w, ".,;:()[]\"'`")
		parts := strings.Split(bare, "/")
		name := len(parts) > 1 && slices.ContainsFunc(parts, func(s string) bool { return s == "" || statusWord(s) != s })
		if name || bare == model && model != "" {
			words[i] = ""
		}
	}
	return strings.Join(words, " ")
}
