package sweep

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Ids of a real frontend, and the largest one: none survives a float.
const idA, idB, idC uint64 = 14959705552560362131, 1670803154388559761, math.MaxUint64

func TestWorkersAreCountedAroundRuns(t *testing.T) {
	lost := errors.New("no answer")
	for _, c := range []struct {
		name          string
		before, after any // ids or an error
		observed      string
	}{
		{"all there", []uint64{idA, idB}, []uint64{idB, idA}, ""},
		{"listed twice", []uint64{idA, idA, idB}, []uint64{idA, idB, idB}, ""},
		{"one gone from the start", []uint64{idA}, []uint64{idA}, "1 of 2 workers ready before the run, 1 after"},
		{"listed twice, and one gone", []uint64{idA, idA}, []uint64{idA, idA}, "1 of 2 workers ready before the run, 1 after"},
		{"one leaves", []uint64{idA, idB}, []uint64{idA}, "2 of 2 workers ready before the run, 1 after; left: 1670803154388559761"},
		{"one comes", []uint64{idA}, []uint64{idA, idB}, "1 of 2 workers ready before the run, 2 after"},
		{"one too many", []uint64{idA, idB, idC}, []uint64{idA, idB, idC}, "3 of 2 workers ready before the run, 3 after"},
		{"one restarts", []uint64{idA, idB}, []uint64{idA, idC}, "2 of 2 workers ready, but not the same ones: left during the run: 1670803154388559761; joined: 18446744073709551615"},
		{"nobody", []uint64{}, []uint64{}, "0 of 2 workers ready before the run, 0 after"},
		{"not read before", lost, []uint64{idA, idB}, "could not be counted before the run: no answer"},
		{"not read after", []uint64{idA, idB}, lost, "could not be counted after the run: no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := []any{c.before, c.after}
			watch := &WorkerWatch{Expected: 2, From: "--label workers", Read: func(context.Context) ([]uint64, error) {
				a := answers[0]
				answers = answers[1:]
				if err, ok := a.(error); ok {
					return nil, err
				}
				return a.([]uint64), nil
			}}
			made := 0
			campaign := campaign(t, &made)
			campaign.Workers = watch
			if err := campaign.step(t.Context(), Step{ConcurrencyPerGPU: 8, Kind: loadgen.Steady, Purpose: Coarse}); err != nil {
				t.Fatal(err)
			}
			run := campaign.Curve.Runs[0]
			if len(answers) != 0 || run.Workers == nil {
				t.Fatalf("%d counts were not made; the run has %+v", len(answers), run.Workers)
			}
			if run.Valid() != (c.observed == "") {
				t.Fatalf("violations %+v", run.Violations)
			}
			if c.observed != "" && (run.Violations[0].Gate != "V1" || !strings.Contains(run.Violations[0].Observed, c.observed) || run.Violations[0].Remedy == "") {
				t.Errorf("got %+v, want %q", run.Violations[0], c.observed)
			}
		})
	}
}

// TestWorkersInTheJournal: ids come back as they were, and a run that nobody
// counted for has no word of it.
func TestWorkersInTheJournal(t *testing.T) {
	made, path := 0, filepath.Join(t.TempDir(), "j.jsonl")
	c := campaign(t, &made)
	c.Curve.Fingerprint.Target = "http://frontend:8000"
	j, err := CreateJournal(path, c.Curve)
	if err != nil {
		t.Fatal(err)
	}
	c.Journal = j
	for _, w := range []*WorkerWatch{nil, {Expected: 2, From: "as at the preflight", Read: func(context.Context) ([]uint64, error) { return []uint64{idC, idA}, nil }}} {
		c.Workers = w
		if err := c.step(t.Context(), Step{ConcurrencyPerGPU: 8, Kind: loadgen.Steady, Purpose: Coarse}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	back, err := ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if back.Runs[0].Workers != nil || !reflect.DeepEqual(back.Runs[1].Workers, c.Curve.Runs[1].Workers) {
		t.Errorf("read back %+v and %+v", back.Runs[0].Workers, back.Runs[1].Workers)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const roll = `{"ready":2,"instance_ids":["14959705552560362131","18446744073709551615"]}`
	if want := `"workers":{"expected":2,"expected_from":"as at the preflight","before":` + roll + `,"after":` + roll + `}`; strings.Count(string(text), want) != 1 {
		t.Errorf("the journal lacks %s:\n%s", want, text)
	}
}

// TestUnreadIsBounded: an error may hold what a server sent.
func TestUnreadIsBounded(t *testing.T) {
	w := &WorkerWatch{Read: func(context.Context) ([]uint64, error) { return nil, errors.New(strings.Repeat("é\xff", 1000)) }}
	if r := w.roll(t.Context()); len([]rune(r.Unread)) != maxUnread || !utf8.ValidString(r.Unread) {
		t.Errorf("%d runes: %q", len([]rune(r.Unread)), r.Unread)
	}
}
