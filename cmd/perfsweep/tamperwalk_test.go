package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
)

// field is a value or a key of a JSON document, and what it becomes.
type field struct {
	path     string
	from, to int // bytes of the document
	bent     string
	key      bool
}

var index = regexp.MustCompile(`\[\d+\]`)

// kind is the path of a field without indices: that of all its like.
func (f field) kind() string { return index.ReplaceAllString(f.path, "[]") }

func (f field) change(doc []byte) []byte {
	return slices.Concat(doc[:f.from], []byte(f.bent), doc[f.to:])
}

// fieldsOf lists every value and every key of a document, or of the lines of a
// journal.
func fieldsOf(t *testing.T, doc []byte, journal bool) []field {
	t.Helper()
	var out []field
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	next := func() (token json.Token, from, to int) {
		from = int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		to = int(d.InputOffset())
		for bytes.IndexByte([]byte(" \t\r\n,:"), doc[from]) >= 0 {
			from++
		}
		return token, from, to
	}
	var value func(path string)
	value = func(path string) {
		token, from, to := next()
		if token != json.Delim('{') && token != json.Delim('[') {
			out = append(out, field{path: path, from: from, to: to, bent: bend(doc[from:to])})
			return
		}
		empty := !d.More()
		for i := 0; d.More(); i++ {
			if token == json.Delim('[') {
				value(fmt.Sprintf("%s[%d]", path, i))
				continue
			}
			key, from, to := next()
			at := strings.TrimPrefix(fmt.Sprintf("%s.%s", path, key), ".")
			out = append(out, field{path: at, from: from, to: to, bent: bend(doc[from:to]), key: true})
			value(at)
		}
		_, _, end := next()
		if empty {
			out = append(out, field{path: path, from: from, to: end, bent: map[json.Token]string{json.Delim('{'): `{"x":0}`, json.Delim('['): `[0]`}[token]})
		}
	}
	root := ""
	for line := 0; d.More(); line++ {
		if journal {
			root = map[bool]string{true: "campaign", false: fmt.Sprintf("run[%d]", line)}[line == 0]
		}
		value(root)
	}
	return out
}

// bend changes a value as little as it can be.
func bend(literal []byte) string {
	last := literal[len(literal)-1]
	before := string(literal[:len(literal)-1])
	switch {
	case last == '"':
		return before + `x"`
	case last >= '0' && last <= '9':
		return before + string('0'+(last-'0'+1)%10)
	}
	return map[string]string{"true": "false", "false": "true", "null": "0"}[string(literal)]
}

