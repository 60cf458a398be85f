//go:build unix

package loadgen

import (
	"fmt"
	"syscall"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// spareFiles are the descriptors that everything but the streams needs.
const spareFiles = 256

// processCPU is the user and system time of this process.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// CheckStreams refuses a number of streams for which the process may not open
// enough sockets. The Go runtime has already raised the soft limit to the hard
// one.
func CheckStreams(streams int) error {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return nil
	}
	if need := uint64(streams) + spareFiles; uint64(l.Cur) < need {
		return fmt.Errorf("%s %s %s and the limit is %d: raise it (ulimit -n %d) or use fewer streams", plural.Of(streams, "stream"), plural.Verb(streams, "needs", "need"), plural.Of(need, "open file"), l.Cur, need)
	}
	return nil
}
