package loadgen

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// runQueueWait is how long the threads of this process have been runnable
// without a CPU: the second field of schedstat, which the kernel keeps a
// thread. It is 0 where the kernel keeps none.
func runQueueWait() time.Duration {
	const tasks = "/proc/self/task/"
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return 0
	}
	var sum time.Duration
	for _, e := range entries {
		b, err := os.ReadFile(tasks + e.Name() + "/schedstat")
		if err != nil {
			continue // the thread has ended
		}
		fields := bytes.Fields(b)
		if len(fields) < 2 {
			continue
		}
		n, err := strconv.ParseInt(string(fields[1]), 10, 64)
		if err == nil {
			sum += time.Duration(n)
		}
	}
	return sum
}
