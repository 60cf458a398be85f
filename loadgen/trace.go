package loadgen

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
)

// gotConn is got for net/http; it is called by the goroutine that waits for a
// connection.
func (e *exchange) gotConn(info httptrace.GotConnInfo) {
	e.got(info.Conn, !info.Reused && !info.WasIdle)
}

// got notes what it took to get a connection. One that was dialled for an
// earlier request and waited in the pool took nothing. A second call in one
// request is a kept-alive connection found closed before anything was written;
// the server never saw that attempt.
func (e *exchange) got(c net.Conn, dialled bool) {
	m := &e.marks
	m.sent = e.clock.now()
	m.connect, m.tls, m.wait, m.dialled = 0, 0, m.sent-m.wanted, false
	e.at = m.sent
	if e.conn = stamped(c); e.conn == nil {
		return
	}
	e.reads = e.conn.reads.Load()
	e.conn.wrote.Store(0)
	if !dialled {
		return
	}
	m.dialled, m.connect = true, e.conn.dialEnd-e.conn.dialFrom
	if _, ok := c.(*tls.Conn); ok {
		m.tls = m.sent - e.conn.dialEnd
	}
	m.wait -= m.connect + m.tls
}
