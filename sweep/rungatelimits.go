package sweep

import "fmt"

// RunGateLimit says in words what a run gate allows, from the constants that it
// is judged by; "" for a gate that is not known.
func RunGateLimit(gate string) string {
	switch gate {
	case "V1":
		return "the expected number, exactly, and the same ones"
	case "V2":
		return fmt.Sprintf("at most %.1f %% errors, timeouts and cancellations", 100*maxBadShare)
	case "V3":
		return fmt.Sprintf("within %.0f %%", 100*maxLittle)
	case "V4":
		return fmt.Sprintf("%.0f %% around the request with ignore_eos, else around the campaign's median", 100*maxLengthDrift)
	case "V5":
		return fmt.Sprintf("no trend of |t| %d or more that moves it by more than %.0f %%", minDriftT, 100*minDriftShare)
	case "V6":
		return fmt.Sprintf("no window below %.0f %% of the median, no silence longer than %d ms, %d x TTFT p99 and %d x ITL p99",
			100*stallShare, silenceFloorMS, silenceTTFT99s, silenceITL99s)
	case "V7":
		return fmt.Sprintf("completed max/median at most %.2f, in flight at most %d", mostCompleted, mostInFlight)
	case "V8":
		return fmt.Sprintf("CPU at most %.0f %%, lag p99 within %d ms or %.0f %% of the TTFT limit, running throughout", 100*maxCPUShare, lagFloorMS, 100*lagShareOfSLO)
	}
	return ""
}
