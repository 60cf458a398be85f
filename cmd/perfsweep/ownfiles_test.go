package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No command replaces a file that it reads or that belongs to its overlay,
// under whatever name that file is given.
func TestOwnFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	names := []string{"o.yaml", "o.provenance.json", "o.approvals.json", "side.json", "appr.json", "j.jsonl", "base.jsonl", "hist.jsonl", "key.pem", "spec.yaml"}
	content := func(name string) []byte { return []byte("of " + name + "\n") }
	for _, n := range names {
		if err := os.WriteFile(n, content(n), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(n, "sym-"+n); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(n, "hard-"+n); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".", "dir"); err != nil {
		t.Fatal(err)
	}
	check := "check --overlay o.yaml --sidecar side.json --journal j.jsonl --baseline base.jsonl --api-key-file key.pem"
	cal := "calibrate --overlay o.yaml --allow-simulated --write --deployment-spec spec.yaml --anchor base.jsonl"
	for _, row := range []struct {
		command, flag string
		keep          []string
	}{
		{check + " --history hist.jsonl", "--ctrf", []string{"o.yaml", "o.provenance.json", "o.approvals.json", "side.json", "j.jsonl", "base.jsonl", "hist.jsonl", "key.pem"}},
		{check + " --history hist.jsonl", "--junit", []string{"o.yaml", "o.provenance.json", "o.approvals.json", "side.json", "j.jsonl", "base.jsonl", "hist.jsonl", "key.pem"}},
		{check, "--history", []string{"o.yaml", "o.provenance.json", "o.approvals.json", "side.json", "j.jsonl", "base.jsonl", "key.pem"}},
		{"report j.jsonl base.jsonl --overlay o.yaml --sidecar side.json", "-o", []string{"o.provenance.json", "o.approvals.json", "side.json"}},
		{cal + " --journal j.jsonl", "--sidecar", []string{"o.yaml", "o.approvals.json", "j.jsonl", "base.jsonl", "spec.yaml"}},
		{cal + " --journal j.jsonl --sidecar side.json", "--approvals", []string{"o.yaml", "o.provenance.json", "side.json", "j.jsonl", "base.jsonl"}},
		{cal + " --sidecar side.json --approvals appr.json", "--journal", []string{"o.yaml", "o.provenance.json", "o.approvals.json", "side.json", "appr.json", "spec.yaml"}},
	} {
		for _, name := range row.keep {
			for _, as := range []string{name, "./" + name, "dir/" + name, "sym-" + name, "hard-" + name} {
				args := append(strings.Fields(row.command), row.flag, as)
				var said bytes.Buffer
				if code := run(t.Context(), args, nil, io.Discard, &said); code != exitInput || !strings.Contains(said.String(), "uses that file for something else") {
					t.Errorf("%v: exit code %d, %s", args, code, &said)
				}
			}
		}
	}
	for _, n := range names {
		if got, err := os.ReadFile(n); err != nil || !bytes.Equal(got, content(n)) {
			t.Errorf("%s was replaced: %q, %v", n, got, err)
		}
	}
	// A default file that is not there yet is kept free, too.
	if err := os.Remove("o.approvals.json"); err != nil {
		t.Fatal(err)
	}
	for _, as := range []string{"o.approvals.json", "dir/o.approvals.json"} {
		if code := run(t.Context(), append(strings.Fields(check), "--ctrf", as), nil, io.Discard, io.Discard); code != exitInput {
			t.Errorf("%s: exit code %d", as, code)
		}
	}
	if !sameFile(filepath.Join("dir", "new"), "new") || sameFile("new", "other") {
		t.Error("names of files that are not there are not told apart")
	}
}

// A file of the sidecar's name that is not ours is never replaced; one of ours
// that is damaged is.
func TestSidecarForeign(t *testing.T) {
	t.Chdir(t.TempDir())
	f := calibrateFlags{overlay: "o.yaml"}
	for _, row := range []struct {
		content string
		ours    bool
	}{
		{`{"_type":"https://in-toto.io/Statement/v1","subject":[]}`, false},
		{`{"schema_version": 1, "tool_version": "2"}`, false},
		{"notes", false},
		{"{}", false},
		{"", true},
		{"{\n  \"schema_version\": 1,\n  \"tool_version\": \"1\",\n  \"campaign_started\": \"20", true},
		{`garbage "overlay_sha256": "x", "gate_sha256": 3`, true},
	} {
		if err := os.WriteFile("o.provenance.json", []byte(row.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := f.sidecarReady(); (err == nil) != row.ours {
			t.Errorf("%q: %v", row.content, err)
		} else if err != nil && !strings.Contains(err.Error(), "--sidecar") {
			t.Errorf("%q: %v does not say what to do", row.content, err)
		}
	}
	if err := os.Rename("o.provenance.json", "ours.json"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("ours.json", "o.provenance.json"); err != nil {
		t.Fatal(err)
	}
	if err := f.sidecarReady(); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link: %v", err)
	}
}
