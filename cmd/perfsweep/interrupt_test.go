package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An interruption says of a journal that it is intact where there is one, and of
// which; before one was begun there is nothing to continue.
func TestInterruptedJournal(t *testing.T) {
	overlay := gatedOverlay(t)
	commands := [][]string{{"sweep", "--levels", "2,4,8,16"}, {"calibrate", "--overlay", overlay, "--allow-simulated"}, {"check", "--overlay", overlay}}
	for _, args := range commands {
		journal := filepath.Join(t.TempDir(), "j.jsonl")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		}))
		var said bytes.Buffer
		code := run(ctx, append(args, "--target", hangs.URL, "--gpus", "1", "--journal", journal), nil, io.Discard, &said)
		hangs.Close()
		if text := said.String(); code != exitInterrupted || !strings.Contains(text, "perfsweep: interrupted: ") || strings.Contains(text, "intact") || strings.Contains(text, "--resume") {
			t.Errorf("%s before its journal: exit %d: %s", args[0], code, text)
		}
		if strings.Contains(said.String(), "context canceled") || strings.Contains(said.String(), "no run was kept") {
			t.Errorf("%s before its journal: %s", args[0], said.String())
		}
		if _, err := os.Stat(journal); !os.IsNotExist(err) {
			t.Errorf("%s: its journal: %v", args[0], err)
		}
		bare, stop := context.WithCancel(t.Context())
		stop()
		said.Reset()
		code = run(bare, append(args, "--target", "sim:h100", "--effort", "quick"), nil, io.Discard, &said)
		if text := said.String(); code != exitInterrupted || !strings.HasSuffix(text, " a signal ended it; no run was kept: with --journal FILE each is, and --resume goes on from them\n") {
			t.Errorf("%s without a journal: exit %d: %s", args[0], code, text)
		}
		want := "; the journal " + journal + " is intact, continue it with --resume"
		for _, resume := range [][]string{{}, {"--resume"}} { // begun by this command, and found by it
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			talk := &watched{text: "target sim:h100", cancel: cancel}
			code = run(ctx, append(append(args, "--target", "sim:h100", "--effort", "quick", "--journal", journal), resume...), nil, io.Discard, talk)
			cancel()
			if code != exitInterrupted || !strings.Contains(talk.buf.String(), want) {
				t.Errorf("%s %q with its journal: exit %d: %s", args[0], resume, code, talk.buf.String())
			}
		}
		if _, err := readJournal(journal); err != nil {
			t.Errorf("%s: %v", args[0], err)
		}
		cancel()
	}
	journal := filepath.Join(t.TempDir(), "j.jsonl")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	talk := &watched{text: "B: target ", cancel: cancel}
	code := run(ctx, []string{"sweep", "--target", "sim:h100", "--ab", "sim:h100?speed=0.8", "--effort", "quick", "--levels", "2,4,8,16", "--journal", journal}, nil, io.Discard, talk)
	if want := "; the journals " + journal + " and " + journal + ".b are intact"; code != exitInterrupted || !strings.Contains(talk.buf.String(), want) {
		t.Errorf("two journals: exit %d: %s", code, talk.buf.String())
	}
}
