package plural

import "testing"

func TestOf(t *testing.T) {
	for _, row := range []struct {
		n    int
		one  string
		want string
	}{
		{0, "run", "0 runs"},
		{1, "run", "1 run"},
		{2, "run", "2 runs"},
		{-1, "run", "-1 runs"},
		{1, "valid gate run", "1 valid gate run"},
		{21, "valid gate run", "21 valid gate runs"},
		{2, "GPU", "2 GPUs"},
		{2, "day", "2 days"},
		{1, "latency", "1 latency"},
		{2, "latency", "2 latencies"},
		{2, "pass", "2 passes"},
		{2, "batch", "2 batches"},
		{2, "finish", "2 finishes"},
		{2, "prefix", "2 prefixes"},
		{2, "path", "2 paths"},
	} {
		if got := Of(row.n, row.one); got != row.want {
			t.Errorf("%d, %q: %q, want %q", row.n, row.one, got, row.want)
		}
	}
	for x, want := range map[float64]string{0: "0 tokens", 0.4: "0 tokens", 0.6: "1 token", 1: "1 token", 1.4: "1 token", 1.6: "2 tokens", 1e15: "1000000000000000 tokens"} {
		if got := Of(x, "token"); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	if got := Of(uint64(1), "read") + ", " + Of(int64(3), "read"); got != "1 read, 3 reads" {
		t.Errorf("counts of other widths: %q", got)
	}
}

func TestVerbOf(t *testing.T) {
	for _, row := range []struct {
		n, of int
		want  string
	}{{0, 1, "is"}, {1, 1, "is"}, {0, 2, "are"}, {1, 2, "is"}, {2, 2, "are"}, {0, 0, "are"}} {
		if got := VerbOf(row.n, row.of, "is", "are"); got != row.want {
			t.Errorf("%d of %d: %q, want %q", row.n, row.of, got, row.want)
		}
	}
}

func TestVerb(t *testing.T) {
	for n, want := range []string{"are", "is", "are", "are"} {
		if got := Verb(n, "is", "are"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
