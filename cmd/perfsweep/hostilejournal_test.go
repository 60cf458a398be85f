package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No command, format or file lets a recorded string through as a control
// sequence, as a mark that turns text around, or as a line of its own.
func TestHostileJournalEverywhere(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(readReportFile(t, "gb300.jsonl")), "\n")
	const evil = "A\nINJECTED line\r\nINJECTED too\u2028\x1b[2J\u202eB\u009b31m"
	for i := 1; i < 5; i++ {
		var run map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &run); err != nil {
			t.Fatal(err)
		}
		run["violations"] = []map[string]string{{"gate": "V6" + evil, "observed": evil, "threshold": evil, "remedy": evil}}
		run["step"].(map[string]any)["why"] = evil
		run["result"].(map[string]any)["warnings"] = []string{evil}
		b, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = string(b)
	}
	overlay := readReportFile(t, "gb300.yaml")
	clean := readReportFile(t, "gb300.jsonl")
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"j.jsonl": strings.Join(lines, "\n") + "\n", "clean.jsonl": clean, "o.yaml": overlay} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commands := []string{
		"knee j.jsonl", "knee j.jsonl --explain", "compare j.jsonl clean.jsonl", "report j.jsonl", "report j.jsonl clean.jsonl",
		"calibrate --overlay o.yaml --journal j.jsonl --allow-simulated", "calibrate --overlay o.yaml --journal j.jsonl --allow-simulated --explain",
		"check --overlay o.yaml --journal j.jsonl", "check --overlay o.yaml --journal clean.jsonl --baseline j.jsonl --ctrf c.json --junit c.xml",
		"lint o.yaml", "recipes status .", "recipes verify .",
	}
	shown := false
	for _, command := range commands {
		formats := []string{"text", "json", "csv"}
		if strings.HasPrefix(command, "report") {
			formats = append(formats, "md", "svg", "html", "r.txt", "r.md", "r.csv", "r.svg", "r.html", "r.json")
		}
		for _, format := range formats {
			var out, talk bytes.Buffer
			code := run(t.Context(), append(strings.Fields(command), "-o", format), nil, &out, &talk)
			said := out.String() + "\n" + talk.String()
			for _, file := range []string{format, "c.json", "c.xml"} {
				if b, err := os.ReadFile(file); err == nil {
					said += "\n" + string(b)
				}
			}
			if code == exitWorld {
				t.Errorf("%s -o %s: exit code %d: %s", command, format, code, &talk)
			}
			if strings.ContainsAny(said, "\x1b\u202e\u009b\u2028\r") || strings.Contains(said, "\nINJECTED") || strings.Contains(said, `\nINJECTED`) {
				t.Errorf("%s -o %s: a recorded string got through", command, format)
			}
			shown = shown || strings.Contains(said, "INJECTED")
		}
	}
	if !shown {
		t.Error("no answer showed the recorded strings at all")
	}
}

func readReportFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "report", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
