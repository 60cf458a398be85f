//go:build !accept

package main

// kills is how often the short suite kills a sweep of these levels and passes,
// so many that the kills alone never see its end; "make accept" kills it 20
// times.
const (
	kills       = 2
	killLevels  = "8,16,32"
	killRepeats = "1"
)
