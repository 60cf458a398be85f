package loadgen

import (
	"syscall"
	"unsafe"
)

// The clocks of Linux's clock_gettime(2) that differ by the time for which the
// machine was suspended.
const clockMonotonic, clockBoottime = 1, 7

// machineSlept is for how long this machine has been suspended since it started.
// The clock that counts sleep is read first: what passes between the two reads
// makes the difference smaller, and no sleep is made up.
func machineSlept() int64 {
	all, okAll := clockTime(clockBoottime)
	awake, okAwake := clockTime(clockMonotonic)
	if !okAll || !okAwake {
		return 0
	}
	return all - awake
}

func clockTime(id uintptr) (ns int64, ok bool) {
	var t syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano(), errno == 0
}
