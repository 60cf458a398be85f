package loadgen

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/internal/http1"
	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

const (
	// A connection is used again only if its answer was read to the end. A
	// server has this long, and this many bytes, to end it after [DONE].
	tailTime  = 500 * time.Millisecond
	tailBytes = 64 << 10
	// maxHeld bounds what the unfinished lines of all streams take together.
	maxHeld = 512 << 20
)

var errTail = errors.New("the server did not end its answer")

// client sends requests of one run; the exchanges of its workers share it.
type client struct {
	template *http.Request
	secrets  []string
	limits   Limits
	clock    *clock
	held     *stream.Budget // of the readers of all exchanges
	// openAI makes go-openai carry the requests; nil with the native transport.
	openAI *openAISide
}

func newClient(cfg *Config, base string, run *clock) (*client, error) {
	req, err := http.NewRequest(http.MethodPost, base+cfg.Endpoint.path(), nil)
	if err != nil {
		return nil, badInput("the target is not a URL: write http://HOST:PORT or https://HOST[/BASE]")
	}
	req.Header = cfg.header()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	c := &client{template: req, secrets: cfg.secrets(), limits: cfg.Limits, clock: run, held: stream.NewBudget(maxHeld)}
	if cfg.Transport == GoOpenAI {
		c.openAI = &openAISide{base: base, key: cfg.APIKey, model: cfg.Model, endpoint: cfg.Endpoint}
	}
	return c, nil
}

// reply is what one exchange measured.
type reply struct {
	marks
	outcome Outcome
	text    string // clean and bounded
	tokens  stream.Tokens
}

// exchange makes one request at a time and keeps its buffers.
type exchange struct {
	*client
	transport http.RoundTripper
	ctx       context.Context // carries the connection trace
	wire      *wire           // carries the requests instead of transport; may be nil
	goOpenAI  *crossCheck     // so does this; nil with the native transport

	reader  stream.Reader
	script  transcript
	conn    *stampConn
	body    io.Reader
	budget  int64         // bytes that may still be read
	reads   int64         // of conn, when it was last looked at
	fresh   bool          // the last read has brought no event yet
	stamped bool          // at is the kernel's time
	at      int64         // arrival of the last read
	marks   marks         // of the request in progress
	rested  int64         // end of the last answer if it was good; 0 if a pause was due
	heard   *atomic.Int64 // when set, told of the last token's arrival
	limit   *deadlines    // of the request in flight
	tail    *time.Timer   // bounds the end of the answer; nil until it is due
	// farewell says that the connection was to end with the last answer: its
	// head said so, or this side gave up on it.
	farewell bool
	// Evidence about this side, kept a request.
	lags                     []int64
	chunks                   []time.Duration // lent to Config.OnRequest
	eventReads, stampedReads int64
}

// newExchange makes requests over a transport of its own: from one shared with
// others, a connection may be lent on before the Read that met the end of its
// answer has returned, and its stamps with it.
func newExchange(ctx context.Context, c *client, transport http.RoundTripper) *exchange {
	e := &exchange{client: c, transport: transport}
	e.script.secrets = c.secrets
	e.reader.Share(c.held)
	e.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: e.gotConn})
	if c.openAI != nil {
		e.goOpenAI = newCrossCheck(e)
	}
	return e
}

// do sends one body and reads the answer to its end.
func (e *exchange) do(body []byte) reply {
	ctx, limit := e.limits.begin(e.ctx, e.clock)
	defer limit.end()
	e.limit = limit
	e.script.reset()
	e.lags, e.eventReads, e.stampedReads = e.lags[:0], 0, 0
	e.conn, e.fresh = nil, false
	now := e.clock.now()
	e.marks, e.at = marks{wanted: now, sent: now}, now
	rested := e.rested
	e.rested = 0

	var r reply
	switch {
	case e.goOpenAI != nil:
		r.outcome, r.text = e.goOpenAI.post(ctx, body)
	case e.wire != nil:
		r.outcome, r.text = e.wire.post(ctx, body)
	default:
		r.outcome, r.text = e.post(ctx, body)
	}
	if e.tail != nil {
		e.tail.Stop()
		e.tail = nil
	}
	e.reader.Release() // a pause may follow
	r.text = cleanText(r.text, e.secrets...)
	r.marks = e.marks
	if r.outcome != OK || r.end == 0 {
		r.end = e.clock.now()
	}
	if rested > 0 {
		r.late = r.sent - rested
	}
	if r.outcome == OK {
		e.rested = r.end
	}
	r.tokens = e.script.tokens()
	if n := len(e.script.times); n > 0 {
		r.first, r.last = e.script.times[0], e.script.times[n-1]
		if n > 1 {
			r.second = e.script.times[1]
		}
		r.visible = e.script.visible
	}
	return r
}

