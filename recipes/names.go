package recipes

import (
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/spell"
)

const nameStorageClass = "inference-model-cache-storage-class"

// knownNames are the constraints that AICR's performance checks read.
func knownNames() []string {
	return []string{
		NameModel, NameConcurrency, NameRouting, NameFloor, NameFloorPerGPU, NameCeiling,
		nameStorageClass,
		"nccl-all-reduce-bw", "nccl-all-reduce-bw-net", "nccl-all-reduce-bw-nvls", "nccl-benchmark-runtime-ref", "nccl-benchmark-profile",
		"nccl-cre-all-reduce-bw", "cre-training-goodput",
	}
}

func isKnown(name string) bool { return slices.Contains(knownNames(), name) }

// nearest is the constraint that a name was probably meant to be, "" if there is
// none.
func nearest(name string) string { return Nearest(name, knownNames()) }

// Nearest is the first of the known names with the fewest typing mistakes, three
// at most and half of the name at most, in any case of letters; "" if there is
// none.
func Nearest(name string, known []string) string {
	return spell.Nearest(strings.ToLower(name), known, min(4, len(name)/2+1))
}
