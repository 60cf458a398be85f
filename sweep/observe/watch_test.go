package observe

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// pages is a server in memory.
type pages func(*http.Request) (int, string, error)

func (f pages) RoundTrip(r *http.Request) (*http.Response, error) {
	code, text, err := f(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{}, Request: r}, nil
}

const busyPage = "vllm:num_requests_running 4\n"

// slowly answers after a while, or when it is given up on.
func slowly(r *http.Request, d time.Duration) (int, string, error) {
	select {
	case <-time.After(d):
		return 200, busyPage, nil
	case <-r.Context().Done():
		return 0, "", r.Context().Err()
	}
}

func ofSource(all []Snapshot, name string) (good, bad []Snapshot) {
	for _, s := range all {
		switch {
		case s.Source != name:
		case s.Err == nil:
			good = append(good, s)
		default:
			bad = append(bad, s)
		}
	}
	return good, bad
}

// A second apart each, whatever another page does; one that is slow is never
// asked twice at once, and given up on.
func TestWatchKeepsItsBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, most := map[string]int{}, 0
		var mu sync.Mutex
		count := func(host string, n int) {
			mu.Lock()
			defer mu.Unlock()
			open[host] += n
			most = max(most, open[host])
		}
		hc := &http.Client{Transport: pages(func(r *http.Request) (int, string, error) {
			count(r.URL.Host, 1)
			defer count(r.URL.Host, -1)
			switch r.URL.Host {
			case "fast":
				return 200, busyPage, nil
			case "slow":
				return slowly(r, 2500*time.Millisecond)
			default:
				return slowly(r, time.Hour)
			}
		})}
		w, err := Watch{Sources: []Source{{"http://fast/metrics", hc}, {"http://slow/metrics", hc}, {"http://hangs/metrics", hc}}}.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(59400 * time.Millisecond)
		all := w.Stop()
		for name, want := range map[string][2]int{"fast": {60, 0}, "slow": {19, 0}, "hangs": {0, 11}} {
			good, bad := ofSource(all, name)
			if len(good) != want[0] || len(bad) != want[1] {
				t.Errorf("%s: %d good and %d bad, want %v", name, len(good), len(bad), want)
			}
			for i := range good[min(1, len(good)):] {
				if step := good[i+1].At.Sub(good[i].At); name == "fast" && step != time.Second {
					t.Errorf("%s: %v between readings", name, step)
				}
			}
		}
		if most != 1 {
			t.Errorf("%d requests to one page at once", most)
		}
		slow, _ := ofSource(all, "slow")
		if s := slow[3]; s.Took != 2500*time.Millisecond || s.Engines["slow"][Running] != 4 {
			t.Errorf("got %+v", s)
		}
	})
}

// Whoever stops a watch waits for no page, and the end of the context ends it.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hc := &http.Client{Transport: pages(func(r *http.Request) (int, string, error) { return slowly(r, time.Hour) })}
		ctx, cancel := context.WithCancel(t.Context())
		w, err := Watch{Sources: []Source{{"http://a/metrics", hc}, {"http://b/metrics", hc}}}.Start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		begun := time.Now()
		cancel()
		if all := w.Stop(); len(all) != 0 || time.Since(begun) != 0 {
			t.Errorf("%d snapshots after %v; a page that was cut off is no news", len(all), time.Since(begun))
		}
	})
}

// What is kept is bounded, and still covers all of the time.
func TestWatchIsBounded(t *testing.T) {
	tr := track{stride: 1, room: 1000}
	for i := range 10_000 {
		tr.keep(worker("w", float64(i), Reading{Running: 1, UptimeS: float64(i)}))
		if tr.weight > tr.room {
			t.Fatalf("%d values after %d readings", tr.weight, i)
		}
	}
	if n := len(tr.kept); n < 30 {
		t.Errorf("only %d kept", n)
	}
	for i := range tr.kept[1:] {
		if step := tr.kept[i+1].At.Sub(tr.kept[i].At); step != time.Duration(tr.stride)*time.Second {
			t.Errorf("%v between readings, want every %dth", step, tr.stride)
		}
	}
	if tr.kept[0].At != clock(0) || tr.kept[len(tr.kept)-1].At.Before(clock(9000)) {
		t.Error("the ends are not covered")
	}
}

