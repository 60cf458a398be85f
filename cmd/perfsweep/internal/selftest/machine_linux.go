package selftest

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processCPU is the user and system time of this process.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// userHZ is the unit of /proc/stat on every Linux that Go runs on.
const userHZ = 100

// machineBusy is the time that all CPUs have spent on work, stolen time
// included; 0 where that is not told.
func machineBusy() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return busyOf(string(text))
}

// busyOf sums user, nice, system, irq, softirq and steal of the first line.
func busyOf(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0
	}
	var ticks int64
	for i, s := range f[1:9] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0
		}
		if i != 3 && i != 4 { // idle and iowait
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / userHZ
}

// pss is this process's proportional share of memory in MiB, 0 if not told.
func pss() float64 {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0
	}
	return pssOf(text)
}

func pssOf(rollup []byte) float64 {
	for line := range bytes.Lines(rollup) {
		if rest, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(rest)), "kB")), 64)
			if err != nil {
				return 0
			}
			return kib / 1024
		}
	}
	return 0
}

// watchPSS returns the largest value seen until stop. Reading it walks the
// page tables, so it is not done often.
func watchPSS(stop <-chan struct{}) float64 {
	most := pss()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return max(most, pss())
		case <-tick.C:
			most = max(most, pss())
		}
	}
}
