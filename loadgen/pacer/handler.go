package pacer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	maxBody       = 16 << 20
	defaultTokens = 128
	maxTokens     = 1 << 20
)

// order is what a request asks for.
type order struct {
	Model    string `json:"model"`
	Messages []struct {
		Content string `json:"content"`
	} `json:"messages"`
	MaxTokens           int  `json:"max_tokens"`
	MaxCompletionTokens int  `json:"max_completion_tokens"`
	Stream              bool `json:"stream"`
}

func (o *order) tokens() int {
	n := max(o.MaxTokens, o.MaxCompletionTokens)
	if n <= 0 {
		n = defaultTokens
	}
	return min(n, maxTokens)
}

// words is the prompt's length as this server counts tokens.
func (o *order) words() int {
	n := 0
	for _, m := range o.Messages {
		n += len(strings.Fields(m.Content))
	}
	return n
}

// handler reads the requests of one connection. While an answer is being
// written it waits: the shard owns the connection's write side then.
type handler struct {
	srv   *Server
	shard *shard
	conn  *stamped
	ended chan bool // by the shard: whether the answer went out whole
	buf   []byte    // of the answer, kept between requests
}

func (h *handler) serve() {
	in := bufio.NewReader(h.conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return // the client closed, or does not speak HTTP
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil || !h.route(r, body) {
			return
		}
	}
}

// route answers one request; false ends the connection.
func (h *handler) route(r *http.Request, body []byte) bool {
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/models":
		return h.json(http.StatusOK, fmt.Sprintf(`{"object":"list","data":[{"id":%s,"object":"model","created":1,"owned_by":"perfsweep"}]}`, quote(h.srv.p.Model)))
	case "POST /v1/chat/completions":
		return h.complete(body)
	}
	return h.refuse(http.StatusNotFound, "this server has GET /v1/models and POST /v1/chat/completions only")
}

func (h *handler) complete(body []byte) bool {
	var o order
	if err := json.Unmarshal(body, &o); err != nil {
		return h.refuse(http.StatusBadRequest, "the body is not a chat request: "+err.Error())
	}
	if !o.Stream {
		return h.refuse(http.StatusBadRequest, `this server streams only: send "stream":true`)
	}
	received := h.conn.received(h.srv)
	a := newAnswer(h, &o, received)
	if _, err := io.WriteString(h.conn, streamHead); err != nil {
		a.close(false)
		return false
	}
	h.shard.add(a)
	select {
	case whole := <-h.ended:
		return whole
	case <-h.srv.done:
		return false
	}
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"

func (h *handler) refuse(status int, why string) bool {
	return h.json(status, fmt.Sprintf(`{"error":{"message":%s,"type":"invalid_request_error","code":%d}}`, quote(why), status))
}

func (h *handler) json(status int, body string) bool {
	_, err := fmt.Fprintf(h.conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
	return err == nil
}

// quote never fails: a string has a JSON form.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
