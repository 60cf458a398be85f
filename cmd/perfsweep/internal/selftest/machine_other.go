//go:build !linux

package selftest

import "time"

func processCPU() time.Duration { return 0 }

func machineBusy() time.Duration { return 0 }

func watchPSS(stop <-chan struct{}) float64 {
	<-stop
	return 0
}
