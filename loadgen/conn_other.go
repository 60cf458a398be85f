//go:build !linux || !(amd64 || arm64)

package loadgen

import "net"

// newConn wraps a dialled connection; arrival times are those of user space.
func newConn(c net.Conn, run *clock, stats *netStats) net.Conn {
	return &stampConn{Conn: c, clock: run, stats: stats}
}
