package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/reference"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// documents are all that have a schema: what -o json prints and what is kept in
// files.
func documents() []reference.Document {
	one := map[string]any{"schema_version": 1}
	campaign, run, pair := sweep.LineTypes()
	said := map[string]reflect.Type{"said": reflect.TypeFor[observe.Span]()}
	out := []reference.Document{
		{Name: "journal", Title: "A line of a journal", Raw: said, Of: []reference.Form{
			{Type: campaign, Const: map[string]any{"type": "campaign", "schema_version": sweep.SchemaVersion}},
			{Type: run, Const: map[string]any{"type": "run"}},
			{Type: pair, Const: map[string]any{"type": "bridge"}},
		}},
		{Name: "provenance", Title: "The sidecar that calibrate --write leaves beside an overlay", Of: []reference.Form{
			{Type: reflect.TypeFor[calibrate.Provenance](), Const: map[string]any{"schema_version": calibrate.ProvenanceSchema}},
		}},
		{Name: "history", Title: "A line of the file of check --history", Of: []reference.Form{{Type: reflect.TypeFor[calibrate.HistoryPoint](), Const: one}}},
		{Name: "leftovers", Title: titles["leftovers"], Of: []reference.Form{{Type: reflect.TypeFor[leftoversDoc](), Const: one}}},
	}
	kept := func(name, title string, t reflect.Type, always map[string]any) {
		out = append(out, reference.Document{Name: name, Title: title, Of: []reference.Form{{Type: t, Const: always}}})
	}
	kept("approvals", "The file beside an overlay to which calibrate --approve adds", calibrate.ApprovalsType(), one)
	kept("bundle-manifest", "manifest.json of a bundle", reflect.TypeFor[bundle.Manifest](), map[string]any{"format": bundle.Format, "schema_version": bundle.SchemaVersion})
	kept("bundle-signature", "signature.json of a bundle that is signed", bundle.SignatureType(), nil)
	kept("bundle-fingerprint", "fingerprint.json of a bundle", reflect.TypeFor[sweep.Fingerprint](), nil)
	kept("bundle-proposal", "proposal.json of a bundle", reflect.TypeFor[keptRecord](), map[string]any{"schema_version": calibrate.RecordSchema})
	types := report.Documents()
	for _, name := range slices.Sorted(maps.Keys(types)) {
		out = append(out, reference.Document{Name: name, Title: titles[name], Raw: said, Of: []reference.Form{{Type: types[name], Const: one}}})
	}
	return out
}

// titles say of each answer which command prints it.
var titles = map[string]string{
	"knee":           "knee -o json and sweep -o json; report -o json of one journal",
	"compare":        "compare -o json and sweep --ab -o json; report -o json of two journals",
	"calibrate":      "calibrate -o json",
	"verify":         "verify -o json of one bundle",
	"verify-several": "verify -o json of several bundles",
	"reconfirm":      "calibrate --reconfirm -o json of a gate that is kept, or that cannot be confirmed",
	"approval":       "calibrate --approve -o json",
	"check":          "check -o json",
	"replay":         "check --replay -o json",
	"plan":           "sweep --plan -o json and calibrate --plan -o json",
	"lint":           "lint -o json",
	"recipes-status": "recipes status -o json",
	"recipes-verify": "recipes verify -o json",
	"config":         "config -o json",
	"discover":       "discover -o json",
	"leftovers":      "discover --leftovers -o json",
	"selftest":       "selftest -o json",
	"selftest-point": "selftest --itl -o json",
}

// schemaFiles are the schemas as the types give them, and the rows of the index.
func schemaFiles(t *testing.T) (files []reference.File, index string) {
	t.Helper()
	source := reference.NewSource("../..", "github.com/perfsweep/perfsweep")
	index = "| schema | of what |\n|---|---|\n"
	for _, d := range documents() {
		if d.Title == "" {
			t.Errorf("the schema %s has no title", d.Name)
		}
		f, err := source.Schema(d)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, reference.File{Path: "schemas/" + f.Path, Text: f.Text})
		index += fmt.Sprintf("| [%s](schemas/%s) | %s |\n", d.Name, f.Path, d.Title)
	}
	return files, index
}

// schemas are those that are published, ready to be held against documents.
type schemas map[string]*jsonschema.Schema

