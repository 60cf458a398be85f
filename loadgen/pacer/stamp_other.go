//go:build !(linux && (amd64 || arm64))

package pacer

import (
	"net"
	"time"
)

const kernelTimes = false

// stamped is a connection that knows when it was last read from.
type stamped struct {
	net.Conn
	at time.Time
}

func stampListener(net.Listener) {}

func newStamped(c net.Conn) *stamped { return &stamped{Conn: c} }

// Read is net.Conn's.
func (s *stamped) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.at = time.Now()
	return n, err
}

func (s *stamped) received(srv *Server) int64 { return int64(s.at.Sub(srv.start)) }

func kernelSleep(d time.Duration) { time.Sleep(d) }