// post sends a body through net/http and reads the answer.
func (e *exchange) post(ctx context.Context, body []byte) (Outcome, string) {
	req := e.template.WithContext(ctx)
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	resp, err := heads(e.transport, req)
	if err != nil {
		o, text := sendFailure(err)
		return byCause(ctx, o, text)
	}
	defer func() { _ = resp.Body.Close() }() // an unread rest only costs the connection
	if e.conn != nil {
		e.marks.sent = max(e.marks.sent, e.conn.wrote.Load())
	}
	e.arrived() // the head
	e.marks.headers = e.at
	e.body, e.budget = resp.Body, math.MaxInt64
	outcome, text := e.answer(ctx, http1.Head{
		Status: resp.StatusCode, Line: resp.Status, ContentType: resp.Header.Get("Content-Type"),
		ContentEncoding: resp.Header.Get("Content-Encoding"), RetryAfter: resp.Header.Get("Retry-After"),
	})
	e.farewell = resp.Close || ctx.Err() != nil
	return outcome, text
}

// Read passes the body on and notes when its bytes arrived.
func (e *exchange) Read(p []byte) (int, error) {
	if e.budget <= 0 {
		return 0, errTail
	}
	n, err := e.body.Read(p[:min(int64(len(p)), e.budget)])
	e.budget -= int64(n)
	if n > 0 {
		e.arrived()
		e.limit.heard.Store(e.at)
	}
	return n, err
}

// arrived sets e.at. Bytes that HTTP's own buffer held arrived with an earlier
// read of the connection. A kernel time that would precede what is already
// known is not believed.
func (e *exchange) arrived() {
	if e.conn == nil {
		e.at, e.fresh, e.stamped = e.clock.now(), true, false
		return
	}
	reads := e.conn.reads.Load()
	if reads == e.reads {
		return
	}
	user, lag := e.conn.at.Load(), e.conn.lag.Load()
	e.reads, e.fresh, e.stamped = reads, true, false
	if lag == noLag || user-lag < e.at {
		e.at = max(e.at, user)
		return
	}
	e.at, e.stamped = user-lag, true
	e.lags = append(e.lags, lag)
}

// consume reads the stream to the end of its body.
func (e *exchange) consume() error {
	e.reader.Reset(e)
	return e.events()
}

// events takes the events that there are until an error.
func (e *exchange) events() error {
	for {
		ev, err := e.reader.Next()
		if err != nil {
			return err
		}
		e.event(ev)
	}
}

// event takes one, which the last read completed.
func (e *exchange) event(ev stream.Event) {
	if e.fresh {
		e.fresh = false
		e.eventReads++
		if e.stamped {
			e.stampedReads++
		}
	}
	if !e.script.over() {
		e.marks.end = e.at
	}
	// An error may be followed by usage, which counts in the totals.
	before := len(e.script.times)
	e.script.event(ev, e.at)
	if before == 0 && len(e.script.times) > 0 {
		e.limit.firstToken()
	}
	if n := len(e.script.times); e.heard != nil && n > 0 {
		e.heard.Store(e.script.times[n-1])
	}
	if e.tail == nil && e.script.over() {
		e.budget = tailBytes
		e.endSoon()
	}
}

// endSoon gives the server some time to end its answer.
func (e *exchange) endSoon() { e.tail = time.AfterFunc(tailTime, e.limit.giveUp) }

// answer reads what follows a head and judges it.
func (e *exchange) answer(ctx context.Context, h http1.Head) (Outcome, string) {
	if isStream(h) {
		return e.streamed(ctx, e.consume())
	}
	e.endSoon()
	whole, _ := io.ReadAll(io.LimitReader(e, maxBody)) // what came is enough to quote
	return e.refused(h, whole)
}
