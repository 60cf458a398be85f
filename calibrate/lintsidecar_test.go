package calibrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/perfsweep/perfsweep/recipes"
)

const lintFile = "overlays/o.yaml"

// written is an overlay as calibrate wrote it, with its sidecar and with the
// overlay that it replaced.
type written struct {
	overlay, sidecar, before string
	today                    time.Time
	chain                    string // a parent, and what it demands
	router                   string
}

func writtenOverlay(t *testing.T, bend func(*fixture)) written {
	t.Helper()
	const head = "kind: RecipeMetadata\nmetadata:\n  name: o\nspec:\n  criteria: {service: eks}\n  componentRefs:\n    - name: dynamo-platform\n"
	before := head + "  validation:\n    performance:\n      checks: [inference-perf]\n      constraints: []\n"
	f := newFixture()
	if bend != nil {
		bend(f)
	}
	p := f.propose()
	o, err := recipes.Parse(lintFile, []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	p.Comment[0] = "Calibrated by perfsweep on 2026-09-02." // the fixture has no anchor
	after, err := o.SetGate(p.Gate, p.Comment)
	if err != nil {
		t.Fatal(err)
	}
	p.Outcome = OutcomeOK
	if f.curve.Fingerprint.Simulated {
		p.Outcome = OutcomeSimulated
	}
	e := Edit{Overlay: lintFile, Old: []byte(before), New: after, Gate: p.Gate, At: writtenAt()}
	side := encoded(t, NewProvenance(f.curve, p, f.policy, e, nil))
	return written{overlay: string(after), sidecar: string(side), before: before, today: writtenAt().AddDate(0, 1, 0)}
}

// lint lints as perfsweep lint does, with --resolved where there is a chain.
func (w written) lint(t *testing.T) []recipes.Finding {
	t.Helper()
	o, err := recipes.Parse(lintFile, []byte(w.overlay))
	if err != nil {
		t.Fatal(err)
	}
	s := SidecarLint{Name: "overlays/o.provenance.json", Content: []byte(w.sidecar), Overlay: o, File: lintFile, Source: []byte(w.overlay), Router: w.router,
		Options: recipes.Options{Today: w.today, MaxAge: 180 * 24 * time.Hour}}
	if w.sidecar == "" {
		s.Content = nil
	}
	if w.chain == "" {
		return s.Lint(recipes.LintWith(lintFile, s.Source, s.Options))
	}
	fsys := fstest.MapFS{"overlays/base.yaml": {Data: []byte("kind: RecipeMetadata\nmetadata:\n  name: base\n")},
		"overlays/site-any.yaml": {Data: []byte(w.chain)}}
	if s.Resolved, err = recipes.Resolve(fsys, "", o); err != nil {
		t.Fatal(err)
	}
	return s.Lint(recipes.LintResolved(lintFile, s.Source, s.Resolved, s.Options))
}

func (w written) edited(t *testing.T, from, to string) written {
	t.Helper()
	if !strings.Contains(w.overlay, from) {
		t.Fatalf("%q is not in\n%s", from, w.overlay)
	}
	w.overlay = strings.Replace(w.overlay, from, to, 1)
	return w
}

func labelled(k, v string) func(*fixture) {
	return func(f *fixture) { f.curve.Fingerprint.Labels[k] = v }
}

// sidecarExamples has for each rule an overlay that breaks it and one, as near
// as can be, that does not. line is a text of the line that the finding names.
func sidecarExamples(t *testing.T) []struct {
	rule, line string
	fail, pass written
} {
	t.Helper()
	const floor, ceiling = `">= 18000"`, `"<= 1400"`
	ok := writtenOverlay(t, nil)
	aged := func(days int) written {
		w := ok
		w.today = time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC).AddDate(0, 0, days)
		return w
	}
	damaged := func(from, to string) written {
		w := ok
		if w.sidecar = strings.Replace(ok.sidecar, from, to, 1); w.sidecar == ok.sidecar {
			t.Fatalf("%s is not in the sidecar", from)
		}
		return w
	}
	unwritten, again := ok, ok
	unwritten.overlay = ok.before
	again.before = ok.overlay
	recommented := ok.edited(t, "Calibrated by perfsweep", "Earlier, calibrated by perfsweep")
	mixed := recommented
	mixed.sidecar = strings.Replace(ok.sidecar, hash([]byte(ok.before)), hash([]byte(recommented.overlay)), 1)
	routed := func(measured, catalog string) written {
		w := writtenOverlay(t, func(f *fixture) { f.curve.Fingerprint.RoutingMode = measured })
		w.router = catalog
		return w
	}
	chained := func(value string) written {
		w := ok
		w.chain = "kind: RecipeMetadata\nmetadata:\n  name: site-any\nspec:\n  criteria: {service: eks}\n  validation:\n    performance:\n      constraints:\n        - name: inference-ttft-p99\n          value: \"" + value + "\"\n"
		return w
	}
	old := strings.Replace(recipes.TemplateImage, "1.2.1", "1.0.2", 1)
	lost, never, shipped := ok, ok, ok
	lost.sidecar, never.sidecar, never.overlay, shipped.sidecar = "", "", ok.before, ""
	shipped.overlay = ok.edited(t, "# Calibrated by perfsweep on 2026-09-02", "# provisional: public record").overlay
	return []struct {
		rule, line string
		fail, pass written
	}{
		{"sidecar-missing", "# perfsweep: begin", lost, ok},
		{"sidecar-missing", "# perfsweep: begin", lost, never},
		{"sidecar-missing", "# perfsweep: begin", lost, shipped},
		{"sidecar-damaged", `"schema_version": 2`, damaged(`"schema_version": 1`, `"schema_version": 2`), ok},
		{"sidecar-damaged", "{", damaged(`"rule":`, `"rules":`), ok},
		{"sidecar-damaged", `"limits":`, damaged(`"degrees_of_freedom"`, `"degrees_of_freedoms"`), ok},
		{"sidecar-damaged", `"estimator" "whole`, damaged(`"estimator": "whole`, `"estimator" "whole`), ok},
		{"sidecar-damaged", `"journal": 7`, damaged(`"journal": {`, `"journal": 7, "x": {`), ok},
		{"sidecar-interrupted", "kind:", unwritten, again},
		{"sidecar-interrupted", floor, mixed, ok},
		{"gate-edited", `">= 18001"`, ok.edited(t, floor, `">= 18001"`), ok.edited(t, floor, `">= 18000 tok/s"`)},
		{"gate-edited", `"<= 1400.5"`, ok.edited(t, ceiling, `"<= 1400.5"`), ok},
		{"overlay-edited", "kind:", recommented, ok},
		{"overlay-edited", "kind:", ok.edited(t, "\n", "\r\n"), ok},
		{"floor-slack", `">= 10000"`, ok.edited(t, floor, `">= 10000"`), ok.edited(t, floor, `">= 11000"`)},
		{"floor-above-measured", `">= 21300"`, ok.edited(t, floor, `">= 21300"`), ok.edited(t, floor, `">= 21100"`)},
		{"stale-provenance", floor, aged(181), aged(179)},
		{"stale-provenance", "other", ok.edited(t, "value: "+testModel, "value: other"), ok},
		{"stale-provenance", `"64"`, ok.edited(t, `"128"`, `"64"`), ok},
		{"stale-provenance", "gateway-epp", ok.edited(t, "dynamo-router", "gateway-epp"), ok},
		{"stale-provenance", floor, writtenOverlay(t, labelled("image", old)), writtenOverlay(t, labelled("image", recipes.TemplateImage))},
		{"stale-provenance", floor, routed("kv", ""), routed("least-loaded", "")},
		{"stale-provenance", floor, routed("least-loaded", "kv"), routed("kv", "kv")},
		{"stale-provenance", floor, damaged(`"evaluator_tolerance_ratio": 0.1`, `"evaluator_tolerance_ratio": 0.2`), ok},
		{"provisional", floor, writtenOverlay(t, func(f *fixture) { f.simulated() }), ok},
		{"gate-edited", "name: inference-ttft-p99", chained("<= 1500"), chained("<= 1400")},
	}
}

