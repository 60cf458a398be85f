package enginesim

import (
	"context"
	"net"
	"sync"
)

// memoryListener accepts connections made by dial. They are synchronous pipes:
// a goroutine that waits on one counts as blocked in a synctest bubble, which
// a socket's does not.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memoryListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, l.refused(net.ErrClosed)
	case <-ctx.Done():
		return nil, l.refused(ctx.Err())
	}
}

func (l *memoryListener) refused(err error) error {
	return &net.OpError{Op: "dial", Net: "memory", Addr: l.Addr(), Err: err}
}

// Accept is for http.Server.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close is for http.Server, which may call it more than once.
func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is for http.Server.
func (l *memoryListener) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "simulator" }
