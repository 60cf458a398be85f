package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
)

// What is printed of recorded measurements is as the schemas say, and the same
// with any key renamed is not.
func TestSchemas(t *testing.T) {
	published := readSchemas(t)
	const journal, stall, overlay = "testdata/report/gb300.jsonl", "testdata/report/stall.jsonl", "testdata/report/gb300.yaml"
	for _, args := range [][]string{
		{"knee", journal},
		{"knee", journal, "--explain", "--ttft-p99", "700"},
		{"sweep", "--target", "sim:gb300", "--plan"},
		{"compare", journal, stall},
		{"report", journal},
		{"calibrate", "--journal", journal, "--overlay", overlay, "--allow-simulated", "--explain"},
		{"check", "--journal", journal, "--overlay", overlay},
		{"check", "--replay", "public"},
		{"lint", overlay},
		{"lint", "--resolved", overlay},
		{"recipes", "status", "../../recipes/overlays"},
	} {
		var out, talk bytes.Buffer
		code := run(t.Context(), append(args, "-o", "json"), nil, &out, &talk)
		if out.Len() == 0 {
			t.Errorf("%v: exit code %d: %s", args, code, talk.String())
			continue
		}
		name := answers(append([]string{"perfsweep"}, args...), out.String())
		strict(t, published, name, out.Bytes())
	}
	for name, path := range map[string]string{"provenance": "testdata/report/gb300.provenance.json", "journal": journal} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs := [][]byte{text}
		if name == "journal" {
			docs = bytes.Split(bytes.TrimSpace(text), []byte("\n"))[:2]
			if err := published.lines(name, text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		for _, doc := range docs {
			strict(t, published, name, doc)
		}
	}
}

// What is kept of a bundle and of approvals is as the schemas say, and the same with
// any key renamed is not.
func TestSchemasOfKeptFiles(t *testing.T) {
	published := readSchemas(t)
	b := packed(t, thisTool(), packedParts(t, "testdata/report/gb300.jsonl", "testdata/report/stall.jsonl"), ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	docs := documentsIn(b)
	if len(docs) != 4 {
		t.Errorf("a signed bundle has %d documents, want 4", len(docs))
	}
	for part, doc := range docs {
		strict(t, published, "bundle-"+strings.TrimSuffix(part, ".json"), doc)
	}
	raw, err := os.ReadFile("testdata/report/arm64.bundle")
	if err == nil {
		err = published.bundle(raw)
	}
	if err != nil {
		t.Error(err)
	}
	var all []calibrate.Approval
	for _, by := range []string{"A. Name", "B. Name"} {
		text, err := calibrate.AddApproval(all, calibrate.Approval{JournalSHA256: strings.Repeat("0f", 32), Journal: "a.jsonl", By: by, Why: "measured twice", Approved: "2026-11-30", GPUs: 1})
		if err != nil {
			t.Fatal(err)
		}
		strict(t, published, "approvals", text)
		if all, err = calibrate.ParseApprovals("a.approvals.json", text); err != nil {
			t.Fatal(err)
		}
	}
}

// strict demands that doc is as its schema says, and no longer with one key
// renamed, wherever it stands. What a map of names holds is data: its keys may
// be anything.
func strict(t *testing.T, s schemas, name string, doc []byte) {
	t.Helper()
	if err := s.hold(name, doc); err != nil {
		t.Errorf("%s: %v\n%.2000s", name, err, doc)
		return
	}
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	for key, value := range v {
		delete(v, key)
		v[key+"_s"] = value
		renamed, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if s.hold(name, renamed) == nil {
			t.Errorf("%s: %q renamed to %q is taken", name, key, key+"_s")
		}
		delete(v, key+"_s")
		v[key] = value
	}
}

// journals holds every journal of a folder against the schema.
func (s schemas) journals(t *testing.T, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no journals in %s: %v", dir, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			err = s.lines("journal", text)
		}
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

// Each key of a journal's lines is told in docs/reference/journal.md.
func TestJournalPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(referenceDir, "journal.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(referenceDir, "schemas", "journal.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	for key := range keysOf(t, text) {
		if !strings.Contains(string(page), "`"+key+"`") {
			t.Errorf("docs/reference/journal.md does not tell what `%s` is", key)
		}
	}
}

// keysOf lists the keys that a schema describes, at any depth.
func keysOf(t *testing.T, text []byte) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			p, _ := v["properties"].(map[string]any)
			for key := range p {
				out[key] = true
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	walk(v)
	if len(out) == 0 {
		t.Fatal("the schema describes no key")
	}
	return out
}
