//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// A terminal that closes ends a campaign as Ctrl-C does, so that nothing of it stays
// behind; one under nohup goes on.
func TestHangup(t *testing.T) {
	t.Parallel()
	// A child inherits an ignored signal and not a caught one: the first of the two
	// must not be under the nohup that the tests may be under.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, kept := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "j.jsonl")
		c := start(t, func(cmd *exec.Cmd) {
			if kept {
				cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec perfsweep "$@"`, "sh"}, cmd.Args[1:]...)
				cmd.Path, cmd.Err = exec.Command("sh").Path, nil
			}
		}, "sweep", "--target", "sim:kneed", "--effort", "quick", "--levels", "4,8,16,32", "--max-wall", "5s", "--journal", path)
		c.hear(t, c.talked, "target sim:kneed")
		if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		code := c.wait()
		if _, err := readJournal(path); err != nil {
			t.Error(err)
		}
		if interrupted := code == exitInterrupted; interrupted == kept || code < 0 {
			t.Errorf("under nohup %v: exit code %d: %s", kept, code, c.talked)
		}
	}
}
