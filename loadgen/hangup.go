package loadgen

import "time"

// hangUpWait is how long a probe waits for the server to close a connection
// that it has not announced to close.
const hangUpWait = 50 * time.Millisecond

// hangsUp reports that the server closed the connection of the last answer
// although its head did not say so. llama.cpp does after every stream. The
// close races with the next request on that connection, which is lost if it is
// written first, so such a connection must not be used again.
func (e *exchange) hangsUp(within time.Duration) bool {
	switch {
	case e.farewell:
		return false
	case e.wire != nil:
		return e.wire.closedBy(within)
	case e.conn == nil:
		return false
	}
	wait := time.NewTimer(within)
	defer wait.Stop()
	select {
	case <-e.conn.gone:
		return true
	case <-wait.C:
		return false
	}
}

// learnHangUp looks at the end of the first answered probe, and from then on
// waits for the end of each connection, which the next probe must not meet.
func (pr *prober) learnHangUp() {
	known := pr.p.HangsUp
	if pr.p.Requests > 1 && !known || !pr.e.hangsUp(hangUpWait) || known {
		return
	}
	pr.p.HangsUp = true
	pr.p.Warnings = append(pr.p.Warnings, "the server closes the connection after each answer without saying so: every request opens its own")
}
