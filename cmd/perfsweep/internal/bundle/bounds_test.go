package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// holed is a tar of parts that consist of one hole of a size, which the archive says
// in a few bytes: extended headers of GNU's sparse format 0.1, which the tar package
// reads and does not write.
func holed(t *testing.T, size int, names ...string) []byte {
	t.Helper()
	entry := func(kind byte, name string, content []byte) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644, Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		head := b.Bytes()
		head[156] = kind
		copy(head[148:156], "        ")
		sum := 0
		for _, c := range head[:512] {
			sum += int(c)
		}
		copy(head[148:156], fmt.Sprintf("%06o\x00 ", sum))
		return head
	}
	record := func(key, value string) string {
		n := len(key) + len(value) + 3
		for len(fmt.Sprint(n))+len(key)+len(value)+3 != n {
			n = len(fmt.Sprint(n)) + len(key) + len(value) + 3
		}
		return fmt.Sprintf("%d %s=%s\n", n, key, value)
	}
	var out []byte
	for _, name := range names {
		extended := record("GNU.sparse.size", fmt.Sprint(size)) + record("GNU.sparse.numblocks", "1") + record("GNU.sparse.map", fmt.Sprintf("%d,0", size))
		out = append(out, entry(tar.TypeXHeader, "x", []byte(extended))...)
		out = append(out, entry(tar.TypeReg, name, nil)...)
	}
	return append(out, make([]byte, 1024+size)...) // so that one hole is no larger than the archive
}

// Holes are not in the archive: many of them would unpack to any size.
func TestReadRefusesHoles(t *testing.T) {
	const size = 64 << 10
	var names []string
	for i := range 40 {
		names = append(names, NumberedName(Anchors, i))
	}
	plain := holed(t, size, names...)
	r := tar.NewReader(bytes.NewReader(plain))
	if h, err := r.Next(); err != nil || h.Size != size || h.Typeflag != tar.TypeReg {
		t.Fatalf("the archive is none with holes: %+v, %v", h, err)
	}
	parts, err := split(plain)
	if err == nil || !strings.Contains(err.Error(), "claims") {
		t.Errorf("%d parts of %d bytes each came of an archive of %d: %v", len(parts), size, len(plain), err)
	}
	_, err = Read(zipped(t, plain, nil))
	var not *NotBundleError
	if !errors.As(err, &not) {
		t.Error(err)
	}
}

// A part that is read whole is bounded where it is packed and where it is read.
func TestDocumentsAreBounded(t *testing.T) {
	large := bytes.Repeat([]byte(" "), maxDocument+1)
	for _, name := range []string{Proposal, Fingerprint} {
		if _, err := Pack(maker(), []Part{{name, large}}, nil); err == nil {
			t.Errorf("%s of %d bytes was packed", name, len(large))
		}
		manifest, err := manifestOf(maker(), []Part{{name, large}})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := archive([]Part{{ManifestName, manifest}, {name, large}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(zipped(t, plain, nil)); err == nil || !strings.Contains(err.Error(), name+" has ") {
			t.Errorf("%s of %d bytes: %v", name, len(large), err)
		}
	}
	if _, err := Read(pack(t, []Part{{Journal, large}}, nil)); err != nil {
		t.Errorf("a journal of %d bytes: %v", len(large), err)
	}
}

// A leaf is told with the path to it, so that depth and number multiply.
func TestCompareIsBounded(t *testing.T) {
	deep := func(levels int, inner string) []byte {
		return []byte(strings.Repeat("[", levels) + inner + strings.Repeat("]", levels))
	}
	for _, c := range []struct {
		name string
		was  []byte
		says string
	}{
		{"deep", deep(9000, "0,1,2,3"), "nested more than"},
		{"wide", deep(1, strings.Repeat("0,", maxLeaves)+"0"), "values"},
		{"long names", []byte(`{"` + strings.Repeat("k", 1<<20) + `":[` + strings.Repeat("0,", 100) + `0]}`), "names of its values"},
	} {
		d, n := Compare("p", c.was, []byte("{}"))
		if len(d) != 1 || n != 0 || !strings.Contains(d[0].Recorded, c.says) {
			t.Errorf("%s: %d differences, %d leaves", c.name, len(d), n)
		}
	}
	if d, n := Compare("p", deep(maxDepth, "1"), deep(maxDepth, "1")); len(d) != 0 || n != 1 {
		t.Error(d, n)
	}
}
