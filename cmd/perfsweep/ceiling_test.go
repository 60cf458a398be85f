package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/selftest"
)

func found(rate float64, atLeast bool) selftest.Result {
	return selftest.Result{
		SchemaVersion: 1, Version: version, CPUs: runtime.GOMAXPROCS(0), Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Ceiling: &selftest.Ceiling{TokPerSec: rate, Streams: 400, LimitedBy: "lag", AtLeast: atLeast},
	}
}

func TestCeilingIsKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "not", "yet", "there"))
	if got := knownCeiling(); got != nil {
		t.Fatalf("nothing was measured, and %+v is known", got)
	}
	path, err := keepCeiling(found(40_000, false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keepCeiling(found(41_000, true)); err != nil {
		t.Fatal(err) // the second takes the place of the first
	}
	got := knownCeiling()
	if got == nil || got.Ceiling.TokPerSec != 41_000 || !got.Ceiling.AtLeast {
		t.Fatalf("known: %+v", got)
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("in the folder: %v, %v", all, err)
	}
	// What cannot be believed is not known.
	otherVersion, otherCPUs, none := found(1, false), found(1, false), found(1, false)
	otherVersion.Version += "-other"
	otherCPUs.CPUs++
	none.Ceiling = nil
	busy := found(1, false)
	busy.OthersCPUShare = .11
	for _, r := range []selftest.Result{otherVersion, otherCPUs, none, busy, found(0, false), found(-1, false)} {
		if _, err := keepCeiling(r); err != nil {
			t.Fatal(err)
		}
		if got := knownCeiling(); got != nil {
			t.Errorf("believed %+v", got)
		}
	}
	for _, text := range []string{"", "{", "null", strings.Repeat(" ", maxCeilingFile+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := knownCeiling(); got != nil {
			t.Errorf("believed %+v from %.20q", got, text)
		}
	}
}

func TestCeilingGuard(t *testing.T) {
	known := func(rate float64, atLeast bool) *selftest.Result { r := found(rate, atLeast); return &r }
	for _, tt := range []struct {
		name    string
		known   *selftest.Result
		gapMS   float64
		streams int
		want    string
	}{
		{"below", known(40_000, false), 10, 400, ""},
		{"above", known(40_000, false), 10, 401, "401 streams may bring up to 40100 chunks/s, and this machine was found to read 40000 (perfsweep selftest, 2026-03-04)"},
		{"above a lower bound", known(40_000, true), 10, 401, "read at least 40000"},
		{"gap not known", known(40_000, false), 0, 100_000, ""},
		{"ceiling not known, little asked", nil, 10, 200, ""},
		{"ceiling not known, much asked", nil, 10, 201, "what this machine can read is not known: perfsweep selftest measures it"},
	} {
		g := newCeilingGuard(tt.known, tt.gapMS)
		got := g.before(tt.streams)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if again := g.before(tt.streams); again != "" {
			t.Errorf("%s: said twice: %q", tt.name, again)
		}
	}
	each := newCeilingGuard(known(40_000, false), 10)
	for _, streams := range []int{401, 500, 1000} { // once a level, with its own numbers
		if got, want := each.before(streams), fmt.Sprintf("%d streams may bring up to %d chunks/s", streams, 100*streams); !strings.HasPrefix(got, want) || strings.Contains(got, "at least") {
			t.Errorf("%d streams: %q, want %q", streams, got, want)
		}
	}
	hint := newCeilingGuard(nil, 10)
	if first, next := hint.before(201), hint.before(400); first == "" || next != "" { // once a campaign
		t.Errorf("nothing is known: %q, then %q", first, next)
	}
	if got := newCeilingGuard(known(40_000, false), math.NaN()).before(1000); got != "" {
		t.Errorf("a gap that is no number: %q", got)
	}
	g := newCeilingGuard(known(40_000, false), 10)
	g.after(20) // the engine slowed down: twice the streams bring the same
	if got := g.before(800); got != "" {
		t.Errorf("800 streams, a chunk each 20 ms: %q", got)
	}
	g.after(0) // a run that measured nothing teaches nothing
	if got := g.before(801); got == "" {
		t.Error("801 streams, a chunk each 20 ms: no warning")
	}
}

// watched cancels a context once a text was written.
type watched struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.buf.Write(p)
	if strings.Contains(w.buf.String(), w.text) {
		w.cancel()
	}
	return n, err
}

// TestWarnsBeforeLoad: every command that puts load on a target says so before
// a level asks for more than this machine was found to read.
func TestWarnsBeforeLoad(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, err := keepCeiling(found(1, false)); err != nil {
		t.Fatal(err)
	}
	overlay := gatedOverlay(t)
	for _, args := range [][]string{
		{"sweep", "--levels", "2,4,8,16"},
		{"calibrate", "--overlay", overlay, "--allow-simulated"},
		{"check", "--overlay", overlay},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		talk := &watched{text: "this machine was found to read 1 (perfsweep selftest, 2026-03-04)", cancel: cancel}
		code := run(ctx, append(args, "--target", "sim:h100", "--effort", "quick"), nil, &bytes.Buffer{}, talk)
		if code != exitInterrupted || !strings.Contains(talk.buf.String(), talk.text) {
			t.Errorf("%v: exit %d: %s", args, code, talk.buf.String())
		}
		cancel()
	}
}
