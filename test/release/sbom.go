package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// part is something that is linked into a binary.
type part struct {
	name, version string
	sum           string // of a Go module, as in go.sum
	purl          string
	licence       licence
}

// The bill of materials follows SPDX 2.3 (ISO/IEC 5962 is 2.2.1 of it):
// https://spdx.github.io/spdx-spec/v2.3/. What the format demands of each is in
// its clauses 6 to 8 and 11.
type spdxDocument struct {
	Version       string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      spdxCreation   `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []spdxRelation `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID               string         `json:"SPDXID"`
	Name             string         `json:"name"`
	Version          string         `json:"versionInfo,omitempty"`
	File             string         `json:"packageFileName,omitempty"`
	Location         string         `json:"downloadLocation"`
	FilesAnalyzed    bool           `json:"filesAnalyzed"`
	Checksums        []spdxChecksum `json:"checksums,omitempty"`
	SourceInfo       string         `json:"sourceInfo,omitempty"`
	LicenceConcluded string         `json:"licenseConcluded"`
	LicenceDeclared  string         `json:"licenseDeclared"`
	Copyright        string         `json:"copyrightText"`
	Refs             []spdxRef      `json:"externalRefs,omitempty"`
	Purpose          string         `json:"primaryPackagePurpose"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const noAssertion = "NOASSERTION"

// modules lists what a binary says that it is linked from, the standard library
// first.
func modules(info *buildinfo.BuildInfo) []part {
	goVersion := strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")
	out := []part{{name: "stdlib", version: goVersion, purl: "pkg:golang/stdlib@" + goVersion}}
	for _, m := range info.Deps {
		out = append(out, modulePart(m))
	}
	return out
}

func modulePart(m *debug.Module) part {
	if m.Replace != nil {
		m = m.Replace
	}
	// A purl's version is percent-encoded; the only such sign in Go's is the plus.
	return part{name: m.Path, version: m.Version, sum: m.Sum, purl: "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")}
}

// notID is what an SPDX identifier must not hold.
var notID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

// bill writes the bill of materials of one binary, whose SHA-256 is sum.
func bill(name, sum string, p plan, parts []part) ([]byte, error) {
	const document, product = "SPDXRef-DOCUMENT", "SPDXRef-perfsweep"
	main := spdxPackage{
		ID: product, Name: "perfsweep", Version: p.version, File: "perfsweep", Location: noAssertion,
		Checksums: []spdxChecksum{{"SHA256", sum}}, LicenceConcluded: noAssertion, LicenceDeclared: "Apache-2.0",
		Copyright: noAssertion, Refs: purl("pkg:golang/github.com/perfsweep/perfsweep@" + strings.ReplaceAll(p.version, "+", "%2B")), Purpose: "APPLICATION",
	}
	if p.commit != "" {
		main.SourceInfo = "built from commit " + p.commit
	}
	d := spdxDocument{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: document, Name: name,
		// Unique as the format demands, and the same for the same binary.
		Namespace:     "https://github.com/perfsweep/perfsweep/sbom/" + name + "-" + sum,
		Creation:      spdxCreation{time.Unix(p.epoch, 0).UTC().Format(time.RFC3339), []string{"Tool: perfsweep-release-" + p.version}},
		Packages:      []spdxPackage{main},
		Relationships: []spdxRelation{{document, "DESCRIBES", product}},
	}
	for i, m := range parts {
		one := spdxPackage{
			ID: fmt.Sprintf("SPDXRef-%d-%s", i+1, notID.ReplaceAllString(m.name, "-")), Name: m.name, Version: m.version, Location: noAssertion,
			LicenceConcluded: noAssertion, LicenceDeclared: m.licence.id, Copyright: noAssertion, Refs: purl(m.purl), Purpose: "LIBRARY",
		}
		if m.sum != "" {
			// Not a checksum of a file: a hash over the names and hashes of all files.
			one.SourceInfo = "go.sum " + m.sum
		}
		d.Packages = append(d.Packages, one)
		d.Relationships = append(d.Relationships, spdxRelation{product, "DEPENDS_ON", one.ID})
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

func purl(locator string) []spdxRef { return []spdxRef{{"PACKAGE-MANAGER", "purl", locator}} }