// Every rule has a file that breaks it, found at the line that is wrong, and
// one that does not; and a rule that is in no table is never reported.
func TestEverySidecarRuleHasExamples(t *testing.T) {
	var names []string
	for _, r := range append(recipes.Rules(), SidecarRules()...) {
		if slices.Contains(names, r.Name) {
			t.Errorf("%s is in both tables", r.Name)
		}
		names = append(names, r.Name)
	}
	seen := map[string]bool{}
	for i, ex := range sidecarExamples(t) {
		seen[ex.rule] = true
		found := false
		for _, f := range ex.fail.lint(t) {
			if !slices.Contains(names, f.Rule) || f.Line < 1 || f.Col < 1 || f.Message == "" || f.Remedy == "" {
				t.Errorf("%d %s: incomplete, or in no table: %+v", i, ex.rule, f)
			}
			src := ex.fail.overlay
			if f.File != lintFile {
				src = ex.fail.sidecar
			}
			if f.File == "overlays/site-any.yaml" {
				src = ex.fail.chain
			}
			if lines := strings.Split(src, "\n"); f.Rule == ex.rule && f.Line <= len(lines) && strings.Contains(lines[f.Line-1], ex.line) {
				found = true
			}
		}
		if !found {
			t.Errorf("%d %s: the failing example passes, or at another line: %+v", i, ex.rule, ex.fail.lint(t))
		}
		for _, f := range ex.pass.lint(t) {
			if f.Rule == ex.rule {
				t.Errorf("%d %s: the passing example fails: %+v", i, ex.rule, f)
			}
		}
	}
	for _, r := range SidecarRules() {
		if !seen[r.Name] || r.Summary == "" || r.Remedy == "" {
			t.Errorf("%s has no examples, or is incomplete", r.Name)
		}
	}
}

