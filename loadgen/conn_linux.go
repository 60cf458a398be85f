//go:build linux && (amd64 || arm64)

package loadgen

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	// armedReads is how many reads after a write re-arm TCP_QUICKACK: a request
	// larger than the window is still being sent while the first are read.
	armedReads = 2
	// fullSegment is below the smallest segment that Linux may take for a full
	// one (TCP_MSS_DEFAULT, 536 bytes). Before Linux 6.6 a full segment was not
	// acknowledged on reading, so a read of this size re-arms as well.
	fullSegment = 512
)

// kernelConn reads with recvmsg, which brings the kernel's receive time of the
// last segment with the bytes, and keeps TCP_QUICKACK armed. Servers that leave
// Nagle on (Dynamo's frontend does) hold a chunk back until the last one is
// acknowledged; Linux delays that by 40 ms on a kept-alive connection unless
// told otherwise. It forgets being told when it sends data (tcp_event_data_sent
// in net/ipv4/tcp_output.c), so once a request suffices, not once a token: out
// of that mode each small segment is acknowledged as it is read
// (tcp_cleanup_rbuf).
type kernelConn struct {
	stampConn
	raw      syscall.RawConn
	own      message // of Read
	n        int
	errno    syscall.Errno
	readFunc func(fd uintptr) bool
	ackFunc  func(fd uintptr)
	pumpFunc func(fd uintptr) bool
	taker    func([]byte) bool // of the pump
	// toArm is written by the goroutine that sends and read by the one that
	// reads.
	toArm atomic.Int32
}

// newConn wraps a dialled connection; a TCP connection gets both services
// unless the kernel refuses one.
func newConn(c net.Conn, run *clock, stats *netStats) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return &stampConn{Conn: c, clock: run, stats: stats}
	}
	k := &kernelConn{stampConn: stampConn{Conn: c, clock: run, stats: stats}}
	var stampErr, ackErr error
	raw, err := tcp.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			stampErr = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
			ackErr = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
			// Without it (before Linux 4.18) a pump reads once more a chunk.
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpInq, 1)
		})
	}
	if err != nil || stampErr != nil || ackErr != nil {
		return &k.stampConn
	}
	stats.armed.Add(1)
	// Closures of the connection: none is made a read.
	k.raw, k.readFunc, k.ackFunc, k.pumpFunc = raw, k.receive, armQuickACK, k.receiveAll
	return k
}

func armQuickACK(fd uintptr) {
	on := int32(1)
	// A failure shows as the 43 ms TTFT floor; there is nothing to do here.
	_, _, _ = syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK,
		uintptr(unsafe.Pointer(&on)), unsafe.Sizeof(on), 0)
}

// message is what one recvmsg takes and fills.
type message struct {
	msg     syscall.Msghdr
	iov     syscall.Iovec
	control [8]uint64 // words, for the alignment of what the kernel writes
}

// receive is one attempt to read for Read; false waits for the poller.
func (k *kernelConn) receive(fd uintptr) bool { return k.receiveTo(fd, &k.own) }

// receiveTo is one attempt to read; false says that there is nothing yet.
func (k *kernelConn) receiveTo(fd uintptr, to *message) bool {
	to.msg = syscall.Msghdr{Iov: &to.iov, Iovlen: 1, Control: (*byte)(unsafe.Pointer(&to.control))}
	to.msg.SetControllen(int(unsafe.Sizeof(to.control)))
	n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&to.msg)), syscall.MSG_DONTWAIT)
	for errno == syscall.EINTR {
		n, _, errno = syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&to.msg)), syscall.MSG_DONTWAIT)
	}
	if errno == syscall.EAGAIN {
		return false
	}
	k.n, k.errno = int(n), errno
	if errno == 0 && n > 0 {
		if left := k.toArm.Load(); left > 0 {
			k.toArm.Store(left - 1)
			armQuickACK(fd)
		} else if n >= fullSegment {
			armQuickACK(fd)
		}
	}
	return true
}

func (k *kernelConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	k.own.iov.Base = &p[0]
	k.own.iov.SetLen(len(p))
	err := k.raw.Read(k.readFunc)
	k.own.iov.Base = nil
	switch {
	case err != nil:
		return 0, err
	case k.errno != 0:
		return 0, os.NewSyscallError("recvmsg", k.errno)
	case k.n == 0:
		return 0, io.EOF
	}
	k.stamp(k.own.kernelTime())
	return k.n, nil
}

// kernelTime is the receive time in the control messages, or 0.
func (to *message) kernelTime() int64 {
	data := to.told(syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, unsafe.Sizeof(syscall.Timespec{}))
	if data == nil {
		return 0
	}
	return (*syscall.Timespec)(data).Nano()
}

// told finds a control message, or nil.
func (to *message) told(level, kind int32, size uintptr) unsafe.Pointer {
	const header = syscall.SizeofCmsghdr
	for at, end := uintptr(0), uintptr(to.msg.Controllen); at+header <= end; {
		h := (*syscall.Cmsghdr)(unsafe.Add(unsafe.Pointer(&to.control), at))
		if h.Len < header || at+uintptr(h.Len) > end {
			break
		}
		if h.Level == level && h.Type == kind && uintptr(h.Len) >= header+size {
			return unsafe.Add(unsafe.Pointer(&to.control), at+header)
		}
		at += (uintptr(h.Len) + 7) &^ 7
	}
	return nil
}

func (k *kernelConn) Write(p []byte) (int, error) {
	n, err := k.stampConn.Write(p)
	if err == nil {
		k.toArm.Store(armedReads)
		err = k.raw.Control(k.ackFunc)
	}
	return n, err
}
