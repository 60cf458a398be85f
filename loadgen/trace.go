package loadgen

import (
	"crypto/tls"
	"net/http/httptrace"
)

// gotConn notes what it took to get a connection; it is called by the goroutine
// that waits for one. One that was dialled for an earlier request and waited in
// the pool took nothing. A second call in one request is a kept-alive
// connection found closed before anything was written; the server never saw
// that attempt.
func (e *exchange) gotConn(info httptrace.GotConnInfo) {
	m := &e.marks
	m.sent = e.clock.now()
	m.connect, m.tls, m.wait, m.dialled = 0, 0, m.sent-m.wanted, false
	e.at = m.sent
	if e.conn = stamped(info.Conn); e.conn == nil {
		return
	}
	e.reads = e.conn.reads.Load()
	e.conn.wrote.Store(0)
	if info.Reused || info.WasIdle {
		return
	}
	m.dialled, m.connect = true, e.conn.dialEnd-e.conn.dialFrom
	if _, ok := info.Conn.(*tls.Conn); ok {
		m.tls = m.sent - e.conn.dialEnd
	}
	m.wait -= m.connect + m.tls
}
