package calibrate

import (
	"strings"
	"testing"
	"time"
)

// Dates at which nothing can have been measured are told; those that a clock an
// hour off explains are not.
func TestOddDates(t *testing.T) {
	c := newFixture().curve
	now := c.Runs[9].Result.Ended
	for _, d := range []struct {
		name string
		bend func()
		want string // "" = none
	}{
		{"as measured", func() {}, ""},
		{"no date", func() { c.Runs[3].Started = time.Time{} }, ""},
		{"an hour ahead", func() { c.Runs[3].Started = now.Add(time.Hour) }, ""},
		{"more", func() { c.Runs[3].Started = now.Add(time.Hour + time.Second) }, "run 3 is dated 2026-09-02T"},
		{"its end", func() { c.Runs[5].Result.Ended = now.AddDate(73, 0, 0) }, "run 5 is dated 2099-09-02T08:09:00Z, which is still to come by this machine's clock: "},
		{"the epoch", func() { c.Runs[3].Started = time.Unix(60, 0) }, "run 3 is dated 1970-01-01T00:01:00Z, by a clock that was never set: "},
	} {
		c.Runs = newFixture().curve.Runs
		d.bend()
		if got := OddDates(c, now); d.want == "" && got != "" || !strings.HasPrefix(got, d.want) {
			t.Errorf("%s: %q", d.name, got)
		}
		if got := OddDates(c, time.Time{}); got != "" {
			t.Errorf("%s: without a clock %q", d.name, got)
		}
	}
}

// A sidecar of 2099 is told by its date, and by lint in the overlay.
func TestOddDatesOfASidecar(t *testing.T) {
	w := writtenOverlay(t, nil)
	p, err := ParseProvenance("o", []byte(w.sidecar))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.OddDates(w.today); got != "" {
		t.Errorf("as written: %q", got)
	}
	w.sidecar = strings.Replace(w.sidecar, `"measured": "`+p.Measured, `"measured": "2099-01-01T00:00:00Z`, 1)
	told := 0
	for _, f := range w.lint(t) {
		if f.Rule == "stale-provenance" && strings.Contains(f.Message, "measured is 2099-01-01T00:00:00Z, which is still to come") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%+v", w.lint(t))
	}
	p.Written = "1970-01-01T00:00:00Z"
	if got := p.OddDates(w.today); !strings.HasPrefix(got, "written is 1970-01-01T00:00:00Z, by a clock that was never set") {
		t.Errorf("%q", got)
	}
}
