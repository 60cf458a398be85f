package aiperf

import (
	"errors"
	"path/filepath"
	"strings"
)

// Files are the paths of one run's exports.
type Files struct {
	JSON, CSV, Records string
	// Ready is written last.
	Ready string
}

// Files returns where the exports go.
func (o *Options) Files() Files {
	at := func(name string) string { return filepath.Join(o.ArtifactDir, name) }
	f := Files{JSON: at("profile_export_aiperf.json"), CSV: at("profile_export_aiperf.csv"), Records: at("profile_export.jsonl")}
	if o.Prefix != "" {
		f = Files{JSON: at(o.Prefix + ".json"), CSV: at(o.Prefix + ".csv"), Records: at(o.Prefix + ".jsonl")}
	}
	f.Ready = at(".aiperf_results_ready.json")
	return f
}

// Ready is the content of the last file.
func Ready(cancelled bool) []byte {
	return quote(struct {
		Ready     bool `json:"ready"`
		Cancelled bool `json:"was_cancelled"`
		Partial   bool `json:"partial"`
	}{true, cancelled, cancelled})
}

// cleanPrefix drops the folder of an absolute path and the endings that AIPerf
// drops; it never leaves the artifact folder.
func cleanPrefix(s string) (string, error) {
	if filepath.IsAbs(s) {
		s = filepath.Base(s)
	}
	for _, end := range []string{"_raw.jsonl", "_timeslices.csv", "_timeslices.json", ".csv", ".json", ".jsonl"} {
		if base, ok := strings.CutSuffix(s, end); ok {
			s = base
			break
		}
	}
	if s == "" || !filepath.IsLocal(s) || strings.ContainsAny(s, `/\`) {
		return "", errors.New("give a plain file name: the folder is --output-artifact-dir")
	}
	return s, nil
}
