//go:build !accept

package observe_test

// The short suite tries two seeds of each preset; make accept tries 20.
const (
	fullAcceptance = false
	seedsOfEach    = 2
	levelSeconds   = 10
)

func partsOfKnee() []float64 { return []float64{0.5, 1, 2} }

// inRealTime is for make accept: what saturates a client depends on the machine.
func inRealTime() []labelled { return nil }
