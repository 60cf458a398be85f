package observe

import (
	"fmt"
	"strings"
)

// String says what stood still, when, and how long.
func (e Event) String() string {
	what := map[EventKind]string{
		GlobalSilence: "no token on any stream",
		WorkerSilence: "no token of " + strings.Join(e.Workers, ", ") + " while others went on",
		SlowWindows:   fmt.Sprintf("throughput at %.0f %% of the median", 100*e.Depth),
	}[e.Kind]
	return fmt.Sprintf("%s for %.1f s, from %.1f s on", what, e.LengthS, e.StartS)
}
