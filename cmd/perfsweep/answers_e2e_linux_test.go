package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAnswersFit: on a terminal of 80 columns no answer has a wider line, but for
// a diff and a word that is wider; it begins with the answer and ends with the
// command that comes next.
func TestAnswersFit(t *testing.T) {
	const columns = 80
	dir := t.TempDir()
	overlay := filepath.Join(dir, "o.yaml")
	for _, ending := range []string{".yaml", ".provenance.json"} {
		b, err := os.ReadFile("testdata/report/gb300" + ending)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "o"+ending), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good, bad = "testdata/report/gb300.jsonl", "testdata/report/stall.jsonl"
	for _, tt := range []struct {
		args        string
		code        int
		first, last string
	}{
		{"knee " + good, exitDone, "knee at 194 per GPU", "next: perfsweep calibrate with the same flags"},
		{"knee " + bad, exitInconclusive, "no knee within what this machine can load", "next: perfsweep selftest"},
		{"sweep --journal " + good, exitDone, "knee at 194 per GPU", "next: perfsweep calibrate with"},
		{"sweep --journal " + bad, exitInconclusive, "no knee within what this machine can load", "next: perfsweep selftest"},
		{"calibrate --overlay " + overlay + " --journal " + good, exitInconclusive, "PROVISIONAL: ", "next: the same command with --window 2"},
		{"calibrate --overlay " + overlay + " --journal " + good + " --allow-simulated", exitDone, "SIMULATED: ", "next: the same command with --write"},
		{"calibrate --overlay " + overlay + " --journal " + bad, exitInconclusive, "NOT_SATURATED: ", "next: perfsweep selftest"},
		{"check --overlay " + overlay + " --journal " + good, exitInconclusive, "inconclusive: ", "next: mend what the reasons name"},
		{"compare " + good + " " + bad, exitInconclusive, "output tok/s per GPU: ", "next: "},
		{"knee " + good + " --explain", exitDone, "knee at 194 per GPU", "next: perfsweep calibrate with"},
		{"calibrate --overlay " + overlay + " --journal " + good + " --explain", exitInconclusive, "PROVISIONAL: ", "next: the same command with --window 2"},
		{"check --replay public", exitDone, "", "* at another load"},
		{"recipes status ../../recipes/overlays", exitDone, "", "../../recipes/overlays"},
	} {
		p := openPTY(t, columns, 24)
		var talk bytes.Buffer
		if code := run(t.Context(), strings.Fields(tt.args), nil, p.slave, &talk); code != tt.code {
			t.Errorf("%s: exit code %d: %s", tt.args, code, &talk)
		}
		p.see(t, "the end of "+tt.args, contains(tt.last))
		lines := strings.Split(strings.TrimSpace(p.Text()), "\n")
		if !strings.HasPrefix(lines[0], tt.first) {
			t.Errorf("%s begins with %q, want %q", tt.args, lines[0], tt.first)
		}
		end := len(lines) - 1
		for end > 0 && strings.HasPrefix(lines[end], "  ") {
			end--
		}
		if !strings.HasPrefix(lines[end], tt.last) {
			t.Errorf("%s ends with %q, want %q", tt.args, lines[end], tt.last)
		}
		for _, l := range lines {
			inDiff := len(l) > 0 && strings.ContainsAny(l[:1], "+-") || strings.HasPrefix(strings.TrimSpace(l), "# ")
			if utf8.RuneCountInString(l) > columns && !inDiff && strings.ContainsAny(strings.TrimSpace(l), " ") {
				t.Errorf("%s: %d columns: %s", tt.args, utf8.RuneCountInString(l), l)
			}
		}
	}
}