// archived is a bundle of parts as they are, whatever they are.
func archived(t *testing.T, parts []bundle.Part) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, p := range parts {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: p.Name, Size: int64(len(p.Content)), Mode: 0o644, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(p.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// foundIn says what verify finds in a file of which one field was changed. same is
// what follows from its journals and what was asked, for changes of what does not
// decide that; those of a journal are looked for by its hash, as verify does first.
func foundIn(raw []byte, part string, f field, same computed) (names []string) {
	b, err := bundle.Read(raw)
	if err != nil {
		return []string{err.Error()}
	}
	if state, _ := b.Signature(nil); !state.Good() {
		return []string{bundle.SignatureName}
	}
	var v report.Verification
	switch {
	case part == bundle.Fingerprint, part == bundle.Proposal && !strings.HasPrefix(f.path, "asked"):
		v = same.against("b", b)
	case strings.HasSuffix(part, ".jsonl"):
		c, bad := unpackCarried("b", b)
		if bad != nil {
			return []string{bad.part + ": (whole)"}
		}
		return oddHashes(c)
	default:
		_, v = verifyBundle("b", b)
	}
	for _, d := range v.Differences {
		names = append(names, d.Part+": "+d.Field)
	}
	return names
}

// oddHashes names the journals that are not those that the proposal was made of.
func oddHashes(c carried) (names []string) {
	const asked = bundle.Proposal + ": asked"
	if c.hash != c.record.Asked.Journal.SHA256 {
		names = append(names, asked+".journal.sha256")
	}
	for i, a := range c.others[0] {
		if a.SHA256 != c.record.Asked.Anchors[i].SHA256 {
			names = append(names, fmt.Sprintf("%s.anchors[%d].sha256", asked, i))
		}
	}
	return names
}

// wanted is how a found change of a field may be named: by itself, by what holds
// it, or by the document as a whole.
func (f field) wanted(part string) []string {
	const asked = bundle.Proposal + ": asked"
	switch {
	case part == bundle.Journal:
		return []string{asked + ".journal.sha256", part + ": (whole)"}
	case strings.HasPrefix(part, bundle.Anchors):
		return []string{asked + ".anchors[0].sha256", part + ": (whole)"}
	case part == bundle.SignatureName:
		return []string{bundle.SignatureName}
	case part == bundle.ManifestName:
		return []string{""} // whatever is said
	}
	names := []string{part + ": " + f.path, part + ": (whole)"}
	if strings.HasPrefix(f.path, "asked.") {
		names = append(names, asked+"_sha256")
	}
	return names
}

// No value and no key of any document of a bundle can be changed alone, the manifest
// being made to fit, without verify naming it. The fields are the documents' own: of
// each kind, wherever it stands, one is tried. There is none that does not matter.
func TestVerifyFindsEveryField(t *testing.T) {
	signed, whole := signedParts(t)
	c, bad := unpackCarried("b", signed)
	if bad != nil {
		t.Fatal(bad.err)
	}
	same := c.compute(thisTool())
	if _, v := verifyBundle("b", signed); len(v.Differences) > 0 || len(oddHashes(c)) > 0 {
		t.Fatalf("as it was made: %v", v.Differences)
	}
	tried := map[string]int{}
	for i, p := range whole {
		journal, kinds := strings.HasSuffix(p.Name, ".jsonl"), map[string]bool{}
		for n, f := range fieldsOf(t, p.Content, journal) {
			kind := fmt.Sprint(f.kind(), f.key)
			if kinds[kind] || f.key && journal || testing.Short() && n%fewFields != 0 {
				continue
			}
			kinds[kind] = true
			tried[p.Name]++
			bent := slices.Clone(whole)
			bent[i].Content = f.change(p.Content)
			names := foundIn(archived(t, fitting(t, signed.Manifest, bent, i)), p.Name, f, same)
			if !slices.ContainsFunc(f.wanted(p.Name), func(want string) bool {
				return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, want) })
			}) {
				t.Errorf("%s: %s as %s is not named, of %q", p.Name, f.path, f.bent, names)
			}
		}
	}
	t.Logf("tried %v", tried)
	if len(tried) != len(whole) {
		t.Errorf("fields of %d documents were tried, of %d", len(tried), len(whole))
	}
}

// fewFields is the share of fields that is tried in short form.
const fewFields = 16

// signedParts are all parts of a signed bundle, in its order.
func signedParts(t *testing.T) (*bundle.Bundle, []bundle.Part) {
	t.Helper()
	parts := packedParts(t, "testdata/report/gb300.jsonl", "testdata/report/stall.jsonl")
	b := packed(t, thisTool(), parts, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)))
	parts = append(parts, bundle.Part{Name: bundle.SignatureName, Content: b.Part(bundle.SignatureName)})
	slices.SortFunc(parts, func(a, b bundle.Part) int { return strings.Compare(a.Name, b.Name) })
	return b, append([]bundle.Part{{Name: bundle.ManifestName, Content: b.Part(bundle.ManifestName)}}, parts...)
}

// fitting makes the manifest fit the part that was changed, unless it is that
// itself or the signature; nobody signs the new one.
func fitting(t *testing.T, m bundle.Manifest, parts []bundle.Part, changed int) []bundle.Part {
	t.Helper()
	p := parts[changed]
	if p.Name == bundle.ManifestName || p.Name == bundle.SignatureName {
		return parts
	}
	m.Parts = slices.Clone(m.Parts)
	for i, l := range m.Parts {
		if l.Name == p.Name {
			m.Parts[i].Bytes, m.Parts[i].SHA256 = len(p.Content), hexSHA256(p.Content)
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	parts[0].Content = append(text, '\n')
	return slices.DeleteFunc(parts, func(p bundle.Part) bool { return p.Name == bundle.SignatureName })
}
