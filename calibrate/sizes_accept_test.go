//go:build accept

package calibrate

// Sizes of the statistical acceptance.
const (
	campaignSeeds = 40
	floorDraws    = 6000
)
