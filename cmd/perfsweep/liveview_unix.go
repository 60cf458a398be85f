//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/live"
)

// watchTerminal draws anew when the window changes its size. A process that was
// stopped goes on below what the shell wrote meanwhile.
func watchTerminal(s *live.Screen) (end func()) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGWINCH, syscall.SIGCONT)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-told:
				if sig == syscall.SIGCONT {
					s.Forget()
				}
				s.Redraw()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(told)
		close(done)
	}
}
