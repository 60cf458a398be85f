package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

// TestFirstWords: before the first run a campaign says of what it is, and one from
// which nothing can be written says so before the load, not after it.
func TestFirstWords(t *testing.T) {
	const look = "a first look: nothing will be written from this target at quick effort"
	about := regexp.MustCompile(`^target http://engine:8000  model Qwen/Qwen3-8B \(([^)]*)\)  1 GPU  effort (quick|standard)  workload aicr 128/8 tokens$`)
	const overlay = "testdata/report/gb300.yaml"
	for name, c := range map[string]struct {
		args      string
		simulated bool
		look      bool
	}{
		"calibrate, quick":            {"calibrate --effort quick --overlay " + overlay, false, true},
		"calibrate, standard":         {"calibrate --effort standard --overlay " + overlay, false, false},
		"calibrate, quick, simulated": {"calibrate --effort quick --overlay " + overlay, true, false},
		"sweep, quick":                {"sweep --effort quick", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, err := enginesim.ParseTarget("batch-cap?chunk=128&model=Qwen/Qwen3-8B")
			if err != nil {
				t.Fatal(err)
			}
			sim := enginesim.New(p)
			defer func() { _ = sim.Close() }() // it keeps nothing
			var out, talk bytes.Buffer
			a := &app{out: &out, err: &talk, args: append(strings.Fields(c.args), strings.Fields("--target http://engine:8000 --gpus 1 --levels 8,16,32,64 --osl 8 --max-runs 1")...)}
			a.open = func(string, int) (*target, error) {
				return &target{baseURL: "http://engine.invalid", public: "http://engine:8000", gpus: 1, simulated: c.simulated, dial: sim.Dial}, nil
			}
			if code := a.execute(context.Background()); code != exitInconclusive {
				t.Errorf("%s: exit code %d: %s", name, code, &talk)
			}
			before, _, ran := strings.Cut(talk.String(), "\n[1] ")
			lines := strings.Split(before, "\n")
			last := len(lines) - 1
			from := "as the overlay says"
			if strings.HasPrefix(name, "sweep") {
				from = "the only one that is served"
			}
			if m := about.FindStringSubmatch(lines[last]); !ran || m == nil || m[1] != from {
				t.Fatalf("%s: before the first run it says last %q of\n%s", name, lines[last], &talk)
			}
			if said := last > 0 && lines[last-1] == look; said != c.look || strings.Count(talk.String(), "a first look") > 1 {
				t.Errorf("%s: a first look is said %v, want %v:\n%s", name, said, c.look, &talk)
			}
		})
	}
}
