//go:build linux && (amd64 || arm64)

package pacer

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"
)

const kernelTimes = true

// stamped is a connection that knows when the kernel received what was last
// read from it.
type stamped struct {
	net.Conn
	raw     syscall.RawConn // nil: not a socket
	attempt func(fd uintptr) bool
	msg     syscall.Msghdr
	iov     syscall.Iovec
	control [8]uint64 // words, for the alignment of what the kernel writes
	n       int
	errno   syscall.Errno
	lag     int64 // how long the kernel had held the last read's end
	at      time.Time
}

// stampListener asks on the listening socket, whose connections inherit it, so
// that what arrives before Accept is stamped too.
func stampListener(l net.Listener) {
	if t, ok := l.(*net.TCPListener); ok {
		if raw, err := t.SyscallConn(); err == nil {
			// Refused, requests are timed by when they were read.
			_ = raw.Control(func(fd uintptr) {
				_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
			})
		}
	}
}

func newStamped(c net.Conn) *stamped {
	s := &stamped{Conn: c}
	if t, ok := c.(*net.TCPConn); ok {
		if raw, err := t.SyscallConn(); err == nil {
			s.raw, s.attempt = raw, s.receive
		}
	}
	return s
}

// receive is one attempt to read; false waits for the poller.
func (s *stamped) receive(fd uintptr) bool {
	s.msg = syscall.Msghdr{Iov: &s.iov, Iovlen: 1, Control: (*byte)(unsafe.Pointer(&s.control))}
	s.msg.SetControllen(int(unsafe.Sizeof(s.control)))
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.msg)), syscall.MSG_DONTWAIT)
		switch errno {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		s.n, s.errno = int(n), errno
		return true
	}
}

// Read is net.Conn's.
func (s *stamped) Read(p []byte) (int, error) {
	if s.raw == nil || len(p) == 0 {
		n, err := s.Conn.Read(p)
		s.at, s.lag = time.Now(), 0
		return n, err
	}
	s.iov.Base = &p[0]
	s.iov.SetLen(len(p))
	err := s.raw.Read(s.attempt)
	s.iov.Base = nil
	switch {
	case err != nil:
		return 0, err
	case s.errno != 0:
		return 0, os.NewSyscallError("recvmsg", s.errno)
	case s.n == 0:
		return 0, io.EOF
	}
	s.at, s.lag = time.Now(), 0
	const header = syscall.SizeofCmsghdr
	h := (*syscall.Cmsghdr)(unsafe.Pointer(&s.control))
	if s.msg.Controllen >= uint64(header+unsafe.Sizeof(syscall.Timespec{})) && h.Level == syscall.SOL_SOCKET && h.Type == syscall.SO_TIMESTAMPNS {
		ts := (*syscall.Timespec)(unsafe.Add(unsafe.Pointer(&s.control), header))
		// The two clocks are paired at every read. A wall clock that was
		// stepped meanwhile gives nonsense, which is not used.
		if lag := s.at.UnixNano() - ts.Nano(); lag > 0 && lag < int64(time.Minute) {
			s.lag = lag
		}
	}
	return s.n, nil
}

// received is the receive time of the last read, since the server's start.
func (s *stamped) received(srv *Server) int64 { return int64(s.at.Sub(srv.start)) - s.lag }

// kernelSleep waits in the kernel; a signal may cut it short.
func kernelSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
