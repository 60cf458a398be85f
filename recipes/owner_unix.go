//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of the one that it replaces, as
// far as this user may: root keeps both, others their own.
func keepOwner(f *os.File, old fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return fmt.Errorf("keeping its owner: %w", err)
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	is, known := now.Sys().(*syscall.Stat_t)
	if !ok || !known || was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	err = f.Chown(int(was.Uid), int(was.Gid))
	if errors.Is(err, fs.ErrPermission) {
		err = f.Chown(-1, int(was.Gid))
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("keeping its owner: %w", err)
	}
	return nil
}

// claim marks a temp file as that of a living process: the kernel drops the lock
// with the last descriptor, however the process ends. Where there are no locks,
// leftovers are not told from files in use, and stay.
func claim(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// tryLock takes the lock of an open folder, false where another process has it.
// Where folders cannot be locked, such as on some network file systems, there is
// none to wait for.
func tryLock(d *os.File) bool {
	return !errors.Is(syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// unclaimed reports whether no process has a temp file.
func unclaimed(path string) bool {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }() // only read
	return syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
