package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sumsFile holds the checksums, in the form that sha256sum -c reads.
const sumsFile = "SHA256SUMS"

// release builds a release of the sources in source into the folder dir, which must
// be empty or not there. Binaries are left in work, a folder for each platform.
func (p plan) release(ctx context.Context, source, dir, work string, talk io.Writer, env ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty: remove what is there", dir))
	}
	var sums []string
	put := func(name string, text []byte) error {
		sums = append(sums, fmt.Sprintf("%s  %s\n", hash(text), name))
		return os.WriteFile(filepath.Join(dir, name), text, 0o644)
	}
	for _, target := range p.platforms {
		name := fmt.Sprintf("perfsweep_%s_%s_%s", p.version, target.os, target.arch)
		packed, sbom, err := p.one(ctx, source, name, filepath.Join(work, target.os+"_"+target.arch), target, env)
		if err != nil {
			return err
		}
		if err := errors.Join(put(name+".tar.gz", packed), put(name+".spdx.json", sbom)); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(talk, "%s: %.1f MB packed\n", name, float64(len(packed))/1e6)
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(dir, sumsFile), []byte(strings.Join(sums, "")), 0o644)
}

// one builds, inspects and packs the binary of one platform.
func (p plan) one(ctx context.Context, source, name, work string, target platform, env []string) (packed, sbom []byte, err error) {
	binary := filepath.Join(work, "perfsweep")
	if err := build(ctx, source, p.version, target, binary, env...); err != nil {
		return nil, nil, err
	}
	info, err := inspect(binary, p.version, target)
	if err != nil {
		return nil, nil, err
	}
	parts, err := licensed(ctx, source, append(modules(info), embedded))
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		return nil, nil, err
	}
	if sbom, err = bill(name, hash(text), p, parts); err != nil {
		return nil, nil, err
	}
	terms, err := notices(parts)
	if err != nil {
		return nil, nil, err
	}
	entries, err := papers(source)
	if err != nil {
		return nil, nil, err
	}
	entries = append([]entry{{"perfsweep", text, true}, {"THIRD_PARTY_NOTICES", []byte(terms), false}, {name + ".spdx.json", sbom, false}}, entries...)
	packed, err = archive(name, entries, p.epoch)
	return packed, sbom, err
}

// papers are what an archive holds for a reader.
func papers(source string) ([]entry, error) {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md"}
	manuals, err := filepath.Glob(filepath.Join(source, "docs/reference/man/*"))
	if err != nil || len(manuals) == 0 {
		return nil, errors.Join(err, errors.New("no man pages in docs/reference/man: make reference"))
	}
	for _, m := range manuals {
		names = append(names, "docs/reference/man/"+filepath.Base(m))
	}
	var out []entry
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return nil, err
		}
		out = append(out, entry{strings.TrimPrefix(name, "docs/reference/"), text, false})
	}
	return out, nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
