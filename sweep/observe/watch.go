package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Source is a page that is watched: http(s)://HOST:PORT/metrics, or
// file:///proc/pressure for the pressure on this machine.
type Source struct {
	URL string
	// Client is the way to the server, keys included; it must not be the load's.
	// nil is a plain client of the watcher's own, which sends no key.
	Client *http.Client
}

// Watch says what to watch, and how often.
type Watch struct {
	Sources []Source
	Model   string        // whose series count; "" is every model's
	Every   time.Duration // 0 is a second: one of six missed a worker that backed up (NVIDIA/aicr)
}

// Watcher reads pages while a level runs. Each source has a goroutine of its
// own, so that a slow page delays no other, and no page is read twice at once.
type Watcher struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	tracks []*track
	of     []*track // of each source, in their order
	plain  *http.Transport
}

// maxKept bounds the values that all sources keep: about 200 MB.
const maxKept = 4 << 20

// track is one source and what it told.
type track struct {
	name, address string
	client        *http.Client // nil for files
	translation   *translation // nil for files
	buf           bytes.Buffer
	kept          []Snapshot
	weight, room  int // in values
	stride, seen  int // every stride-th is kept
}

// pagesABeat is how many pages are read at once. Each time that a client wakes up
// costs it more than a page does; all pages at once would be a burst that the
// load's own timing sees.
const pagesABeat = 8

// tracks makes the way to each source. Sources that are named twice are read
// once.
func (w Watch) tracks() (*Watcher, error) {
	out := &Watcher{plain: &http.Transport{
		DisableCompression: true, ReadBufferSize: 64 << 10, MaxResponseHeaderBytes: 1 << 16, IdleConnTimeout: time.Minute,
	}}
	byURL, names := map[string]*track{}, map[string]bool{}
	for i, s := range w.Sources {
		t, err := newTrack(s, out.plain)
		if err != nil {
			return nil, fmt.Errorf("metrics address %d: %w", i+1, err)
		}
		if old := byURL[s.URL]; old != nil {
			out.of = append(out.of, old)
			continue
		}
		if names[t.name] {
			t.name = fmt.Sprintf("%s#%d", t.name, i+1) // they differ in what is kept out of names
		}
		if t.client != nil {
			t.translation = newTranslation(t.name, w.Model)
		}
		byURL[s.URL], names[t.name] = t, true
		out.tracks, out.of = append(out.tracks, t), append(out.of, t)
	}
	return out, nil
}

// Read reads every source once, all at the same time: what they say before any
// load, and whether they answer at all. There is a snapshot for each source, in
// their order; one that is named twice is read once. The error is that of an
// address.
func (w Watch) Read(ctx context.Context) ([]Snapshot, error) {
	r, err := w.tracks()
	if err != nil {
		return nil, err
	}
	for _, t := range r.tracks {
		r.done.Go(func() { t.kept = []Snapshot{t.read(ctx)} })
	}
	r.done.Wait()
	r.plain.CloseIdleConnections()
	var out []Snapshot
	for _, t := range r.of {
		out = append(out, t.kept[0])
	}
	return out, nil
}

// Start begins to watch until Stop is called or the context ends.
func (w Watch) Start(ctx context.Context) (*Watcher, error) {
	every := w.Every
	if every <= 0 {
		every = time.Second
	}
	out, err := w.tracks()
	if err != nil {
		return nil, err
	}
	ctx, out.cancel = context.WithCancel(ctx)
	begun := time.Now()
	beats := (len(out.tracks) + pagesABeat - 1) / pagesABeat
	for i, t := range out.tracks {
		t.room = maxKept / len(out.tracks)
		first := begun.Add(every * time.Duration(i/pagesABeat) / time.Duration(beats))
		out.done.Go(func() { t.watch(ctx, every, first) })
	}
	return out, nil
}

func newTrack(s Source, plain *http.Transport) (*track, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return nil, errors.New("it is no URL") // the text may hold a password
	case u.Scheme == "file" && u.Host == "" && u.Path != "":
		return &track{name: filepath.Clean(u.Path), address: filepath.Clean(u.Path), stride: 1}, nil
	case (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return nil, errors.New("want http://HOST:PORT/metrics, https://… or file:///proc/pressure")
	}
	t := &track{name: u.Host + strings.TrimSuffix(u.Path, "/metrics"), address: s.URL, client: s.Client, stride: 1}
	if t.client == nil {
		t.client = &http.Client{Transport: plain}
	}
	return t, nil
}

// Stop ends the watch and returns what was read, source by source. No goroutine
// and no connection of the watcher's own is left.
func (w *Watcher) Stop() []Snapshot {
	w.cancel()
	w.done.Wait()
	w.plain.CloseIdleConnections()
	var out []Snapshot
	for _, t := range w.tracks {
		out = append(out, t.kept...)
	}
	return out
}

// watch reads on a fixed beat. Beats that a slow page runs over are left out:
// a server that takes long for a page has enough to do.
func (t *track) watch(ctx context.Context, every time.Duration, next time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(next)):
		}
		s := t.read(ctx)
		if ctx.Err() != nil { // cut off by the end of the watch, which is no news of the server
			return
		}
		t.keep(s)
		// Each MiB of a page has a beat of its own, or one page of a hostile
		// server would take from the load what it needs.
		next = next.Add(every * time.Duration(1+t.buf.Len()>>20))
		if late := time.Since(next); late > 0 {
			next = next.Add((late + every - 1).Truncate(every))
		}
	}
}

// read makes one snapshot.
func (t *track) read(ctx context.Context) Snapshot {
	begun := time.Now()
	var s Snapshot
	var err error
	if t.client == nil {
		s.Node, err = pressureOf(t.address)
	} else {
		s, err = t.readMetrics(ctx)
	}
	s.Source, s.Took, s.Err = t.name, time.Since(begun), err
	if s.At.IsZero() {
		s.At = time.Now()
	}
	return s
}

// keep keeps a snapshot within the room that there is: where a watch takes
// hours every second one goes, then every second of those that are left.
func (t *track) keep(s Snapshot) {
	if t.seen++; (t.seen-1)%t.stride != 0 {
		return
	}
	if n := len(t.kept); n > 0 && maps.Equal(t.kept[n-1].Facts, s.Facts) {
		s.Facts = t.kept[n-1].Facts // they hardly ever change
	}
	t.kept = append(t.kept, s)
	t.weight += s.weight()
	for t.weight > t.room && len(t.kept) > 2 {
		half := t.kept[:0:0]
		t.weight = 0
		for i := 0; i < len(t.kept); i += 2 {
			half = append(half, t.kept[i])
			t.weight += t.kept[i].weight()
		}
		t.kept = half
		t.stride *= 2
	}
}

// weight is about what a snapshot takes, in values.
func (s Snapshot) weight() int {
	n := 8 + len(s.Frontend) + len(s.Node)
	for _, of := range []map[string]Reading{s.Engines, s.GPUs} {
		for _, r := range of {
			n += 4 + len(r)
		}
	}
	return n
}

// pressureOf reads the kernel's files in a folder, of which a kernel may lack some.
func pressureOf(dir string) (Reading, error) {
	out := Reading{}
	for name, m := range map[string]Metric{"cpu": CPUPressure, "memory": MemPressure, "io": IOPressure} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, 4096))
		_ = f.Close() // only read
		if v, ok := stalledSeconds(text); ok && err == nil {
			out[m] = v
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no pressure of cpu, memory or io is told there", dir)
	}
	return out, nil
}