func readSchemas(t *testing.T) schemas {
	t.Helper()
	out := schemas{}
	for _, d := range documents() {
		c := jsonschema.NewCompiler() // holds the schema itself against 2020-12
		c.AssertFormat()
		s, err := c.Compile(filepath.Join(referenceDir, "schemas", d.Name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		out[d.Name] = s
	}
	return out
}

func (s schemas) hold(name string, doc []byte) error {
	schema, known := s[name]
	if !known {
		return fmt.Errorf("no schema %q is published", name)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		return fmt.Errorf("not as docs/reference/schemas/%s.schema.json says: %w", name, err)
	}
	return nil
}

// lines holds the whole lines of a file against a schema.
func (s schemas) lines(name string, text []byte) error {
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := s.hold(name, line); err != nil {
			return err
		}
	}
	return nil
}

// script holds what a command of a story printed and wrote against the schemas.
func (s schemas) script(ts *testscript.TestScript, code int, args []string) {
	if args[0] != "perfsweep" || code == exitInput || code == exitWorld {
		return
	}
	flag := func(name string) (string, bool) { return valueOf(args, name) }
	if o, _ := flag("-o"); o == "json" {
		if out := ts.ReadFile("stdout"); out != "" && args[1] != "profile" {
			ts.Check(s.hold(answers(args, out), []byte(out)))
		}
	}
	_, measured := flag("--target")
	if path, given := flag("--journal"); given && measured {
		ts.Check(s.file(ts, "journal", path))
	}
	if path, given := flag("--history"); given {
		ts.Check(s.file(ts, "history", path))
	}
	if path, given := flag("--bundle"); given && args[1] == "calibrate" {
		ts.Check(s.file(ts, "bundle", path))
	}
	overlay, _ := flag("--overlay")
	if _, given := flag("--approve"); given && code == exitDone {
		path, _ := flag("--approvals")
		ts.Check(s.file(ts, "approvals", approvalsFile(path, overlay)))
	}
	if overlay != "" && slices.Contains(args, "--write") && code == exitDone {
		path, _ := flag("--sidecar")
		ts.Check(s.file(ts, "provenance", sidecarFile(path, overlay)))
	}
}

func (s schemas) file(ts *testscript.TestScript, name, path string) error {
	text, err := os.ReadFile(ts.MkAbs(path))
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing was to be written; the story says where something was
		return nil
	case err != nil:
		return err
	case name == "provenance", name == "approvals":
		return s.hold(name, text)
	case name == "bundle":
		return s.bundle(text)
	}
	return s.lines(name, text)
}

// bundle holds the documents of a bundle, and its journals, against the schemas.
func (s schemas) bundle(text []byte) error {
	b, err := bundle.Read(text)
	if err != nil {
		return err
	}
	for _, p := range append(b.Journals(bundle.Anchors), b.Journals(bundle.Scaling)...) {
		err = errors.Join(err, s.lines("journal", p.Content))
	}
	for part, doc := range documentsIn(b) {
		err = errors.Join(err, s.hold("bundle-"+strings.TrimSuffix(part, ".json"), doc))
	}
	return errors.Join(err, s.lines("journal", b.Part(bundle.Journal)))
}

// documentsIn are the parts of a bundle that are one JSON document.
func documentsIn(b *bundle.Bundle) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range []string{bundle.ManifestName, bundle.SignatureName, bundle.Fingerprint, bundle.Proposal} {
		if doc := b.Part(name); doc != nil {
			out[name] = doc
		}
	}
	return out
}

// answers names the document that a command prints.
func answers(args []string, out string) string {
	given := func(name string) bool { _, ok := valueOf(args, name); return ok }
	command := args[1]
	switch {
	case given("--plan"):
		return "plan"
	case given("--leftovers"):
		return "leftovers"
	case command == "calibrate" && given("--approve"):
		return "approval"
	case command == "calibrate" && given("--reconfirm") && !strings.Contains(out, `"diff"`):
		return "reconfirm"
	case command == "check" && given("--replay"):
		return "replay"
	case strings.Contains(out, `"ttft_verdict"`): // sweep --ab, report of two
		return "compare"
	case command == "sweep", command == "report":
		return "knee"
	case command == "selftest" && given("--itl"):
		return "selftest-point"
	case command == "verify" && strings.Contains(out, `"bundles"`):
		return "verify-several"
	case command == "recipes":
		return command + "-" + args[2]
	}
	return command
}

// valueOf finds --name VALUE and --name=VALUE.
func valueOf(args []string, name string) (value string, given bool) {
	for i, arg := range args {
		if after, ok := strings.CutPrefix(arg, name+"="); ok {
			return after, true
		}
		if arg == name {
			return strings.Join(args[i+1:min(i+2, len(args))], ""), true
		}
	}
	return "", false
}
