package loadgen

import (
	"cmp"
	"fmt"
	"slices"
)

// Suspension is a stretch of a run in which this process did not run: stopped,
// frozen, or asleep with its machine. Nothing that was measured across it is the
// server's.
type Suspension struct {
	StartS  float64 `json:"start_s"` // from Result.Started on
	LengthS float64 `json:"length_s"`
	// LoadPod is the generator, where several made the run.
	LoadPod string `json:"load_pod,omitempty"`
}

// String says who did not run, and when.
func (s Suspension) String() string {
	who := "this process"
	if s.LoadPod != "" {
		who = "generator " + s.LoadPod
	}
	return fmt.Sprintf("%s was not running for %.1f s, from %.1f s to %.1f s of the run", who, s.LengthS, s.StartS, s.StartS+s.LengthS)
}

// suspended notes when generators did not run.
func (r *Result) suspended(all []Suspension) {
	slices.SortStableFunc(all, func(a, b Suspension) int { return cmp.Compare(a.StartS, b.StartS) })
	r.Suspended = all
	for _, s := range all[:min(len(all), errorsPerOutcome)] {
		r.Warnings = append(r.Warnings, s.String()+": what was measured is not the server's")
	}
}
