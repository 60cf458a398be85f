package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// The verdicts on a bundle.
const (
	bundleVerified   = "verified"
	bundleDiffers    = "differs"
	bundleSignature  = "signature"
	bundleUnreadable = "unreadable"
)

// verdict is what became of a bundle, in one word.
func (v Verification) verdict() string {
	switch {
	case v.Unread != nil:
		return bundleUnreadable
	case len(v.Differences) > 0:
		return bundleDiffers
	case !v.Signature.Good():
		return bundleSignature
	}
	return bundleVerified
}

// unread is why a bundle could not be read, without its name at the beginning, ""
// where it could.
func (v Verification) unread() string {
	if v.Unread == nil {
		return ""
	}
	return strings.TrimPrefix(v.Unread.Error(), v.Bundle+": ")
}

type verifySeveralDoc struct {
	SchemaVersion int `json:"schema_version"`
	// Counts are of the verdicts.
	Counts  map[string]int `json:"counts"`
	Bundles []verifyDoc    `json:"bundles"`
}

// VerifiedSeveral prints what verify found of several bundles, each as Verified
// prints one.
func VerifiedSeveral(w io.Writer, format string, list []Verification) error {
	counts := map[string]int{}
	for _, v := range list {
		counts[v.verdict()]++
	}
	switch format {
	case "json":
		d := verifySeveralDoc{SchemaVersion: schemaVersion, Counts: counts, Bundles: []verifyDoc{}}
		for _, v := range list {
			d.Bundles = append(d.Bundles, v.doc())
		}
		return encode(w, d)
	case "csv":
		rows := [][]string{{"bundle", "verdict", "part", "field", "recorded", "recomputed"}}
		for _, v := range list {
			for _, d := range v.Differences {
				rows = append(rows, []string{v.Bundle, v.verdict(), d.Part, d.Field, d.Recorded, d.Computed})
			}
			if len(v.Differences) == 0 {
				rows = append(rows, []string{v.Bundle, v.verdict(), "", "", "", ""})
			}
		}
		return csv.NewWriter(w).WriteAll(rows)
	}
	p := &printer{w: w}
	var parts []string
	for _, c := range []struct{ verdict, said string }{
		{bundleVerified, "verified"}, {bundleDiffers, "differ"}, {bundleSignature, "with the wrong signature"}, {bundleUnreadable, "unreadable"},
	} {
		if n := counts[c.verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c.said))
		}
	}
	p.line("%s: %s", plural.Of(len(list), "bundle"), strings.Join(parts, ", "))
	for _, v := range list {
		p.verified(v)
	}
	return p.err
}
