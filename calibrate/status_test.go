package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
)

// status judges an overlay as perfsweep recipes status does.
func (w written) status(t *testing.T, image string) Status {
	t.Helper()
	o, err := recipes.Parse(lintFile, []byte(w.overlay))
	if err != nil {
		t.Fatal(err)
	}
	s := SidecarLint{Name: "overlays/o.provenance.json", Overlay: o, File: lintFile, Source: []byte(w.overlay)}
	s.Today = w.today
	found := recipes.LintWith(lintFile, s.Source, s.Options)
	if w.sidecar != "" {
		s.Content = []byte(w.sidecar)
		found = w.lint(t)
	}
	return StatusOf(s, found, image)
}

func TestStatus(t *testing.T) {
	ok := writtenOverlay(t, nil)
	image := labelled("image", "reg.example/dynamo:1.6.1@sha256:aaaa")
	old, bare, damaged := ok, ok, ok
	old.today = ok.today.AddDate(1, 0, 0)
	bare.sidecar = ""
	damaged.sidecar = "{"
	unwritten := ok
	unwritten.overlay = ok.before
	off := ok.edited(t, "[inference-perf]", "[]")
	for name, c := range map[string]struct {
		w     written
		image string
		want  StatusState
		why   string
	}{
		"as written":              {w: ok, want: StatusCurrent},
		"its own image":           {writtenOverlay(t, image), "sha256:aaaa", StatusCurrent, ""},
		"its own tag":             {writtenOverlay(t, image), "1.6.1", StatusCurrent, ""},
		"another digest":          {writtenOverlay(t, image), "reg.example/dynamo:1.6.1@sha256:bbbb", StatusStale, "not with"},
		"another tag":             {writtenOverlay(t, image), "1.6.2", StatusStale, "not with 1.6.2"},
		"a digest, only a tag":    {writtenOverlay(t, labelled("image", "dynamo:1.6.1")), "sha256:aaaa", StatusStale, "not with"},
		"no image was stated":     {writtenOverlay(t, labelled("image", "")), "sha256:aaaa", StatusStale, "not stated"},
		"measured long ago":       {w: old, want: StatusStale, why: "days ago"},
		"a threshold was edited":  {w: ok.edited(t, `">= 18000"`, `">= 9000"`), want: StatusStale, why: "edited after"},
		"the write was cut short": {w: unwritten, want: StatusStale, why: "interrupted"},
		"a damaged sidecar":       {w: damaged, want: StatusStale},
		"no sidecar":              {w: bare, want: StatusNoEvidence, why: "no sidecar"},
		"simulated":               {w: writtenOverlay(t, func(f *fixture) { f.curve.Fingerprint.Simulated = true }), want: StatusProvisional},
		"the check is off":        {w: off, want: StatusDisabled, why: "not in the list"},
		"a floor without a unit":  {w: ok.edited(t, `">= 18000"`, `">= many"`), want: StatusInvalid},
	} {
		got := c.w.status(t, c.image)
		if got.State != c.want || c.why != "" && !slices.ContainsFunc(got.Why, func(s string) bool { return strings.Contains(s, c.why) }) {
			t.Errorf("%s: %s %q, want %s (%s)", name, got.State, got.Why, c.want, c.why)
		}
	}
	if s := ok.status(t, ""); s.TokPerSecPerGPU == 0 || s.GPUs == 0 || s.Measured == "" || s.Gate == nil {
		t.Errorf("the listing lacks what the sidecar holds: %+v", s)
	}
}

func TestSameImage(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct {
		recorded, want string
		same           bool
	}{
		{"r/a:1@sha256:x", "r/b:2@sha256:x", true}, // a tag can move, a digest cannot
		{"r/a:1@sha256:x", "r/a:1@sha256:y", false},
		{"sha256:x", "sha256:x", true},
		{"r/a:1", "r/a:1", true},
		{"r/a:1", "1", true},
		{"r:5000/a", "5000/a", false},
		{"r/a@sha256:ab", " SHA256:AB\n", true}, {"r/a@sha256:AB", "r/a@sha256:ab", true}, // one digest, however it is written
		{"sha256:" + hex, strings.ToUpper(hex), true}, {"sha256:" + hex, hex[1:] + "0", false},
		{"r/a:11", "1", false},
		{"", "1", false},
		{"", "", false},
	} {
		if got := sameImage(c.recorded, c.want); got != c.same {
			t.Errorf("sameImage(%q, %q) = %v", c.recorded, c.want, got)
		}
	}
}