// One connection serves all readings, and is gone afterwards.
func TestWatchKeepsItsConnection(t *testing.T) {
	defer goleak.VerifyNone(t)
	asked := make(chan string, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, busyPage)
		asked <- r.RemoteAddr
	}))
	defer s.Close()
	w, err := Watch{Sources: []Source{{URL: s.URL + "/metrics"}}, Every: 10 * time.Millisecond}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := <-asked
	for range 4 {
		if next := <-asked; next != first {
			t.Errorf("from %s, then from %s", first, next)
		}
	}
	w.Stop()
}

// Redirects are not followed, pages are bounded, and errors hold no secret.
func TestWatchOverHTTP(t *testing.T) {
	defer goleak.VerifyNone(t)
	asked := make(chan string, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			if e := r.Header.Get("Accept-Encoding"); e != "identity" {
				t.Errorf("asked for the encoding %q", e)
			}
			_, _ = io.WriteString(w, busyPage)
		case "/away/metrics":
			http.Redirect(w, r, "/metrics", http.StatusFound)
		case "/long/metrics":
			for range maxPage/4096 + 1 {
				_, _ = w.Write(make([]byte, 4096))
			}
		default:
			http.Error(w, "hunter2", http.StatusUnauthorized)
		}
		asked <- r.URL.Path
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	var sources []Source
	for _, u := range []string{"/metrics", "/away/metrics", "/long/metrics", "/locked?key=hunter2"} {
		sources = append(sources, Source{URL: "http://me:hunter2@" + host + u})
	}
	sources = append(sources, sources[0], Source{URL: "http://me:hunter2@127.0.0.1:1/metrics"})
	w, err := Watch{Sources: sources, Every: 10 * time.Millisecond}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := map[string]int{}; n["/metrics"] < 5 || n["/away/metrics"] < 2 || n["/long/metrics"] < 2 || n["/locked"] < 2; {
		n[<-asked]++
	}
	all := w.Stop()
	if good, bad := ofSource(all, host); len(good) < 4 || len(bad) > 0 {
		t.Errorf("%d good and %d bad", len(good), len(bad))
	}
	for name, says := range map[string]string{host + "/away": "302", host + "/long": "longer than", host + "/locked": "401", "127.0.0.1:1": "refused"} {
		good, bad := ofSource(all, name)
		if len(good) > 0 || len(bad) == 0 {
			t.Errorf("%s: %d good, %d bad", name, len(good), len(bad))
			continue
		}
		if text := bad[0].Err.Error(); !strings.Contains(text, says) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %q, want it to say %q and no secret", name, text, says)
		}
	}
}

func TestWatchRefusesAddresses(t *testing.T) {
	for _, u := range []string{"", "metrics", "ftp://me:hunter2@host/", "http://", "http://me:hunter2@ho st/", "file://host/proc", "http://me:hunter2@%zz/"} {
		_, err := Watch{Sources: []Source{{URL: "http://ok/metrics"}, {URL: u}}}.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "address 2") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", u, err)
		}
	}
}

func TestPressureOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cpu":    "some avg10=1.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
		"memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"io":     "some total=-3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := pressureOf(dir)
	if err != nil || len(r) != 2 || r[CPUPressure] != 1.5 || r[MemPressure] != 0 {
		t.Errorf("got %v, %v", r, err)
	}
	if _, err := pressureOf(t.TempDir()); err == nil {
		t.Error("an empty folder tells nothing")
	}
	w, err := Watch{Sources: []Source{{URL: "file://" + dir}}, Every: time.Millisecond}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all := w.Stop(); slices.ContainsFunc(all, func(s Snapshot) bool { return s.Err != nil || s.Source != dir }) {
		t.Errorf("got %+v", all)
	}
}
