package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"perfsweep": func() { os.Exit(realMain()) }})
}

// TestScript tells each story of the command line through public flags only.
func TestScript(t *testing.T) {
	journals, published := scriptJournals(t), readSchemas(t)
	published.journals(t, journals)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": published.exits, "chop": chop, "damage": damage, "hold": hold, "begins": begins, "write": write, "edit": edit, "proxy": proxy, "serve": serveSim, "cluster": serveCluster,
		},
		Setup: func(e *testscript.Env) error {
			wd, err := os.Getwd()
			if err != nil {
				return err
			}
			e.Setenv("REPO", wd+"/../..")
			e.Setenv("REPORT", wd+"/testdata/report")
			e.Setenv("JOURNALS", journals)
			e.Setenv("ENGINE", "sim:"+scriptEngine)
			return nil
		},
	})
}

// serveSim puts the URL of a simulator, and the model that it serves, into the
// environment: serve PRESET.
func serveSim(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve PRESET[?key=value…]")
	}
	p, err := enginesim.ParseTarget(args[0])
	ts.Check(err)
	sim := enginesim.New(p)
	url, err := sim.Listen("127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = sim.Close() }) // it keeps nothing
	ts.Setenv("SIM", url)
	ts.Setenv("MODEL", p.Model)
}

// exits runs a command and demands one of some exit codes:
// exits CODE[|CODE…] COMMAND ARGS…. It names several where a busy machine may
// rightly make a run INVALID. What the command prints and writes as JSON must be
// as its schema says.
func (s schemas) exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE[|CODE…] COMMAND ARGS…")
	}
	got := 0
	var ee *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ee) {
		got = ee.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
	s.script(ts, got, args[1:])
}
