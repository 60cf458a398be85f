//go:build !accept

package calibrate

// Sizes of the statistical tests; make accept has larger ones.
const (
	campaignSeeds = 3
	floorDraws    = 400
)
