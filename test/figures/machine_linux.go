package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// cpuOf is the CPU time of all threads of another process, to the nanosecond:
// /proc has it in hundredths of a second only. The clock's number is that of
// clock_getcpuclockid.
func cpuOf(pid int) (time.Duration, bool) {
	const sched = 2
	clock := ^pid<<3 | sched
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(int32(clock)), uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano()), errno == 0
}

// pssOf is another process's proportional share of memory in MiB.
func pssOf(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0 // it has ended
	}
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) == 3 && f[0] == "Pss:" {
			kib, _ := strconv.ParseFloat(f[1], 64)
			return kib / 1024
		}
	}
	return 0
}

// watchOthers returns a function that tells the share of the machine's CPU
// that went to neither this process nor its children since.
func watchOthers() func() float64 {
	at, busy, own := time.Now(), busyTime(), ownTime()
	return func() float64 {
		if busy == 0 {
			return math.NaN()
		}
		others := busyTime() - busy - (ownTime() - own)
		return min(1, max(0, others.Seconds()/time.Since(at).Seconds()/float64(runtime.NumCPU())))
	}
}

func busyTime() time.Duration {
	const userHZ = 100
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var ticks time.Duration
	for i, f := range strings.Fields(line) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i != 4 && i != 5 && i < 9 { // idle, iowait
			ticks += time.Duration(n)
		}
	}
	return ticks * time.Second / userHZ
}

func ownTime() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return total
}

// pinMain becomes another program that stays on one core; the Go runtime then
// takes that for the whole machine.
//
//	figures pin CORE PROGRAM ARGUMENT…
func pinMain(args []string, _ io.Writer) error {
	if len(args) < 2 {
		return errors.New("usage: figures pin CORE PROGRAM ARGUMENT…")
	}
	core, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not the number of a core", args[0])
	}
	program, err := exec.LookPath(args[1])
	if err != nil {
		return fmt.Errorf("finding the program: %w", err)
	}
	runtime.LockOSThread()
	var set [1024 / 64]uint64
	if core >= 1024 {
		return fmt.Errorf("core %d is beyond the 1024 that are known here", core)
	}
	set[core/64] = 1 << (core % 64)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set))); errno != 0 {
		return fmt.Errorf("moving to core %d: %w", core, errno)
	}
	return syscall.Exec(program, args[1:], os.Environ())
}
