//go:build accept

package observe_test

import "github.com/perfsweep/perfsweep/sweep/observe"

// Four seeds from each of the five that make accept is given.
const (
	fullAcceptance = true
	seedsOfEach    = 4
	levelSeconds   = 20
)

func partsOfKnee() []float64 { return []float64{0.25, 0.5, 1, 1.5, 2} }

func inRealTime() []labelled {
	return []labelled{{name: "client-bound", want: observe.LoadGenerator, loopback: true}}
}
