//go:build !linux

package main

import (
	"math"
	"time"
)

func cpuOf(int) (time.Duration, bool) { return 0, false }

func pssOf(int) float64 { return 0 }

func watchOthers() func() float64 { return math.NaN }
