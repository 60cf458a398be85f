package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// rawMain is the least that a streaming load generator can do: one goroutine a
// stream, a request of fixed bytes, a scan of lines for tokens, and a time for
// the first of them. It trusts the framing of the paced server.
//
//	figures raw HOST:PORT STREAMS REQUESTS WARMUP TOKENS
func rawMain(args []string, stdout io.Writer) error {
	if len(args) != 5 {
		return errors.New("usage: figures raw HOST:PORT STREAMS REQUESTS WARMUP TOKENS")
	}
	var n [4]int
	for i, a := range args[1:] {
		v, err := strconv.Atoi(a)
		if err != nil || v < 0 {
			return fmt.Errorf("%q is not a number", a)
		}
		n[i] = v
	}
	r := &raw{addr: args[0], request: rawRequest(args[0], n[3]), tokens: n[3]}
	r.conns = make([]net.Conn, n[0])
	for i := range r.conns {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			return fmt.Errorf("stream %d: %w", i, err)
		}
		defer func() { _ = c.Close() }()
		r.conns[i] = c
	}
	if n[2] > 0 {
		if _, err := r.round(n[2]); err != nil {
			return err
		}
	}
	rep, err := r.round(n[1])
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(rep)
}

// rawReport is under AIPerf's notions: first send to last token.
type rawReport struct {
	Tokens    float64 `json:"output_tokens"`
	Seconds   float64 `json:"duration_s"`
	TokPerSec float64 `json:"tok_per_s"`
	TTFTP50MS float64 `json:"ttft_p50_ms"`
	TTFTP99MS float64 `json:"ttft_p99_ms"`
}

type raw struct {
	addr    string
	request []byte
	tokens  int
	conns   []net.Conn
}

func rawRequest(addr string, tokens int) []byte {
	body := fmt.Sprintf(`{"model":"paced","messages":[{"role":"user","content":"%s"}],"max_completion_tokens":%d,"stream":true,"stream_options":{"include_usage":true},"temperature":0}`,
		strings.TrimSpace(strings.Repeat("w0042 ", 128)), tokens)
	return fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", addr, len(body), body)
}

// round makes requests on all streams until they are used up.
func (r *raw) round(requests int) (rawReport, error) {
	var left atomic.Int64
	left.Store(int64(requests))
	start := time.Now()
	var mu sync.Mutex
	var ttft []float64
	var last time.Duration
	var errs []error
	var streams sync.WaitGroup
	for _, c := range r.conns {
		streams.Go(func() {
			var mine []float64
			var until time.Duration
			var err error
			s := &rawStream{conn: c, in: make([]byte, 4096)}
			for err == nil && left.Add(-1) >= 0 {
				var first time.Duration
				sent := time.Since(start)
				first, until, err = s.ask(r, start)
				mine = append(mine, (first-sent).Seconds()*1e3)
			}
			mu.Lock()
			defer mu.Unlock()
			ttft, last, errs = append(ttft, mine...), max(last, until), append(errs, err)
		})
	}
	streams.Wait()
	if err := errors.Join(errs...); err != nil {
		return rawReport{}, err
	}
	return rawReport{
		Tokens: float64(requests * r.tokens), Seconds: last.Seconds(),
		TokPerSec: float64(requests*r.tokens) / last.Seconds(), TTFTP50MS: rank(ttft, .5), TTFTP99MS: rank(ttft, .99),
	}, nil
}

type rawStream struct {
	conn  net.Conn
	in    []byte
	carry []byte
}

var (
	rawToken = []byte(`"content":"`)
	rawEnd   = []byte("0\r")
	rawOK    = []byte("HTTP/1.1 200")
)

// ask makes one request; times are since start.
func (s *rawStream) ask(r *raw, start time.Time) (first, last time.Duration, err error) {
	if _, err := s.conn.Write(r.request); err != nil {
		return 0, 0, fmt.Errorf("sending: %w", err)
	}
	tokens, ended, head := 0, false, true
	for {
		n, err := s.conn.Read(s.in)
		if err != nil {
			return 0, 0, fmt.Errorf("reading: %w", err)
		}
		now := time.Since(start)
		b := s.in[:n]
		if len(s.carry) > 0 {
			s.carry = append(s.carry, b...)
			b = s.carry
		}
		for {
			i := bytes.IndexByte(b, '\n')
			if i < 0 {
				break
			}
			line := b[:i]
			b = b[i+1:]
			switch {
			case head:
				head = false
				if !bytes.HasPrefix(line, rawOK) {
					return 0, 0, fmt.Errorf("the server answered %q", line)
				}
			case bytes.Contains(line, rawToken):
				if tokens++; tokens == 1 {
					first = now
				}
				last = now
			case bytes.Equal(line, rawEnd):
				ended = true
			case ended && len(line) == 1:
				if tokens != r.tokens {
					return 0, 0, fmt.Errorf("%d tokens, asked for %d", tokens, r.tokens)
				}
				s.carry = s.carry[:0]
				return first, last, nil
			}
		}
		s.carry = append(s.carry[:0], b...)
	}
}
