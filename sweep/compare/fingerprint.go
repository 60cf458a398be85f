package compare

import (
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/sweep"
)

// foreign are the fields, or groups of them, that make two curves curves of
// different things: with another model or workload a ratio says nothing of
// what was changed.
func foreign() []string {
	return []string{"simulated", "model", "gpus", "workload", "effort", "start_mode", "endpoint", "transport", "http2", "extra_body"}
}

// Differences lists the fields in which two fingerprints differ, and the names
// of those that keep the curves from being compared unless across names them.
func Differences(a, b sweep.Fingerprint, across []string) (fields, blocked []string) {
	fields = a.Diff(b)
	for _, f := range fields {
		name, _, _ := strings.Cut(f, ":")
		group, _, _ := strings.Cut(name, ".")
		if slices.Contains(foreign(), group) && !slices.Contains(across, group) && !slices.Contains(blocked, group) {
			blocked = append(blocked, group)
		}
	}
	return fields, blocked
}

// Across reports whether a field can be allowed to differ.
func Across(name string) bool { return slices.Contains(foreign(), name) }

// AcrossNames are the fields that can be allowed to differ.
func AcrossNames() string { return strings.Join(foreign(), ", ") }
