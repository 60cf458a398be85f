//go:build !unix

package loadgen

import "time"

func processCPU() time.Duration { return 0 }

// CheckStreams knows no limit here.
func CheckStreams(int) error { return nil }