// What was written as it is has only the warnings that every overlay has.
func TestLintOfAWrittenOverlay(t *testing.T) {
	for _, f := range writtenOverlay(t, nil).lint(t) {
		if f.Rule != "per-gpu-name" {
			t.Errorf("%+v", f)
		}
	}
}

// One value that is wrong is told once, by the sidecar and not by the comment.
func TestSidecarStandsForTheComment(t *testing.T) {
	w := writtenOverlay(t, nil)
	w = w.edited(t, `">= 18000"`, `">= 9000"`)
	w.today = w.today.AddDate(3, 0, 0)
	rules := map[string]int{}
	for _, f := range w.lint(t) {
		rules[f.Rule]++
		if f.Rule == "floor-slack" && !strings.Contains(f.Message, "o.provenance.json") {
			t.Errorf("%+v", f)
		}
	}
	if fmt.Sprint(rules["floor-slack"], rules["stale-provenance"], rules["gate-edited"]) != "1 1 1" {
		t.Errorf("%v", rules)
	}
}

// Whatever lies where a sidecar is expected gives findings, at a place in it.
func FuzzLintSidecar(f *testing.F) {
	p, _ := proved(newFixture())
	b, err := p.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("{\n\"schema_version\": 1, \"gate_sha256\": 1}"))
	f.Add([]byte{})
	src := []byte("kind: RecipeMetadata\nmetadata:\n  name: o\n")
	o, err := recipes.Parse("o.yaml", src)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range (SidecarLint{Name: "s", Content: b, Overlay: o, File: "o.yaml", Source: src}).Lint(nil) {
			if d.Line < 1 || d.Col < 1 || d.File == "s" && d.Line > 1+bytes.Count(b, []byte("\n")) {
				t.Fatalf("%+v", d)
			}
		}
	})
}
