package sweep

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDamagedJournal(t *testing.T) {
	_, raw := write(t, someRuns(3))
	lines := strings.SplitAfter(string(raw), "\n")[:4]
	join := func(l ...string) string { return strings.Join(l, "") }
	for _, c := range []struct {
		name, content, want string
	}{
		{"no journal", "hello\nworld\n", ":1: this is not a perfsweep journal"},
		{"no journal, one line", "hello", ":1: this is not a perfsweep journal"},
		{"another kind first", lines[1], ":1: this is not a perfsweep journal"},
		{"newer", strings.Replace(lines[0], `"schema_version":1`, `"schema_version":2`, 1), ":1: schema version 2 is newer"},
		{"no version", strings.Replace(lines[0], `"schema_version":1,`, ``, 1), ":1: schema version 0"},
		{"bad plan", strings.Replace(lines[0], `"repeats":2`, `"repeats":-2`, 1), ":1: damaged header"},
		{"no GPUs", strings.Replace(lines[0], `"gpus":2`, `"gpus":0`, 1), ":1: damaged header"},
		{"a line half gone", join(lines[0], lines[1][:40], "\n", lines[2]), ":2: damaged run"},
		{"an empty line", join(lines[0], "\n", lines[1]), ":2: damaged run"},
		{"a line lost", join(lines[0], lines[2]), ":2: run 2 where run 1"},
		{"a line doubled", join(lines[0], lines[1], lines[1]), ":3: run 1 where run 2"},
		{"two headers", join(lines[0], lines[0]), ":2: a line of type"},
		{"concurrency 0", join(lines[0], strings.Replace(lines[1], `"concurrency_per_gpu":8`, `"concurrency_per_gpu":0`, 1)), ":2: run 1 at 0"},
		{"unknown kind", join(lines[0], strings.Replace(lines[1], `"kind":"steady"`, `"kind":"x"`, 1)), ":2: run 1 is of unknown kind"},
		{"wrong type of a field", join(lines[0], strings.Replace(lines[1], `"seq":1`, `"seq":"1"`, 1)), ":2: damaged run"},
		{"two runs on the last line", join(lines[0], strings.TrimSuffix(lines[1], "\n"), lines[2]), ":2: damaged run"},
		{"a whole last line that is no JSON", join(lines[0], lines[1], "{\"type\":\"run\",\n"), ":3: damaged run"},
		{"a negative ITL", strings.Replace(lines[0], `"preflight":{`, `"preflight":{"stream_itl_ms":-1,`, 1), ":1: damaged header: a single-stream ITL of -1 ms"},
		{"a key twice", join(lines[0], strings.Replace(lines[1], `"seq":1`, `"seq":9,"seq":1`, 1)), ":2: the key \"seq\" stands twice"},
		{"a key twice, once escaped", join(lines[0], strings.Replace(lines[1], `"seq":1`, `"s\u0065q":9,"seq":1`, 1)), ":2: the key \"seq\" stands twice"},
		{"an inner key twice", join(lines[0], strings.Replace(lines[1], `"window":{`, `"window":{"requests":7,"x":[{}],"requests":7,`, 1)), ":2: "},
		{"another spelling", join(lines[0], strings.Replace(lines[1], `"whole_run":{`, `"whole_run":{"TTFT_p99_ms":7,`, 1)), ":2: the key \"TTFT_p99_ms\" is spelled \"ttft_p99_ms\""},
		{"a header key twice", strings.Replace(lines[0], `"gpus":2`, `"gpus":4,"gpus":2`, 1), ":1: damaged header: the key \"gpus\" stands twice"},
		{"a header key in capitals", strings.Replace(lines[0], `"gpus":2`, `"GPUs":2`, 1), ":1: damaged header: the key \"GPUs\""},
		{"endless line", join(lines[0], strings.Repeat("x", maxLine+1)), ":2: the line is longer"},
	} {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadJournal(path); err == nil || !strings.Contains(err.Error(), path+c.want) {
			t.Errorf("%s: read: %v, want %q", c.name, err, c.want)
		}
		if _, _, err := ResumeJournal(path); err == nil {
			t.Errorf("%s: resumed", c.name)
		}
		if left, _ := os.ReadFile(path); string(left) != c.content {
			t.Errorf("%s: a refused journal was changed", c.name)
		}
	}
}

// TestBlocksOfZeros: a disk that lost power may leave a line of zeros.
func TestBlocksOfZeros(t *testing.T) {
	runs := someRuns(3)
	path, raw := write(t, runs)
	for _, tail := range []string{"\x00\x00\x00", "\x00\x00\x00\n", "{\"type\":\"run\",\x00\x00\n", "{\"type\":\"run\","} {
		if err := os.WriteFile(path, append(bytes.Clone(raw), tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		j, c, err := ResumeJournal(path)
		if err != nil {
			t.Fatalf("%q at the end: %v", tail, err)
		}
		sameRuns(t, c.Runs, runs)
		_ = j.Close()
		if left, _ := os.ReadFile(path); !bytes.Equal(left, raw) {
			t.Errorf("%q was not cut off", tail)
		}
	}
}

func FuzzReadJournal(f *testing.F) {
	dir := f.TempDir()
	j, err := CreateJournal(filepath.Join(dir, "seed"), head())
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range someRuns(2) {
		if err := j.Append(r); err != nil {
			f.Fatal(err)
		}
	}
	_ = j.Close()
	raw, err := os.ReadFile(filepath.Join(dir, "seed"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)-9])
	f.Add([]byte(headerStart))
	f.Add([]byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, good, err := readJournal(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		if good > int64(len(data)) || good == 0 {
			t.Fatalf("%d of %d bytes are whole lines", good, len(data))
		}
		again, all, err := readJournal(bytes.NewReader(data[:good]), "fuzz")
		if err != nil || all != good {
			t.Fatalf("what was cut off was needed: %v", err)
		}
		sameRuns(t, again.Runs, c.Runs)
		// Whatever a journal says, planning on must not panic.
		p := c.Plan
		p.MaxRuns = min(p.MaxRuns, 40)
		nextStep(p, c.Runs, remember(cheapFit))
	})
}
