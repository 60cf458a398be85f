package main

import (
	"os"
	"testing"
)

// TestOwnClock: the clock of another process is read right, seen on our own.
func TestOwnClock(t *testing.T) {
	before := ownTime()
	first, ok := cpuOf(os.Getpid())
	if !ok {
		t.Fatal("this process has no CPU clock")
	}
	sum := 0
	for ownTime() < before+20e6 { // burn 20 ms
		sum++
	}
	second, _ := cpuOf(os.Getpid())
	if second-first < 10e6 || sum == 0 {
		t.Errorf("20 ms of work took %s on the clock", second-first)
	}
	if _, ok := cpuOf(1 << 27); ok {
		t.Error("a process that is not there has a CPU clock")
	}
	if pssOf(os.Getpid()) < 1 || pssOf(1<<27) != 0 {
		t.Errorf("memory: %g MiB, and %g of a process that is not there", pssOf(os.Getpid()), pssOf(1<<27))
	}
	if others := watchOthers()(); others < 0 || others > 1 {
		t.Errorf("others use %g of the machine", others)
	}
}
