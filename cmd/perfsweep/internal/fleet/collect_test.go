package fleet

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perfsweep/perfsweep/loadgen"
)

// noise is what else is in a log.
const noise = "perfsweep-part of nothing\nplain words\n\x00\xff\n"

// TestLinesOnTheWay: whatever happens to the printed lines, the same records
// arrive, and nothing is fetched that the lines brought.
func TestLinesOnTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		mangle func(follow int, all []byte) []byte
		fetch  bool
	}{
		"whole":                   {func(_ int, all []byte) []byte { return all }, false},
		"without a log at all":    {func(int, []byte) []byte { return nil }, true},
		"a log that never begins": {func(int, []byte) []byte { return []byte{} }, true},
		"a follow that breaks inside a line": {func(n int, all []byte) []byte {
			if n == 1 {
				return all[:len(all)*2/3]
			}
			return all
		}, false},
		"a log rotated away": {func(n int, all []byte) []byte {
			if i := bytes.Index(all, []byte("\n"+frameMark)); n == 1 && i >= 0 {
				return all[i+1:] // the first line is gone, and printed again
			}
			return all[len(all)/2:]
		}, false},
		"repeated and interleaved": {func(_ int, all []byte) []byte {
			lines := bytes.SplitAfter(all, []byte("\n"))
			lines = append(lines, lines...)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
			return append([]byte(noise), bytes.Join(lines, []byte(noise+strings.Repeat("x", 3*maxLine)+"\n"))...)
		}, false},
		"damaged": {func(_ int, all []byte) []byte {
			return bytes.ReplaceAll(all, []byte(" 0 "), []byte(" 1 "))
		}, true},
		"of another run": {func(_ int, all []byte) []byte {
			return bytes.ReplaceAll(all, []byte(frameMark+" "), []byte(frameMark+" X"))
		}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			sim, pods, f := simulated(t, "kneed?chunk=32", 2)
			cfg, pre := level(t, f, loadgen.Gate, 24)
			fetched := 0
			pods[0].mangle = c.mangle
			pods[0].spoil = func(path string, b []byte) []byte {
				if path == pathPart {
					fetched++
				}
				return b
			}
			before := sim.Counters().OutputTokens
			r, err := f.Run(t.Context(), cfg, pre)
			if err != nil || r.TotalOutputTokens != sim.Counters().OutputTokens-before || (fetched > 0) != c.fetch {
				t.Errorf("%s: %d tokens, fetched %d times, %v", name, r.TotalOutputTokens, fetched, err)
			}
		})
	}
}

// TestLyingGenerator: what a generator tells is checked before it counts.
func TestLyingGenerator(t *testing.T) {
	state := func(change func(*status)) func(string, []byte) []byte {
		return func(path string, b []byte) []byte {
			var out reply
			if path != pathAwait || json.Unmarshal(b, &out) != nil || out.Status == nil || !out.Status.Finished {
				return b
			}
			change(out.Status)
			b, _ = json.Marshal(out)
			return b
		}
	}
	for name, c := range map[string]struct {
		spoil func(path string, b []byte) []byte
		words string
	}{
		"a wrong checksum":      {state(func(s *status) { s.Sum = sumOf(nil) }), "checksum"},
		"more than there is":    {state(func(s *status) { s.Bytes += 10 }), "no such page"},
		"less than there is":    {state(func(s *status) { s.Bytes -= 10 }), "does not give"},
		"an absurd size":        {state(func(s *status) { s.Bytes = 1 << 40 }), "are possible"},
		"a negative size":       {state(func(s *status) { s.Bytes = -1 }), "are possible"},
		"no answer of its kind": {func(string, []byte) []byte { return []byte("<html>") }, "no answer of a generator"},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, pods, f := simulated(t, "kneed?chunk=32", 2)
			cfg, pre := level(t, f, loadgen.Gate, 24)
			pods[1].spoil = c.spoil
			if r, err := f.Run(t.Context(), cfg, pre); err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "load-1") {
				t.Errorf("%s: %v, %v", name, r.All, err)
			}
		})
	}
}

// TestAbsurdRecords: records that say what could not have been are refused,
// though their checksums hold.
func TestAbsurdRecords(t *testing.T) {
	for name, records := range map[string][]byte{
		"empty": {}, "of another version": {200}, "noise": bytes.Repeat([]byte{7}, 5000), "a bomb": make([]byte, maxRecords+1),
	} {
		blob, err := pack(records)
		if err == nil {
			records, err = unpack(blob)
		}
		var p loadgen.Part
		if err == nil {
			err = p.UnmarshalBinary(records)
		}
		if err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := unpack([]byte("no gzip")); err == nil {
		t.Error("what is not packed was unpacked")
	}
}

// FuzzLines: no line is taken that was not printed.
func FuzzLines(f *testing.F) {
	blob := bytes.Repeat([]byte("some records, long enough for a few lines. "), 400)
	for i := range frames(len(blob)) {
		if n := len(frame("run", blob, i)); n > maxLine {
			f.Fatalf("a line of %d bytes", n)
		}
		f.Add(frame("run", blob, i))
	}
	f.Add([]byte(noise))
	f.Fuzz(func(t *testing.T, text []byte) {
		a := newAssembly("run", len(blob))
		_ = lines(bytes.NewReader(text), func(line []byte) bool { a.take(line); return true })
		for i, piece := range a.pieces {
			if !bytes.Equal(piece, blob[i*frameBytes:min(len(blob), (i+1)*frameBytes)]) {
				t.Fatalf("line %d was taken as %q", i, piece)
			}
		}
		for _, i := range a.missing() {
			a.take(frame("run", blob, i))
		}
		if !bytes.Equal(a.blob(), blob) {
			t.Fatal("another blob")
		}
	})
}
