package calibrate

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/sweep"
)

// anchorTTFTFactor is how much longer than an anchor's a TTFT p99 may be before
// it is told, noise apart: the ceiling is twice the campaign's own median, so
// that a campaign beyond it gets a ceiling that its anchor never comes near.
const anchorTTFTFactor = 2

// ttftAgainst is the campaign's TTFT p99 over that of an anchor's gate runs, 0
// where either has too few or too short ones, and a warning where it is more than twice that by more
// than noise explains.
//
// It is told and refuses nothing: C7 is of throughput (knee.md §17), TTFT holds
// the path to the server, which differs between places, and its tail varies by
// 12 to 30 % between healthy runs.
func (e *evidence) ttftAgainst(anchor string, then attempts) (r float64, warning string) {
	own, ref := e.attempts.p99s(), then.p99s()
	if len(own) < checkValid || len(ref) < checkValid || e.attempts.shortP99+then.shortP99 > 0 {
		return 0, ""
	}
	_, limit := shiftOf(own, ref, ttftSpreadFloor, sbPrior)
	r = sweep.Median(own) / sweep.Median(ref)
	if !positive(r) || !positive(limit) {
		return 0, ""
	}
	if most := anchorTTFTFactor * exact.Exp(limit); r > most {
		warning = fmt.Sprintf("WARNING: TTFT p99 is x%.2f of the %s ms of %s, where x%d and noise explain x%.2f; C7 is judged by throughput, and the ceiling follows the campaign's own runs: find out what waits before it is relied on",
			r, num(sweep.Median(ref)), anchor, anchorTTFTFactor, most)
	}
	return r, warning
}
