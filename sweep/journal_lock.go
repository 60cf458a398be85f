//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sweep

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the exclusive lock of a journal. The kernel drops it when the
// process ends, however it ends.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another process is writing it; wait for it to end, or name another file")
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}
