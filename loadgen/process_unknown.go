//go:build !linux

package loadgen

import "time"

// runQueueWait is not told here.
func runQueueWait() time.Duration { return 0 }
