//go:build linux && (amd64 || arm64)

package loadgen

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// wireConns says that unused can tell of a socket.
const wireConns = true

// Of linux/tcp.h; package syscall has neither.
const (
	tcpInq   = 36 // TCP_INQ, the socket option
	tcpCmInq = tcpInq
)

// pump reads until take has enough, with one system call and one wake-up of
// this goroutine a chunk: a plain Read finds nothing, waits for the poller, and
// reads again.
//
// It stays inside of one RawConn.Read, whose function runs, waits for the
// poller when it returned false, and runs again. Go's poller is edge-triggered:
// an edge that comes while the function runs is kept, and the wait returns at
// once; only a new RawConn.Read forgets edges, and that begins with a read. So
// nothing is lost as long as the function does not wait for what had come
// before its last system call, because there will be no edge for that. With
// TCP_INQ the kernel tells at the end of each recvmsg how much more there is,
// and counts the end of the stream as a byte (tcp_inq_hint in net/ipv4/tcp.c):
// 0 means that whatever comes next comes with an edge of its own. Without the
// message the function reads until there is nothing.
//
// What TCP_INQ does not count is a reset that came together with the bytes
// before it. nudge, called when nothing arrives for a while, finds it.
func (k *kernelConn) pump(take func([]byte) bool) error {
	k.taker = take
	defer func() { k.taker = nil }()
	err := k.raw.Read(k.pumpFunc)
	for errors.Is(err, os.ErrDeadlineExceeded) { // nudged: nothing else sets deadlines here
		if err = k.SetReadDeadline(time.Time{}); err == nil {
			err = k.raw.Read(k.pumpFunc)
		}
	}
	switch {
	case err != nil:
		return err
	case k.errno != 0:
		return os.NewSyscallError("recvmsg", k.errno)
	case k.n == 0:
		return io.EOF
	}
	return nil
}

// nudge makes a waiting pump look at the socket.
func (k *kernelConn) nudge() { _ = k.SetReadDeadline(time.Unix(1, 0)) } // closed: the pump knows

// received is a message with room for its bytes.
type received struct {
	message
	in [receiveBuffer]byte
}

// receiveAll takes what there is; false waits for the poller.
func (k *kernelConn) receiveAll(fd uintptr) bool {
	to, ok := k.stats.received.Get().(*received)
	if !ok {
		to = &received{}
		to.iov.Base = &to.in[0]
		to.iov.SetLen(len(to.in))
	}
	done := k.receiveInto(fd, to)
	k.stats.received.Put(to)
	return done
}

func (k *kernelConn) receiveInto(fd uintptr, to *received) bool {
	for k.receiveTo(fd, &to.message) {
		if k.errno != 0 || k.n == 0 {
			return true
		}
		k.stamp(to.kernelTime())
		if k.taker(to.in[:k.n]) {
			return true
		}
		if to.drained() {
			return false
		}
	}
	return false
}

// drained reports that this read left nothing, by the kernel's word.
func (to *message) drained() bool {
	left := to.told(syscall.IPPROTO_TCP, tcpCmInq, unsafe.Sizeof(int32(0)))
	return left != nil && *(*int32)(left) == 0
}

// unused reports that an idle connection may carry a request: its server has
// neither closed it nor sent what nobody asked for.
func unused(c net.Conn) bool {
	s := stamped(c)
	socket, ok := s.Conn.(syscall.Conn)
	if !ok {
		return unusedInMemory(c)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	idle := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if n > 0 {
			s.stats.stray.Add(1)
		}
		idle = err == syscall.EAGAIN || err == syscall.EINTR
	})
	return err == nil && idle
}
