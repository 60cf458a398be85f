package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/recipes"
)

// Hours lie between the look at the file of --bundle and its writing: what somebody
// else puts there meanwhile, such as the bundle of another cluster, stays.
func TestBundleKeepsWhatCameMeanwhile(t *testing.T) {
	const journal, foreign = "testdata/report/gb300.jsonl", "somebody's"
	policy := calibrate.Policy{Profile: calibrate.Portable, AllowSimulated: true, NodeGPUs: 8, Accelerator: "gb300"}
	a := &app{out: io.Discard, err: io.Discard}
	for _, before := range []bool{false, true} {
		f := &bundleFlags{file: filepath.Join(t.TempDir(), "b.bundle")}
		write := func() error {
			return a.writeBundle(f, journal, recipes.Gate{Model: "Qwen/Qwen3-8B"}, policy, [2][]string{})
		}
		if before {
			if err := f.ready(journal); err != nil {
				t.Fatal(err)
			}
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.ready(journal); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.file, []byte(foreign), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := write(); err == nil || !strings.Contains(err.Error(), "was changed meanwhile") {
			t.Errorf("there before %v: %v", before, err)
		}
		if b, err := os.ReadFile(f.file); err != nil || string(b) != foreign {
			t.Errorf("there before %v: the file holds %d bytes, %v", before, len(b), err)
		}
	}
}
