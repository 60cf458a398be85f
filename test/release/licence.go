package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// licence is what a module's folder says of the terms that it is under.
type licence struct {
	id    string // SPDX, NOASSERTION where it is not recognized
	texts []string
}

// licenceFiles are in the names of files with terms.
var licenceFiles = [...]string{"license", "licence", "copying", "notice"}

// licenceOf reads the files with terms at the top of a module.
func licenceOf(dir string) (licence, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return licence{}, err
	}
	var l licence
	var ids []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if !e.Type().IsRegular() || strings.HasSuffix(name, ".go") || !slices.ContainsFunc(licenceFiles[:], func(s string) bool { return strings.Contains(name, s) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return licence{}, err
		}
		l.texts = append(l.texts, string(text))
		ids = append(ids, recognize(string(text))...)
	}
	l.id = strings.Join(slices.Compact(slices.Sorted(slices.Values(ids))), " AND ")
	switch {
	case len(l.texts) == 0:
		return licence{}, fmt.Errorf("%s: %w: a module without terms cannot be released", dir, fs.ErrNotExist)
	case l.id == "":
		l.id = "NOASSERTION"
	}
	return l, nil
}

// marks are sentences that only one family of licences has, in lower case and
// on one line. Several may stand in one file.
var marks = [...]struct{ id, has, also string }{
	{"Apache-2.0", "apache license version 2.0", ""},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy", ""},
	{"BSD-3-Clause", "redistribution and use in source and binary forms", "be used to endorse or promote products"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms", ""},
	{"ISC", "distribute this software for any purpose with or without fee is hereby granted", ""},
	{"MPL-2.0", "mozilla public license", ""},
	{"CC0-1.0", "creative commons legal code cc0 1.0 universal", ""},
}

// recognize names the licences whose words stand in a text.
func recognize(text string) []string {
	plain := strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n*#/", r) }), " "))
	plain = strings.ReplaceAll(plain, "license, version 2.0", "license version 2.0")
	var ids []string
	bsd := false
	for _, m := range marks {
		if !strings.Contains(plain, m.has) || !strings.Contains(plain, m.also) || bsd && m.id == "BSD-2-Clause" {
			continue
		}
		bsd = bsd || m.id == "BSD-3-Clause"
		ids = append(ids, m.id)
	}
	return ids
}

// embeddedDir has what is embedded in the binary without being a Go module, and
// its terms.
const embeddedDir = "cmd/perfsweep/internal/report/assets"

var embedded = part{name: "uPlot", version: "1.6.32", purl: "pkg:npm/uplot@1.6.32"}

// licensed reads the terms of each part where it lies.
func licensed(ctx context.Context, source string, parts []part) ([]part, error) {
	goroot, err := goSays(ctx, source, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{"stdlib": goroot, embedded.name: filepath.Join(source, embeddedDir)}
	list := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, p := range parts {
		if dirs[p.name] == "" {
			list = append(list, p.name)
		}
	}
	found, err := goSays(ctx, source, list...)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(found, "\n") {
		name, dir, _ := strings.Cut(line, "\t")
		dirs[name] = dir
	}
	for i := range parts {
		p := &parts[i]
		if p.licence, err = licenceOf(dirs[p.name]); err != nil {
			return nil, fmt.Errorf("the terms of %s: %w", p.name, err)
		}
	}
	return parts, nil
}

func goSays(ctx context.Context, source string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = source
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// notices are the terms of all that is linked into a binary, which it must be
// accompanied by.
func notices(parts []part) (string, error) {
	var b strings.Builder
	b.WriteString("perfsweep is under the Apache License 2.0 (LICENSE). Its binaries also hold what\nfollows, each under its own terms.\n")
	for _, p := range parts {
		if len(p.licence.texts) == 0 {
			return "", errors.New(p.name + " has no terms")
		}
		fmt.Fprintf(&b, "\n%s\n%s %s\n\n", strings.Repeat("=", 80), p.name, p.version)
		for _, t := range p.licence.texts {
			b.WriteString(strings.TrimSpace(t) + "\n\n")
		}
	}
	return b.String(), nil
}
