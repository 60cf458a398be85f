package main

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

// packedParts makes the parts of a bundle of a journal, with the other journal as
// its anchor.
func packedParts(t *testing.T, journal, anchor string) []bundle.Part {
	t.Helper()
	p := calibrate.Policy{Profile: calibrate.Portable, AllowSimulated: true, NodeGPUs: 8, Accelerator: "gb300"}
	var others [2][]string
	if anchor != "" {
		var err error
		if p.Anchors, err = readAnchors("--anchor", []string{anchor}); err != nil {
			t.Fatal(err)
		}
		others[0] = []string{anchor}
	}
	raw, err := packBundle(&bundleFlags{}, journal, recipes.Gate{Model: "Qwen/Qwen3-8B"}, p, others)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	var parts []bundle.Part
	for _, l := range b.Manifest.Parts {
		parts = append(parts, bundle.Part{Name: l.Name, Content: b.Part(l.Name)})
	}
	return parts
}

func packed(t *testing.T, by bundle.Maker, parts []bundle.Part, key ed25519.PrivateKey) *bundle.Bundle {
	t.Helper()
	raw, err := bundle.Pack(by, parts, key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const ofJournal = "asked.journal.sha256"

// A change of one field is told by what follows from it, not by its hash alone.
// Every field has its turn in TestVerifyFindsEveryField.
func TestVerifyNamesWhatFollows(t *testing.T) {
	const j, p = bundle.Journal, bundle.Proposal
	parts := packedParts(t, "testdata/report/gb300.jsonl", "testdata/report/stall.jsonl")
	if _, v := verifyBundle("b", packed(t, thisTool(), parts, nil)); len(v.Differences) > 0 || v.Values < 300 || v.Runs != 25 {
		t.Fatalf("as it was made: %d values of %d runs, %v", v.Values, v.Runs, v.Differences)
	}
	for _, c := range []struct{ part, from, to, names string }{
		{j, `"gpus":1`, `"gpus":2`, "journal.jsonl: (whole)"},
		{j, `"effort":"quick"`, `"effort":"full"`, "fingerprint.json: effort"},
		{j, `"seed":100`, `"seed":101`, "fingerprint.json: workload.seed"},
		{j, `"e_star":0.2`, `"e_star":0.3`, "proposal.json: fit.elasticity"},
		{j, `"ttft_p99_ms":48.805727`, `"ttft_p99_ms":48.805728`, "proposal.json: fit.levels"},
		{j, `"seq":9`, `"seq":8`, "journal.jsonl: (whole)"},
		{p, `"allow_simulated": true`, `"allow_simulated": false`, "proposal.json: proposal.outcome"},
		{p, `"node_gpus": 8`, `"node_gpus": 4`, "proposal.json: asked_sha256"},
		{p, `"writable": true`, `"writable": true, "more": 1`, "proposal.json: proposal.more"},
		{p, `"schema_version": 1`, `"schema_version":  1`, "proposal.json: (spelling)"},
	} {
		bent := make([]bundle.Part, len(parts))
		changed := false
		for i, p := range parts {
			if bent[i] = p; p.Name == c.part {
				bent[i].Content = bytes.Replace(p.Content, []byte(c.from), []byte(c.to), 1)
				changed = !bytes.Equal(bent[i].Content, p.Content)
			}
		}
		if !changed {
			t.Errorf("%s: %s does not occur", c.part, c.from)
			continue
		}
		_, v := verifyBundle("b", packed(t, thisTool(), bent, nil))
		if !named(v, c.names) {
			t.Errorf("%s: %s as %s: the differences do not name %s: %.600v", c.part, c.from, c.to, c.names, v.Differences)
		}
	}
	for i, p := range parts { // a part that is left out
		_, v := verifyBundle("b", packed(t, thisTool(), append(parts[:i:i], parts[i+1:]...), nil))
		if v.OK() {
			t.Errorf("without %s it verifies", p.Name)
		}
	}
	for _, m := range []bundle.Maker{{ToolVersion: "v9", Platform: thisTool().Platform}, {ToolVersion: version, Platform: "plan9/arm64"}} {
		if _, v := verifyBundle("b", packed(t, m, parts, nil)); v.OK() {
			t.Errorf("the manifest may say %+v", m)
		}
	}
}

func named(v report.Verification, want string) bool {
	for _, d := range v.Differences {
		if strings.Contains(d.Part+": "+d.Field, want) {
			return true
		}
	}
	return false
}

// What the servers were heard to say is held by the journal's hash, and by the
// findings that follow from it.
func TestVerifyFindsTamperedScrapes(t *testing.T) {
	parts := packedParts(t, "testdata/report/stall.jsonl", "")
	for i, p := range parts {
		if p.Name == bundle.Journal {
			parts[i].Content = bytes.Replace(p.Content, []byte(`"servers":{"said":{`), []byte(`"servers":{"said":{"frontends":7,`), 1)
			if bytes.Equal(parts[i].Content, p.Content) {
				t.Fatal("no scrapes in it")
			}
		}
	}
	if _, v := verifyBundle("b", packed(t, thisTool(), parts, nil)); !named(v, ofJournal) {
		t.Errorf("%v", v.Differences)
	}
}

// Whoever changes everything consistently is caught by a signature only.
func TestVerifySignature(t *testing.T) {
	key, other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	parts := packedParts(t, "testdata/report/stall.jsonl", "")
	public := func(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }
	dir := t.TempDir()
	for i, c := range []struct {
		by   ed25519.PrivateKey
		with ed25519.PublicKey
		want bundle.SignatureState
	}{
		{nil, nil, bundle.Unsigned}, {nil, public(key), bundle.Missing},
		{key, nil, bundle.Holds}, {key, public(key), bundle.Trusted}, {other, public(key), bundle.WrongKey},
	} {
		raw, err := bundle.Pack(thisTool(), parts, c.by)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, v, err := verifyFile(path, c.with)
		if err != nil || v.Signature != c.want || v.OK() != c.want.Good() || len(v.Differences) > 0 {
			t.Errorf("%d: %v %v %v", i, v.Signature, v.Differences, err)
		}
	}
}
