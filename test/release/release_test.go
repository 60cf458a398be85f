package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program is the smallest module that can be released: it prints its version and
// needs nothing of the standard library, so that it builds in moments.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                           "module x\n\ngo 1.26.0\n",
		"cmd/perfsweep/main.go":            "package main\n\nvar version = \"dev\"\n\nfunc main() { println(version) }\n",
		"LICENSE":                          "terms\n",
		"README.md":                        "# x\n",
		"CHANGELOG.md":                     "# x\n",
		"docs/reference/man/perfsweep.1":   ".TH X 1\n",
		embeddedDir + "/uplot.LICENSE":     "Permission is hereby granted, free of charge, to any person obtaining a copy\n",
		"bin/perfsweep":                    "an old one\n",
		"cmd/perfsweep/testdata/x/y/z.txt": "data\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func native(version string) plan {
	return plan{version: version, commit: "0123", epoch: 1_800_000_000, platforms: []platform{{runtime.GOOS, runtime.GOARCH}}}
}

// A release is whole, the same from another folder, and told when it is not.
func TestRelease(t *testing.T) {
	source, dir := program(t), filepath.Join(t.TempDir(), "dist")
	p := native("v1.2.3+x")
	if err := p.release(t.Context(), source, dir, t.TempDir(), io.Discard); err != nil {
		t.Fatal(err)
	}
	name := "perfsweep_v1.2.3+x_" + runtime.GOOS + "_" + runtime.GOARCH
	files := unpack(t, filepath.Join(dir, name+".tar.gz"))
	for _, want := range []string{"perfsweep", "LICENSE", "README.md", "CHANGELOG.md", "THIRD_PARTY_NOTICES", "man/perfsweep.1", name + ".spdx.json"} {
		if _, there := files[name+"/"+want]; !there {
			t.Errorf("the archive has no %s", want)
		}
	}
	sbom, err := os.ReadFile(filepath.Join(dir, name+".spdx.json"))
	if err != nil || string(sbom) != files[name+"/"+name+".spdx.json"] {
		t.Errorf("the bill of materials beside the archive is another than in it: %v", err)
	}
	if !strings.Contains(string(sbom), hash([]byte(files[name+"/perfsweep"]))) {
		t.Error("the bill of materials does not name the binary by its hash")
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil || strings.Count(string(sums), "\n") != 2 || !strings.Contains(string(sums), hash(sbom)+"  "+name+".spdx.json\n") {
		t.Errorf("%v, checksums:\n%s", err, sums)
	}
	if err := p.release(t.Context(), source, dir, t.TempDir(), io.Discard); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over another release: %v", err)
	}

	var talk bytes.Buffer
	if err := p.check(t.Context(), source, dir, t.TempDir(), &talk); err != nil && !strings.Contains(err.Error(), "starts in") {
		t.Errorf("checked: %v", err) // a busy machine may start it late
	}
	if !strings.Contains(talk.String(), "equal to the byte") {
		t.Errorf("checked: %s", talk.String())
	}
	if err := os.WriteFile(filepath.Join(source, "README.md"), []byte("# y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "dist")
	if err := p.release(t.Context(), source, other, t.TempDir(), io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := same(dir, other); err == nil || !strings.Contains(err.Error(), ".tar.gz is not the same") {
		t.Errorf("with another README: %v", err)
	}
	if err := same(dir, t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with nothing: %v", err)
	}
}

// unpack reads an archive and demands that nothing in it tells who packed it when.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("the compressed stream tells %v and %q", z.ModTime, z.Name)
	}
	out := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = string(text)
		if executable := strings.HasSuffix(h.Name, "/perfsweep"); h.ModTime.Unix() != 1_800_000_000 || h.Uid != 0 || h.Uname != "" || (h.Mode == 0o755) != executable {
			t.Errorf("%s: %v, owner %d %q, mode %o", h.Name, h.ModTime, h.Uid, h.Uname, h.Mode)
		}
	}
}

// What must not be released is refused by name.
func TestInspect(t *testing.T) {
	source, binary := program(t), filepath.Join(t.TempDir(), "perfsweep")
	here := native("v9.8.7").platforms[0]
	if err := build(t.Context(), source, "v9.8.7", here, binary); err != nil {
		t.Fatal(err)
	}
	if _, err := inspect(binary, "v9.8.7", here); err != nil {
		t.Errorf("a good one: %v", err)
	}
	for want, try := range map[string]struct {
		version string
		p       platform
	}{
		"does not hold its version": {"v9.8.8", here},
		"not for plan9/mips":        {"v9.8.7", platform{"plan9", "mips"}},
	} {
		if _, err := inspect(binary, try.version, try.p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := os.Truncate(binary, maxBinary); err != nil {
		t.Fatal(err)
	}
	if _, err := inspect(binary, "v9.8.7", here); err == nil || !strings.Contains(err.Error(), "25000000 bytes") {
		t.Errorf("a large one: %v", err)
	}
	if _, err := inspect(filepath.Join(source, "nothing"), "v1", here); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := build(t.Context(), t.TempDir(), "v1", here, binary); err == nil || !strings.Contains(err.Error(), "build for") {
		t.Errorf("no sources: %v", err)
	}
}

func TestVersionNames(t *testing.T) {
	for version, want := range map[string]string{"": "give -version", "a b": "give -version", "../x": "give -version", "-x": "give -version", "unknown": "VERSION=v1.2.3"} {
		if err := run(t.Context(), []string{"-version=" + version, "dist"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", version, err)
		}
	}
}
