package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// SchemaVersion is the version of the manifest that is written and read.
const SchemaVersion = 1

// Format is what a manifest says of itself.
const Format = "perfsweep-bundle"

// The names of the parts. Anchors and Scaling begin those of the journals that a
// calibration was held against, which are numbered.
const (
	ManifestName  = "manifest.json"
	SignatureName = "signature.json"
	Journal       = "journal.jsonl"
	Fingerprint   = "fingerprint.json"
	Proposal      = "proposal.json"
	Anchors       = "anchors/"
	Scaling       = "scaling/"
)

// The bounds of what is read. A campaign of 400 runs is some megabytes unpacked.
const (
	MaxFile     = 64 << 20
	maxUnpacked = 256 << 20
	maxParts    = 64
	maxManifest = 64 << 10
	maxDocument = 4 << 20 // what is no journal is read whole, and takes a multiple of itself
)

// tooLarge says why a part is one that no reader takes, "" for one that is not.
func tooLarge(name string, size int64) string {
	if size <= maxDocument || name == Journal || strings.HasPrefix(name, Anchors) || strings.HasPrefix(name, Scaling) {
		return ""
	}
	return fmt.Sprintf("%s has %d bytes, more than the %d that a reader takes", name, size, maxDocument)
}

// known reports whether a bundle may have a part of this name.
func known(name string) bool {
	switch name {
	case ManifestName, SignatureName, Journal, Fingerprint, Proposal:
		return true
	}
	for i := range maxParts {
		if name == NumberedName(Anchors, i) || name == NumberedName(Scaling, i) {
			return true
		}
	}
	return false
}

// Part is one file of a bundle.
type Part struct {
	Name    string
	Content []byte
}

// Maker is the program that made a bundle.
type Maker struct {
	ToolVersion string `json:"tool_version"`
	Platform    string `json:"platform"` // GOOS/GOARCH
}

// Manifest lists what a bundle holds.
type Manifest struct {
	Format        string `json:"format"`
	SchemaVersion int    `json:"schema_version"`
	Maker
	Parts []Listed `json:"parts"`
}

// Listed is a part as the manifest has it.
type Listed struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bundle is a bundle as it was read.
type Bundle struct {
	Manifest Manifest
	parts    []Part
	manifest []byte // as it was signed
}

// Difference is a value that is not what it follows to be.
type Difference struct {
	Part     string `json:"part"`
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Computed string `json:"recomputed"`
}

// NotBundleError says why a file is no bundle that can be read.
type NotBundleError struct{ why string }

func (e *NotBundleError) Error() string { return "not a bundle of perfsweep: " + e.why }

func notBundle(format string, args ...any) error {
	return &NotBundleError{fmt.Sprintf(format, args...)}
}

// Part returns the content of a part, nil where the bundle has none.
func (b *Bundle) Part(name string) []byte {
	for _, p := range b.parts {
		if p.Name == name {
			return p.Content
		}
	}
	return nil
}

// Journals returns the numbered journals of a kind, Anchors or Scaling.
func (b *Bundle) Journals(kind string) []Part {
	var out []Part
	for _, p := range b.parts {
		if strings.HasPrefix(p.Name, kind) {
			out = append(out, p)
		}
	}
	return out
}

// NumberedName is the name of the journal at an index, from 0, of a kind.
func NumberedName(kind string, i int) string { return fmt.Sprintf("%s%02d.jsonl", kind, i+1) }

// Damage lists where the parts are not what the manifest says.
func (b *Bundle) Damage() []Difference {
	var out []Difference
	listed := map[string]bool{ManifestName: true, SignatureName: true}
	for _, l := range b.Manifest.Parts {
		listed[l.Name] = true
		content := b.Part(l.Name)
		if content == nil {
			out = append(out, Difference{l.Name, "part", "listed in the manifest", "missing"})
			continue
		}
		if l.Bytes != len(content) {
			out = append(out, Difference{l.Name, "bytes", fmt.Sprint(l.Bytes), fmt.Sprint(len(content))})
		}
		if sum := hash(content); l.SHA256 != sum {
			out = append(out, Difference{l.Name, "sha256", l.SHA256, sum})
		}
	}
	for _, p := range b.parts {
		if !listed[p.Name] {
			out = append(out, Difference{p.Name, "part", "there", "not listed in the manifest"})
		}
	}
	for _, name := range []string{Journal, Fingerprint, Proposal} {
		if !listed[name] && b.Part(name) == nil {
			out = append(out, Difference{name, "part", "missing", "every bundle has it"})
		}
	}
	return out
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// manifestOf makes the manifest of parts, in the order of their names.
func manifestOf(m Maker, parts []Part) ([]byte, error) {
	out := Manifest{Format: Format, SchemaVersion: SchemaVersion, Maker: m, Parts: []Listed{}}
	for _, p := range parts {
		out.Parts = append(out.Parts, Listed{p.Name, len(p.Content), hash(p.Content)})
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the manifest: %w", err)
	}
	return append(b, '\n'), nil
}

// readManifest is strict: what a reader does not know it cannot vouch for.
func readManifest(b []byte) (m Manifest, err error) {
	if len(b) > maxManifest {
		return m, notBundle("its manifest has %d bytes", len(b))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, notBundle("its manifest cannot be read: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return m, notBundle("there is more after its manifest")
	}
	switch {
	case m.Format != Format:
		return m, notBundle("its format is %.40q", m.Format)
	case m.SchemaVersion != SchemaVersion:
		return m, notBundle("its schema version is %d, this perfsweep reads %d", m.SchemaVersion, SchemaVersion)
	case !slices.IsSortedFunc(m.Parts, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) }):
		return m, notBundle("its manifest is not in the order of names")
	}
	for i, l := range m.Parts {
		if !known(l.Name) || l.Name == ManifestName || l.Name == SignatureName || i > 0 && m.Parts[i-1].Name == l.Name {
			return m, notBundle("its manifest lists %.80q", l.Name)
		}
	}
	again, err := json.MarshalIndent(m, "", "  ")
	if err != nil || !bytes.Equal(append(again, '\n'), b) {
		return m, notBundle("its manifest is not spelled as perfsweep writes it")
	}
	return m, nil
}
