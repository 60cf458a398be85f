package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestBill holds a bill of materials to what SPDX 2.3 demands of a document
// (clause 6), of packages (7) and of relationships (11).
func TestBill(t *testing.T) {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8 X:nothing", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0+incompatible", Sum: "h1:AAAA"},
		{Path: "example.com/b", Version: "v0.1.0", Sum: "h1:BBBB", Replace: &debug.Module{Path: "example.com/c_d", Version: "v0.2.0", Sum: "h1:CCCC"}},
	}}
	parts := modules(info)
	for i := range parts {
		parts[i].licence = licence{id: "MIT", texts: []string{"MIT"}}
	}
	sum := strings.Repeat("ab", 32)
	text, err := bill("perfsweep_v1_linux_amd64", sum, native("v1"), parts)
	if err != nil {
		t.Fatal(err)
	}
	var d spdxDocument
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Version != "SPDX-2.3" || d.DataLicense != "CC0-1.0" || d.ID != "SPDXRef-DOCUMENT" || d.Name == "" {
		t.Errorf("document: %+v", d)
	}
	if !regexp.MustCompile(`^https://[^#\s]+$`).MatchString(d.Namespace) || !strings.Contains(d.Namespace, sum) {
		t.Errorf("namespace %q: want a URI without a fragment, of this binary", d.Namespace)
	}
	if d.Creation.Created != "2027-01-15T08:00:00Z" {
		t.Errorf("created %q: want the epoch in UTC, in seconds", d.Creation.Created)
	}
	for _, c := range d.Creation.Creators {
		if !strings.HasPrefix(c, "Tool: ") {
			t.Errorf("creator %q: want Person, Organization or Tool", c)
		}
	}
	ids := []string{d.ID}
	for _, p := range d.Packages {
		if !regexp.MustCompile(`^SPDXRef-[a-zA-Z0-9.-]+$`).MatchString(p.ID) || slices.Contains(ids, p.ID) {
			t.Errorf("package id %q: not unique or not an id", p.ID)
		}
		ids = append(ids, p.ID)
		if p.Name == "" || p.Location == "" || p.Copyright == "" || p.LicenceDeclared == "" || p.LicenceConcluded == "" || len(p.Refs) != 1 || !strings.HasPrefix(p.Refs[0].Locator, "pkg:golang/") {
			t.Errorf("package %+v", p)
		}
	}
	for _, r := range d.Relationships {
		if !slices.Contains(ids, r.Element) || !slices.Contains(ids, r.Related) {
			t.Errorf("relationship %+v is of no element", r)
		}
	}
	if want := (spdxRelation{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-perfsweep"}); d.Relationships[0] != want {
		t.Errorf("first relationship %+v, want %+v", d.Relationships[0], want)
	}
	for _, want := range []string{`"versionInfo": "1.26.8"`, "pkg:golang/stdlib@1.26.8", `"go.sum h1:AAAA"`, "pkg:golang/example.com/a@v1.0.0%2Bincompatible", "SPDXRef-3-example.com-c-d", `"go.sum h1:CCCC"`, "built from commit 0123"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

func TestRecognize(t *testing.T) {
	const bsd = "Redistribution and use in source and binary forms, with or\n// without modification"
	for text, want := range map[string]string{
		"  Apache License\n  Version 2.0, January 2004":                                 "Apache-2.0",
		"Licensed under the Apache License, Version 2.0 (the \"License\")":              "Apache-2.0",
		"Permission is hereby granted, free of charge, to any person\nobtaining a copy": "MIT",
		bsd: "BSD-2-Clause",
		bsd + " may not be used to endorse\n * or promote products":                                                               "BSD-3-Clause",
		"Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted": "ISC",
		"Permission is hereby granted, free of charge, to any person obtaining a copy\n\nApache License\nVersion 2.0":             "Apache-2.0 AND MIT",
		"All rights reserved": "",
	} {
		if got := strings.Join(recognize(text), " AND "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Everything that is linked into the binary has terms that are recognized.
func TestLinkedLicences(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	linked, err := goSays(t.Context(), root, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/perfsweep")
	if err != nil {
		t.Fatal(err)
	}
	parts := []part{{name: "stdlib"}, embedded}
	for _, name := range slices.Compact(slices.Sorted(strings.FieldsSeq(linked))) {
		parts = append(parts, part{name: name})
	}
	parts, err = licensed(t.Context(), root, parts)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) < 10 {
		t.Errorf("only %d modules are linked", len(parts))
	}
	for _, p := range parts {
		if p.name == "stdlib" && p.licence.id != "BSD-3-Clause" || p.name == "go.yaml.in/yaml/v3" && p.licence.id != "Apache-2.0 AND MIT" {
			t.Errorf("the terms of %s are recognized as %s", p.name, p.licence.id)
		}
		if p.licence.id == noAssertion {
			t.Errorf("the terms of %s are not recognized: add what tells them to marks", p.name)
		}
	}
	terms, err := notices(parts)
	if err != nil || !strings.Contains(terms, "Leon Sorokin") {
		t.Errorf("%v: the notices lack uPlot's", err)
	}
	script, err := os.ReadFile(filepath.Join(root, embeddedDir, "uplot.min.js"))
	if err != nil || !strings.Contains(string(script[:100]), "(v"+embedded.version+")") {
		t.Errorf("%v: the bill says uPlot %s, and the file %.60s", err, embedded.version, script)
	}
	if _, err := licenceOf(t.TempDir()); err == nil {
		t.Error("a module without terms is taken")
	}
}
