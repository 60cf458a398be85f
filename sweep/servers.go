package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Servers is what the servers said of themselves while a run was measured.
type Servers struct {
	// Said is a span in the words of sweep/observe, which alone reads it.
	Said json.RawMessage `json:"said,omitempty"`
	// Shares are what each worker had of the load, in the order of their ids;
	// empty where they do not tell.
	Shares []Share `json:"shares,omitempty"`
	// Changed names the workers that restarted, left or joined during the
	// measured part, each with what it did.
	Changed []string `json:"changed,omitempty"`
	// Frontends are counted where their own pages are watched.
	Frontends *Frontends `json:"frontends,omitempty"`
}

// Frontends is how many answered before the campaign, when the measured part of
// a run began and when it ended.
type Frontends struct {
	Expected int `json:"expected"`
	Before   int `json:"before"`
	After    int `json:"after"`
}

// Share is one worker's part of the load.
type Share struct {
	Worker    string  `json:"worker"`
	Completed float64 `json:"completed"` // requests
	InFlight  float64 `json:"in_flight"` // mean of running and waiting
}

// V7 (knee.md §8): what the busiest worker may have of the median's share.
const (
	mostCompleted = 1.25
	mostInFlight  = 2
	// Routing by chance spreads counts as Poisson's law does: a share that four
	// standard deviations explain is no finding.
	chanceSD = 4
	// A mean of fewer requests in flight is the accident of a few scrapes.
	fewInFlight = 4
)

// checkServers is V7, and of V1 the frontends and what counts cannot show: a
// worker that restarted under its old id.
func checkServers(s *Servers) []Violation {
	if s == nil {
		return nil
	}
	var out []Violation
	if len(s.Changed) > 0 {
		out = append(out, Violation{Gate: "V1", Observed: "during the run " + strings.Join(s.Changed, ", "), Threshold: "the same workers throughout",
			Remedy: "find out why a worker restarted, left or came, and measure again"})
	}
	if f := s.Frontends; f != nil && (f.Before != f.Expected || f.After != f.Expected) {
		out = append(out, Violation{Gate: "V1", Observed: fmt.Sprintf("%d of %s answered when the run began, %d when it ended", f.Before, plural.Of(f.Expected, "frontend"), f.After),
			Threshold: fmt.Sprintf("%d, as before the campaign", f.Expected), Remedy: "find the frontend that is missing, and measure again"})
	}
	if v := checkShares(s.Shares); v.Gate != "" {
		out = append(out, v)
	}
	return out
}

func checkShares(shares []Share) Violation {
	if len(shares) < 2 {
		return Violation{}
	}
	var done, flying []float64
	for _, s := range shares {
		done, flying = append(done, s.Completed), append(flying, s.InFlight)
	}
	v := Violation{Gate: "V7", Threshold: fmt.Sprintf("completed at most %.2f times, in flight at most %d times the median worker's", mostCompleted, mostInFlight),
		Remedy: "look at the worker named and at the router's mode; a share that is right on purpose belongs to another deployment"}
	usual := Median(done)
	if i := busiest(done); done[i] > mostCompleted*usual && done[i]-usual > chanceSD*math.Sqrt(usual) {
		v.Observed = fmt.Sprintf("worker %s completed %s where the median worker completed %.0f", shares[i].Worker, plural.Of(done[i], "request"), usual)
		return v
	}
	usual = Median(flying)
	if i := busiest(flying); flying[i] > mostInFlight*max(usual, fewInFlight) {
		v.Observed = fmt.Sprintf("worker %s had %.1f requests in flight where the median worker had %.1f", shares[i].Worker, flying[i], usual)
		return v
	}
	return Violation{}
}

func busiest(v []float64) int {
	most := 0
	for i := range v {
		if v[i] > v[most] {
			most = i
		}
	}
	return most
}
