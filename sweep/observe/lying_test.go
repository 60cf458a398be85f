package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLyingPages: whatever a page says, a level at which it says nothing that
// can be true is unknown, and a report of it is JSON.
func TestLyingPages(t *testing.T) {
	honest := func(second int) string {
		return fmt.Sprintf("dynamo_frontend_model_max_num_seqs{model=\"m\"} 16\nvllm:num_requests_running{worker_id=\"7\"} 15.5\nvllm:num_requests_waiting{worker_id=\"7\"} 16\n"+
			"vllm:generation_tokens_total{worker_id=\"7\"} %d\nvllm:kv_cache_usage_perc{worker_id=\"7\"} 0.1\n", 1000*second)
	}
	odd := func(second int, a, b string) string {
		if second%2 == 0 {
			return a
		}
		return b
	}
	for name, c := range map[string]struct {
		page func(second int) (int, string, error)
		want Bottleneck
		says string
	}{
		"honest": {func(s int) (int, string, error) { return 200, honest(s), nil }, BatchCap, "cap of 16"},
		"counters go back": {func(s int) (int, string, error) {
			return 200, strings.Replace(honest(s), "generation_tokens_total{worker_id=\"7\"} ", "generation_tokens_total{worker_id=\"7\"} "+odd(s, "9", ""), 1), nil
		}, Unknown, "a goes back and forth"},
		"another worker each time": {func(s int) (int, string, error) {
			return 200, strings.ReplaceAll(honest(s), `"7"`, odd(s, `"18446744073709551615"`, `"18446744073709551614"`)), nil
		}, Unknown, "a goes back and forth"},
		"ids of more than 64 bits": {func(s int) (int, string, error) {
			return 200, strings.ReplaceAll(honest(s), `"7"`, `"99999999999999999999999"`), nil
		}, BatchCap, ""},
		"no numbers": {func(s int) (int, string, error) {
			return 200, strings.NewReplacer("15.5", "NaN", " 16\n", " -Inf\n").Replace(honest(s)), nil
		}, Unknown, "no page told of running requests"},
		"negative":       {func(s int) (int, string, error) { return 200, strings.Replace(honest(s), "15.5", "-15.5", 1), nil }, Unknown, "no page told"},
		"absurd":         {func(s int) (int, string, error) { return 200, strings.Replace(honest(s), "15.5", "1e17", 1), nil }, Unknown, "not ours"},
		"beyond numbers": {func(s int) (int, string, error) { return 200, strings.Replace(honest(s), "15.5", "1e400", 1), nil }, Unknown, ""},
		"idle, it says": {func(s int) (int, string, error) {
			return 200, strings.NewReplacer("15.5", "0", " 16\n", " 0\n").Replace(honest(s)), nil
		}, Unknown, ""},
		"a huge label": {func(s int) (int, string, error) {
			return 200, strings.ReplaceAll(honest(s), `"7"`, `"`+strings.Repeat("7", 1<<20)+`"`), nil
		}, Unknown, ""},
		"10,000 workers": {func(s int) (int, string, error) {
			var b strings.Builder
			for i := range 10_000 {
				fmt.Fprintf(&b, "vllm:num_requests_running{worker_id=\"%d\"} 1\n", i)
			}
			return 200, b.String(), nil
		}, Unknown, "no page could be read: a"},
		"packed": {func(int) (int, string, error) {
			return 200, "\x1f\x8b\x08\x00" + strings.Repeat("\x00\xff", 1<<20), nil
		}, Unknown, "no page could be read: a"},
		"a redirect": {func(int) (int, string, error) { return 302, "", nil }, Unknown, "no page could be read: a"},
		"slower than a beat": {func(s int) (int, string, error) {
			time.Sleep(4900 * time.Millisecond)
			return 200, honest(s), nil
		}, Unknown, "3 times"},
		"hangs up at times": {func(s int) (int, string, error) {
			if s%3 > 0 {
				return 0, "", errors.New("EOF")
			}
			return 200, honest(s), nil
		}, Unknown, "scrapes failed"},
		"says its last word": {func(s int) (int, string, error) {
			if s > 2 {
				return 200, "# EOF\n", nil
			}
			return 200, honest(s), nil
		}, Unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				hc := &http.Client{Transport: pages(func(*http.Request) (int, string, error) { return c.page(int(time.Since(begun) / time.Second)) })}
				w, err := Watch{Sources: []Source{{URL: "http://a/metrics", Client: hc}}, Model: "m"}.Start(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(11*time.Second + time.Millisecond)
				span := Summarize(w.Stop(), begun.Add(time.Second), begun.Add(11*time.Second))
				light := levelAt(8, 1000, 50, 8, capOf(16), runs(8, 0))
				l := levelAt(32, 1010, 900, 8, nil)
				l.Span = span
				f := Attribute([]Level{light, l})[1]
				said := strings.Join(append(f.Evidence, f.Against...), "\n")
				if f.Bottleneck != c.want || !strings.Contains(said, c.says) {
					t.Errorf("%s, want %s with %q: %.500s", f.Bottleneck, c.want, c.says, said)
				}
				if _, err := json.Marshal(span); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A page of several MiB is read less often: what a server sends takes from the
// load no more than a MiB a second.
func TestLongPagesAreReadLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := 0
		hc := &http.Client{Transport: pages(func(*http.Request) (int, string, error) {
			read++
			return 200, busyPage + strings.Repeat("# a comment of thirty-two bytes.\n", 7<<20/32), nil
		})}
		w, err := Watch{Sources: []Source{{URL: "http://a/metrics", Client: hc}}}.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(32*time.Second - time.Millisecond)
		if w.Stop(); read != 4 {
			t.Errorf("a page of 7 MiB was read %d times in 32 s, want 4", read)
		}
	})
}
