package imports

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
)

// TestPublished holds the sweeps of public record to the answers of the study
// that the estimator comes from. That study entered each point twice, because
// four single runs carry a model of one parameter only; what the bare points
// give is stated as well.
func TestPublished(t *testing.T) {
	seen := 0
	for _, c := range []struct {
		file     string
		once     knee.Status
		twice    knee.Status
		from, to float64
	}{
		{"rtx-4090.csv", knee.Ambiguous, knee.Knee, 3, 4},
		{"gpt-oss-h100-1k-8k.csv", knee.Ambiguous, knee.Knee, 32, 48},
		{"gpt-oss-h100-1k-1k.csv", knee.NotSaturated, knee.NotSaturated, 0, 0},
		{"mi300x.csv", knee.NotSaturated, knee.NotSaturated, 0, 0},
		{"gb300.csv", knee.Insufficient, knee.Insufficient, 0, 0},
		{"gb300-with-two-invented.csv", knee.Ambiguous, knee.Ambiguous, 128, 128},
	} {
		f, err := os.Open(filepath.Join("testdata/published", c.file))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := CSV(c.file, f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if fit := knee.Find(runs, knee.Options{}); fit.Status != c.once {
			t.Errorf("%s: %s, want %s", c.file, fit.Status, c.once)
		}
		fit := knee.Find(slices.Concat(runs, runs), knee.Options{})
		if fit.Status != c.twice || fit.Knee < c.from || fit.Knee > c.to {
			t.Errorf("%s twice: %s %.4g, want %s in %g..%g", c.file, fit.Status, fit.Knee, c.twice, c.from, c.to)
		}
	}
	if files, err := filepath.Glob("testdata/published/*.csv"); err != nil || len(files) != seen {
		t.Errorf("%d files, %d have an answer: %v", len(files), seen, err)
	}
}
