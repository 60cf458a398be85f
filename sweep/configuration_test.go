package sweep

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A journal keeps the campaign file that it was begun with, one without is read
// as before, and what no campaign writes is damage.
func TestJournalConfiguration(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	for name, c := range map[string]struct {
		conf *Configuration
		bad  string
	}{
		"none":    {},
		"one":     {conf: &Configuration{File: "perfsweep.yaml", SHA256: sum, Target: "gb300", Flags: map[string][]string{"levels": {"8", "16"}, "anchor": {}}}},
		"no hash": {conf: &Configuration{File: "perfsweep.yaml"}, bad: "SHA-256"},
		"hash":    {conf: &Configuration{SHA256: strings.Repeat("0F", 32)}, bad: "SHA-256"},
		"no name": {conf: &Configuration{SHA256: sum, Flags: map[string][]string{"": {"8"}}}, bad: "1 value of the flag"},
		"long":    {conf: &Configuration{SHA256: sum, Flags: map[string][]string{"x": {strings.Repeat("x", maxConfigWord+1)}}}, bad: "a word of"},
		"many":    {conf: &Configuration{SHA256: sum, Flags: map[string][]string{"x": make([]string, maxConfigValues+1)}}, bad: "values of the flag"},
	} {
		path := filepath.Join(t.TempDir(), "j.jsonl")
		j, err := CreateJournal(path, Curve{Fingerprint: Fingerprint{Target: "http://a", GPUs: 1}, Plan: DefaultPlan(Quick), Configuration: c.conf})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := ReadJournal(path)
		switch {
		case c.bad != "":
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: %v, want damage that says %q", name, err, c.bad)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !reflect.DeepEqual(got.Configuration, c.conf):
			t.Errorf("%s: read %+v, wrote %+v", name, got.Configuration, c.conf)
		}
	}
}
