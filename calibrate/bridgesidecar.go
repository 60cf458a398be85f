package calibrate

// ratioMost bounds a ratio of readings of one server; its inverse does so below.
const ratioMost = 1e6

// validBridge holds the bridge of a sidecar against the rest of it.
func (p Provenance) validBridge() error {
	b := p.Bridge
	switch {
	case b == nil:
		return nil
	case !b.Stands():
		return &keyError{"bridge.refused", "says that there is no bridge, and nothing is written then"}
	case b.Pairs < MinBridgePairs || b.Invalid < 0:
		return badKey("bridge.pairs", "is %d, a bridge rests on %d at least", b.Pairs, MinBridgePairs)
	case b.ConcurrencyPerGPU != p.Gate.ConcurrencyPerGPU:
		return badKey("bridge.concurrency_per_gpu", "is %d, and the gate is for %d", b.ConcurrencyPerGPU, p.Gate.ConcurrencyPerGPU)
	case b.Version == "":
		return &keyError{"bridge.aiperf_version", "is empty"}
	}
	for _, r := range []struct {
		key string
		BridgeRatio
	}{
		{"bridge.throughput_ratio", b.Throughput}, {"bridge.ttft_p99_ratio", b.TTFT},
		{"bridge.aiperf_tokens_to_server_ratio", BridgeRatio{b.AIPerfCounted, b.AIPerfCounted, b.AIPerfCounted, 0}},
		{"bridge.perfsweep_tokens_to_server_ratio", BridgeRatio{b.PerfsweepCounted, b.PerfsweepCounted, b.PerfsweepCounted, 0}},
	} {
		if !(r.Low >= 1/ratioMost && r.Low <= r.Ratio && r.Ratio <= r.High && r.High <= ratioMost && r.LogSD >= 0 && r.LogSD <= 100) {
			return badKey(r.key, "%v, from %v to %v, is no ratio of readings", r.Ratio, r.Low, r.High)
		}
	}
	return nil
}
