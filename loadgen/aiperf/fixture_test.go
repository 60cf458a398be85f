package aiperf

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

const msec = time.Millisecond

var epoch = time.Date(2026, 11, 29, 22, 30, 31, 682787000, time.UTC)

// options are those of a command line that must be right.
func options(t *testing.T, args ...[2]string) *Options {
	t.Helper()
	o := Defaults()
	for _, a := range append([][2]string{{"model", "mock"}, {"osl", "128"}, {"random-seed", "100"}}, args...) {
		if err := flagOf(t, a[0]).Set(&o, a[1]); err != nil {
			t.Fatalf("--%s %s: %v", a[0], a[1], err)
		}
	}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	return &o
}

func flagOf(t *testing.T, name string) Flag {
	t.Helper()
	for _, f := range Flags() {
		for _, n := range f.Names {
			if n == name {
				return f
			}
		}
	}
	t.Fatalf("no flag --%s", name)
	return Flag{}
}

// request is an OK one of four tokens in chunks 10 ms apart, with 2 ms on the
// way to the socket and 50 ms to its first token.
func request(number uint64, at time.Duration) loadgen.Request {
	sent := at + 2*msec
	r := loadgen.Request{
		Number: number, Stream: int(number % 4), Outcome: loadgen.OK, Asked: at, Sent: sent, Headers: sent + 5*msec,
		FirstToken: sent + 50*msec, SecondToken: sent + 60*msec, FirstVisible: sent + 50*msec, LastToken: sent + 80*msec, End: sent + 81*msec,
		OutputTokens: 4, PromptTokens: 128, AskedTokens: 4,
	}
	for i := range 4 {
		r.Chunks = append(r.Chunks, r.FirstToken+time.Duration(i)*10*msec)
	}
	return r
}

// recorded is the recorder of a run with a warm-up of 4 requests and 20
// measured ones.
func recorded(t *testing.T, o *Options, more ...loadgen.Request) (*Recorder, *bytes.Buffer) {
	t.Helper()
	var lines bytes.Buffer
	c := NewRecorder(o, func() {})
	c.Write(&lines, Lines{Started: epoch, Prompts: o.Prompts, WarmsUp: true})
	for i := range uint64(4) {
		r := request(i, 0)
		r.WarmUp, r.NewConnection, r.Connect = true, true, msec
		c.Add(r)
	}
	for i := range uint64(20) {
		c.Add(request(4+i, 100*msec*time.Duration(1+i/4)))
	}
	for _, r := range more {
		c.Add(r)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	return c, &lines
}

func aRun(o *Options) Run {
	return Run{
		Options: o, ID: "a8b35ab3024c", Version: "v0.0.0-test", Command: "perfsweep profile",
		Result: loadgen.Result{Started: epoch, Ended: epoch.Add(time.Second), Measured: loadgen.Outcomes{loadgen.OK: 20}},
	}
}

// summary is the content of a JSON file.
func summary(t *testing.T, c *Recorder, run Run) map[string]any {
	t.Helper()
	b, err := c.JSON(run)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, b)
}

func decode(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return out
}

// stat is one number of a summary.
func stat(t *testing.T, s map[string]any, tag, name string) float64 {
	t.Helper()
	block, _ := s[tag].(map[string]any)
	v, ok := block[name].(float64)
	if !ok {
		t.Fatalf("%s.%s is missing", tag, name)
	}
	return v
}
