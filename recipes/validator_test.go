package recipes

import (
	"strings"
	"testing"
	"time"
)

// A tag that is no release is refused where a user names it; what is known of a
// release is said, and what is not known is no error and no pass.
func TestValidatorTags(t *testing.T) {
	for _, row := range []struct {
		tag     string
		refused bool
		says    string // "" = it reads the inputs
		known   bool
	}{
		{"v0.11.1", false, "does not read them", true},
		{"0.11", false, "does not read them", true},
		{"v0.0.1", false, "does not read them", true},
		{"v0.12.0", false, "between v0.11.1", false},
		{"v0.20.9-rc.1", false, "between v0.11.1", false},
		{"v0.21.1", false, "", true},
		{"v0.21.0-rc.2+build.7", false, "", true},
		{"v0.22.0", false, "", true},
		{"v1.0.0", false, "major version", false},
		{"v999.0", false, "major version", false},
		{"latest", false, "any release", false},
		{"v999", true, "any release", false},
		{"zz", true, "any release", false},
		{"", true, "any release", false},
		{"v0.21.1.2", true, "any release", false},
		{"v0.21.1@sha256:00", true, "any release", false},
		{"V0.21.1", true, "any release", false},
		{" v0.21.1", true, "any release", false},
		{"v0.21.1\n", true, "any release", false},
		{"v-1.2", true, "any release", false},
		{"v0.99999", true, "any release", false},
	} {
		if err := CheckValidator(row.tag); (err != nil) != row.refused {
			t.Errorf("%q: %v", row.tag, err)
		} else if err != nil && !strings.Contains(err.Error(), "v0.21.1") {
			t.Errorf("%q: %v says nothing of what to give", row.tag, err)
		}
		if says, known := ignoresInputs(row.tag); known != row.known || !strings.Contains(says, row.says) || (says == "") != (row.says == "") {
			t.Errorf("%q: %q, known %v", row.tag, says, known)
		}
	}
}

// A date that is still to come is none at which anything was measured, nor does it
// make an old measurement new.
func TestRecordAhead(t *testing.T) {
	opt := Options{Today: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), MaxAge: 180 * 24 * time.Hour}
	for _, row := range []struct{ words, says string }{
		{"Measured 2026-11-20 on 8 GPUs: 60,000 tok/s.", ""},
		{"Measured 2026-12-02 on 8 GPUs: 60,000 tok/s.", ""},
		{"Measured 2026-12-03 on 8 GPUs: 60,000 tok/s.", "the date in the comment is 2026-12-03, which is still to come"},
		{"Measured 2099-01-01 on 8 GPUs: 60,000 tok/s.", "the date in the comment is 2099-01-01, which is still to come"},
		{"Measured 2026-11-20 on 8 GPUs: 60,000 tok/s; to be measured again by 2027-05-01.", ""},
		{"Measured 2026-01-20 on 8 GPUs: 60,000 tok/s; to be measured again by 2027-05-01.", "the newest date in the comment is 2026-01-20, 314 days ago"},
	} {
		var got []string
		for _, f := range LintWith("f", []byte(replaced("Measured 2026-11-20 on 8 GPUs: 60,000 tok/s. "+fullNode, row.words)), opt) {
			if f.Rule == "stale-provenance" {
				got = append(got, f.Message)
			}
		}
		if want := strings.Join(got, "; "); want != row.says {
			t.Errorf("%s: %q, want %q", row.words, got, row.says)
		}
	}
}
