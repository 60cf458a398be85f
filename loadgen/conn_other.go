//go:build !linux || !(amd64 || arm64)

package loadgen

import "net"

// wireConns says that unused can tell of a socket: without that, requests go
// through net/http, which watches its idle connections.
const wireConns = false

// newConn wraps a dialled connection; arrival times are those of user space.
func newConn(c net.Conn, run *clock, stats *netStats) net.Conn {
	return &stampConn{Conn: c, clock: run, stats: stats}
}

// unused reports that an idle connection may carry a request.
func unused(c net.Conn) bool { return unusedInMemory(c) }
