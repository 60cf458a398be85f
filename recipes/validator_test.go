package recipes

import (
	"strings"
	"testing"
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
