package enginesim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// client is a closed loop of the test's own: it knows the wire and nothing of
// the engine.
type client struct {
	http  *http.Client
	base  string
	model string
}

func memoryClient(s *Sim) *client {
	return &client{base: "http://simulator", model: s.Params().Model,
		http: &http.Client{Transport: &http.Transport{DialContext: s.Dial, MaxIdleConnsPerHost: 4096}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// reply is what one streamed answer looked like from outside.
type reply struct {
	status     int
	sent       time.Time
	first, end time.Time
	words      int // content tokens seen
	usage      int // completion_tokens, −1 without
	failed     string
	chunks     []arrival
}

type arrival struct {
	at    time.Time
	words int
}

func (r reply) ttft() time.Duration { return r.first.Sub(r.sent) }

func (c *client) post(ctx context.Context, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return c.http.Do(req)
}

func (c *client) ask(ctx context.Context, tokens int) reply {
	r := reply{sent: time.Now(), usage: -1}
	resp, err := c.post(ctx, "/v1/chat/completions", fmt.Sprintf(`{"model":%q,"messages":[{"role":"user",`+
		`"content":"one two three"}],"max_tokens":%d,"stream":true,"stream_options":{"include_usage":true}}`, c.model, tokens))
	if err != nil {
		r.failed = err.Error()
		return r
	}
	defer func() { _ = resp.Body.Close() }()
	r.status = resp.StatusCode
	if r.status != http.StatusOK {
		_, _ = io.Copy(io.Discard, resp.Body)
		return r
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		r.read(lines.Bytes())
	}
	r.end = time.Now()
	if err := lines.Err(); err != nil {
		r.failed = err.Error()
	}
	return r
}

func (r *reply) read(line []byte) {
	if n := bytes.Count(line, []byte(" w")); n > 0 {
		now := time.Now()
		if r.words == 0 {
			r.first = now
		}
		r.words += n
		r.chunks = append(r.chunks, arrival{now, n})
	}
	data, ok := bytes.CutPrefix(line, []byte("data: "))
	if !ok || !bytes.Contains(data, []byte("usage")) && !bytes.Contains(data, []byte("error")) {
		return
	}
	var event struct {
		Error *struct{ Message string }
		Usage *struct {
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if json.Unmarshal(data, &event) != nil {
		r.failed = "not JSON: " + string(data)
		return
	}
	if event.Error != nil {
		r.failed = event.Error.Message
	}
	if event.Usage != nil {
		r.usage = event.Usage.CompletionTokens
	}
}

// hold keeps n requests in flight, rounds on each stream; tokens gives each
// one's length. Replies come back by stream and round.
func (c *client) hold(n, rounds int, tokens func(stream, round int) int) []reply {
	replies := make([]reply, n*rounds)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for j := range rounds {
				replies[i*rounds+j] = c.ask(context.Background(), tokens(i, j))
			}
		})
	}
	wg.Wait()
	return replies
}

func fixed(tokens int) func(int, int) int { return func(int, int) int { return tokens } }

// varied gives lengths that differ by a factor of 3, the same in every run.
func varied(stream, round int) int { return 16 + (stream*7+round*13)%33 }

// rate is tokens/s that arrived in a window.
func rate(replies []reply, from, to time.Time) float64 {
	tokens := 0
	for _, r := range replies {
		for _, c := range r.chunks {
			if c.at.After(from) && !c.at.After(to) {
				tokens += c.words
			}
		}
	}
	return float64(tokens) / to.Sub(from).Seconds()
}

// ttfts returns the sorted times to the first token of each stream's replies
// from a round on.
func ttfts(replies []reply, rounds, from int) []time.Duration {
	var all []time.Duration
	for i, r := range replies {
		if i%rounds >= from {
			all = append(all, r.ttft())
		}
	}
	slices.Sort(all)
	return all
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))]
}

func target(t testing.TB, s string) Params {
	t.Helper()
	p, err := ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// served runs f against an engine in memory and closes both.
func served(t testing.TB, p Params, f func(*Sim, *client)) {
	t.Helper()
	s := New(p)
	c := memoryClient(s)
	defer func() {
		c.close()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	f(s, c)
}
