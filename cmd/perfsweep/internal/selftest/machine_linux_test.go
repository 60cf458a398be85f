package selftest

import (
	"testing"
	"time"
)

func TestBusyOf(t *testing.T) {
	const stat = "cpu  100 20 30 4000 500 6 7 8 99 99\ncpu0 1 1 1 1 1 1 1 1 0 0\n"
	if got := busyOf(stat); got != (100+20+30+6+7+8)*10*time.Millisecond {
		t.Errorf("busy for %s", got)
	}
	for _, bad := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7 x"} {
		if got := busyOf(bad); got != 0 {
			t.Errorf("%q: busy for %s", bad, got)
		}
	}
	if machineBusy() <= 0 {
		t.Error("this machine was never busy")
	}
}

func TestPSSOf(t *testing.T) {
	if got := pssOf([]byte("00400000-7fff ---p 00000000 00:00 0 [rollup]\nRss:  4096 kB\nPss:  2048 kB\nPss_Dirty: 1 kB\n")); got != 2 {
		t.Errorf("%g MiB", got)
	}
	for _, bad := range []string{"", "Rss: 1 kB\n", "Pss: many kB\n"} {
		if got := pssOf([]byte(bad)); got != 0 {
			t.Errorf("%q: %g MiB", bad, got)
		}
	}
	stop := make(chan struct{})
	close(stop)
	if watchPSS(stop) <= 0 {
		t.Error("this process has no memory")
	}
}
