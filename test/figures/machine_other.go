//go:build !linux

package main

import (
	"errors"
	"io"
	"math"
	"time"
)

func cpuOf(int) (time.Duration, bool) { return 0, false }

func pssOf(int) float64 { return 0 }

func watchOthers() func() float64 { return math.NaN }

func pinMain([]string, io.Writer) error { return errors.New("cores are chosen on Linux only") }
