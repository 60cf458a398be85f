package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
)

// writeKills bounds the time in which a write is killed again and again.
const writeKills = 6 * time.Second

// pairState is what a kill left of an overlay and its sidecar.
type pairState struct {
	overlay, sidecar []byte // sidecar nil: there is none
}

func readPair(t *testing.T, dir string) (p pairState) {
	t.Helper()
	var err error
	if p.overlay, err = os.ReadFile(filepath.Join(dir, "o.yaml")); err != nil {
		t.Fatal(err)
	}
	if p.sidecar, err = os.ReadFile(filepath.Join(dir, "o.provenance.json")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return p
}

// put makes a folder with such a pair and nothing else.
func (p pairState) put(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string][]byte{"o.yaml": p.overlay, "o.provenance.json": p.sidecar} {
		if b == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// like reports whether a sidecar is another one but for the time of its writing.
func like(a, b []byte) bool {
	p, err := calibrate.ParseProvenance("a", a)
	q, err2 := calibrate.ParseProvenance("b", b)
	if err != nil || err2 != nil {
		return false
	}
	p.Written, q.Written = "", ""
	x, err := p.Encode()
	y, err2 := q.Encode()
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// TestKilledWrite: calibrate --write that is killed -9 at each change that it
// makes to its folder, and at drawn moments, leaves each of its two files whole,
// old or new. Where one is new and the other old, lint and check say so, and the
// same command puts it right.
func TestKilledWrite(t *testing.T) {
	t.Parallel()
	journals := t.TempDir()
	args := func(dir, journal string) []string {
		return []string{"calibrate", "--journal", journal, "--overlay", filepath.Join(dir, "o.yaml"), "--allow-simulated", "--write"}
	}
	first, second := filepath.Join(journals, "first.jsonl"), filepath.Join(journals, "second.jsonl")
	for path, target := range map[string]string{first: scriptEngine, second: scriptEngine + "&speed=0.9"} {
		synctest.Test(t, func(t *testing.T) {
			curve, _, _ := virtual(t, target, longOSL, quickPlan())
			writeJournal(t, path, curve)
		})
	}
	written := func(from pairState, journal string) pairState {
		dir := from.put(t)
		if code, _, said := perfsweep(t, args(dir, journal)...); code != exitDone {
			t.Fatalf("%d: %s", code, said)
		}
		return readPair(t, dir)
	}
	none := pairState{overlay: []byte(killedOverlay)}
	one := written(none, first)
	cases := []struct{ old, new pairState }{{none, one}, {one, written(one, second)}}
	if cases[1].new.sidecar == nil || bytes.Equal(one.overlay, cases[1].new.overlay) || like(one.sidecar, cases[1].new.sidecar) {
		t.Fatal("the two calibrations write the same")
	}
	mixed := map[string]int{}
	judge := func(i int, dir, when string) {
		t.Helper()
		c := cases[i]
		got := readPair(t, dir)
		newOverlay, newSidecar := bytes.Equal(got.overlay, c.new.overlay), like(got.sidecar, c.new.sidecar)
		if !newOverlay && !bytes.Equal(got.overlay, c.old.overlay) {
			t.Fatalf("%s: the overlay is neither the old one nor the new one:\n%s", when, got.overlay)
		}
		if !newSidecar && (!bytes.Equal(got.sidecar, c.old.sidecar) || (got.sidecar == nil) != (c.old.sidecar == nil)) {
			t.Fatalf("%s: the sidecar is neither the old one nor the new one:\n%s", when, got.sidecar)
		}
		state := fmt.Sprintf("overlay new %v, sidecar new %v", newOverlay, newSidecar)
		mixed[state]++
		if newOverlay && !newSidecar {
			t.Fatalf("%s: %s: nothing tells such a sidecar from one of an edited gate", when, state)
		}
		if newSidecar && !newOverlay && mixed[state] < 3 {
			repaired(t, dir, c.new, args(dir, []string{first, second}[i]), first)
		}
	}
	// What no kill needs to hit by chance.
	for i, c := range cases {
		judge(i, pairState{c.old.overlay, c.new.sidecar}.put(t), "by hand")
	}
	rng := rand.New(rand.NewPCG(6, 20261130))
	events, longest := 1, time.Duration(0)
	for begin, k := time.Now(), 0; time.Since(begin) < writeKills; k++ {
		i, journal := k%2, []string{first, second}[k%2]
		dir, at := cases[i].old.put(t), 1+k/2
		if longest > 0 && k%4 < 2 { // a second time where the sidecar has just been renamed
			at = events - 1
		}
		when := fmt.Sprintf("killed at change %d of its folder", at)
		switch took, seen := time.Duration(0), 0; {
		case longest > 0 && k%4 >= 2:
			when = "killed at a drawn moment"
			killAfter(t, time.Duration(rng.Int64N(int64(longest))), args(dir, journal))
		default:
			if took, seen = killAtChange(t, dir, at, args(dir, journal)); seen < at { // it came to its end
				events, longest = seen, took
			}
		}
		judge(i, dir, when)
	}
	t.Logf("a write changes its folder %d times; after a kill: %v", events, mixed)
}

const killedOverlay = `kind: RecipeMetadata
metadata:
  name: o
spec:
  validation:
    performance:
      checks: [inference-perf]
      constraints:
        - name: inference-concurrency-per-gpu
          value: "32"
        - name: inference-throughput-per-gpu
          value: ">= 900"
`

// repaired: lint and check name the mixture, and the same command ends it.
func repaired(t *testing.T, dir string, want pairState, args []string, checked string) {
	t.Helper()
	overlay := filepath.Join(dir, "o.yaml")
	if code, out, _ := perfsweep(t, "lint", overlay); code != exitInput || !strings.Contains(out, "[sidecar-interrupted]") {
		t.Errorf("lint ends with %d and does not tell the mixture: %s", code, out)
	}
	if code, out, said := perfsweep(t, "check", "--journal", checked, "--overlay", overlay); code != exitInconclusive || !strings.Contains(out, "interrupted before it replaced the overlay") {
		t.Errorf("check ends with %d and does not tell the mixture: %s%s", code, out, said)
	}
	if code, _, said := perfsweep(t, args...); code != exitDone {
		t.Fatalf("the same command again ends with %d: %s", code, said)
	}
	if got := readPair(t, dir); !bytes.Equal(got.overlay, want.overlay) || !like(got.sidecar, want.sidecar) {
		t.Errorf("the same command again leaves\n%s", got.overlay)
	}
	if code, out, _ := perfsweep(t, "lint", overlay); code != exitDone || strings.Contains(out, "sidecar-") {
		t.Errorf("repaired, lint ends with %d: %s", code, out)
	}
}

// killAtChange runs a command and kills it at the nth change to a folder. It
// returns how many there were, and how long the command took.
func killAtChange(t *testing.T, dir string, n int, args []string) (took time.Duration, seen int) {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	watch := os.NewFile(uintptr(fd), "inotify")
	defer func() { _ = watch.Close() }()
	if _, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_CREATE|syscall.IN_CLOSE_WRITE|syscall.IN_DELETE|syscall.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c := start(t, nil, args...)
	go func() {
		<-c.done
		_ = watch.SetReadDeadline(time.Now()) // ends the read below
	}()
	buf := make([]byte, 4096)
	for {
		m, err := watch.Read(buf)
		if err != nil {
			c.wait()
			return time.Since(began), seen
		}
		for at := 0; at+syscall.SizeofInotifyEvent <= m; at += syscall.SizeofInotifyEvent + int(nameLen(buf[at:])) {
			if seen++; seen == n {
				_ = c.cmd.Process.Kill()
			}
		}
	}
}

// nameLen is the last field of an inotify event's head.
func nameLen(b []byte) uint32 {
	return uint32(b[12]) | uint32(b[13])<<8 | uint32(b[14])<<16 | uint32(b[15])<<24
}

func killAfter(t *testing.T, wait time.Duration, args []string) {
	t.Helper()
	c := start(t, nil, args...)
	select {
	case <-time.After(wait):
	case <-c.done:
	}
	_ = c.cmd.Process.Kill()
	c.wait()
}
