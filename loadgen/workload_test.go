package loadgen

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parsed is a body as a server sees it.
func parsed(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return m
}

// bodiesOf makes bodies of a run that starts a campaign.
func bodiesOf(t *testing.T, spec WorkloadSpec, model string) *bodies {
	t.Helper()
	return workload(t, spec).bodies(&Config{Model: model})
}

// text is prompt i without its quotes.
func text(w *Workload, i uint64) string {
	quoted, _ := w.prompt(i)
	return strings.Trim(string(quoted), `"`)
}

func prompt(m map[string]any) string {
	return m["messages"].([]any)[0].(map[string]any)["content"].(string)
}

// TestBodyLikeAIPerf: our request has AIPerf's keys and values, but for the
// words of the prompt.
func TestBodyLikeAIPerf(t *testing.T) {
	b, err := os.ReadFile("testdata/aiperf-inputs.json")
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Data []struct {
			Payloads []map[string]any
		}
	}
	if err := json.Unmarshal(b, &in); err != nil {
		t.Fatal(err)
	}
	spec, err := DefaultSpec(AICR)
	if err != nil {
		t.Fatal(err)
	}
	ask := bodiesOf(t, spec, "mock").body(0)
	got, want := parsed(t, ask.body), in.Data[0].Payloads[0]
	if n, m := len(strings.Fields(prompt(got))), len(strings.Fields(prompt(want))); n != m || ask.out != 128 {
		t.Errorf("%d words, AIPerf has %d; %d tokens asked for", n, m, ask.out)
	}
	for _, m := range []map[string]any{got, want} {
		m["messages"].([]any)[0].(map[string]any)["content"] = ""
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("AIPerf's payload (-) and ours (+):\n%s", d)
	}
}

// TestRequestIsAFunctionOfItsNumber: order, other requests and other
// generators change nothing.
func TestRequestIsAFunctionOfItsNumber(t *testing.T) {
	spec := WorkloadSpec{Name: Synthetic, ISL: 50, ISLStddev: 10, OSL: 30, OSLStddev: 10, Seed: 7, IgnoreEOS: true}
	a, b := bodiesOf(t, spec, "m"), bodiesOf(t, spec, "m")
	other := spec
	other.Seed = 8
	c := bodiesOf(t, other, "m")
	var first []string
	for i := range uint64(100) {
		first = append(first, string(a.body(i).body))
	}
	differ := 0
	for i := uint64(100); i > 0; i-- {
		if string(b.body(i-1).body) != first[i-1] {
			t.Fatalf("request %d differs when made in another order", i-1)
		}
		if string(c.body(i-1).body) != first[i-1] {
			differ++
		}
	}
	if differ != 100 {
		t.Errorf("another seed changes %d of 100 requests", differ)
	}
	if m := parsed(t, []byte(first[0])); m["ignore_eos"] != true {
		t.Errorf("ignore_eos is not sent: %v", m)
	}
}

// TestPromptsDiffer within their first 16 words, even for a tokenizer that
// knows no words but w and a number.
func TestPromptsDiffer(t *testing.T) {
	w := workload(t, WorkloadSpec{Name: Synthetic, ISL: 64, OSL: 1, Seed: 1})
	seen := map[string]bool{}
	for i := range uint64(2000) {
		words := strings.Fields(text(w, i))[:16]
		known := ""
		for _, word := range words {
			if rest, ok := strings.CutPrefix(strings.Trim(word, `"`), "w"); ok && rest[0] <= '9' {
				known += word + " "
			}
		}
		seen[known] = true
	}
	// Among 2000 draws of 4 million a birthday pair or two is no surprise.
	if len(seen) < 1996 {
		t.Errorf("%d different beginnings of 2000 prompts", len(seen))
	}
}

func TestPool(t *testing.T) {
	w := bodiesOf(t, aicr(t), "m")
	seen := map[string]int{}
	for i := range uint64(1000) {
		seen[string(w.body(i).body)]++
	}
	if len(seen) != 100 {
		t.Errorf("%d different prompts in a pool of 100", len(seen))
	}
}

// TestLengths: draws have the mean and deviation asked for and are at least 1;
// the calibration stretches the words.
func TestLengths(t *testing.T) {
	const n = 4000
	spec := WorkloadSpec{Name: Synthetic, ISL: 100, ISLStddev: 20, OSL: 32, OSLStddev: 10, Seed: 3}
	w, err := NewWorkload(spec, Preflight{WordsPerToken: .8})
	if err != nil {
		t.Fatal(err)
	}
	var in, out, in2, out2 float64
	for i := range uint64(n) {
		words, limit := float64(len(strings.Fields(text(w, i)))), float64(w.out.draw(3, i, drawOSL))
		if words < 1 || limit < 1 {
			t.Fatalf("request %d: %g words, %g tokens", i, words, limit)
		}
		in, out, in2, out2 = in+words, out+limit, in2+words*words, out2+limit*limit
	}
	sd := func(sum, squares float64) float64 { return math.Sqrt(squares/n - sum*sum/n/n) }
	// Within four standard errors of the mean, and 5 % of the deviation.
	if math.Abs(in/n-80) > 4*16/math.Sqrt(n) || !near(sd(in, in2), 16, .05) {
		t.Errorf("%g ± %g words, want 80 ± 16", in/n, sd(in, in2))
	}
	if math.Abs(out/n-32) > 4*10/math.Sqrt(n) || !near(sd(out, out2), 10, .05) {
		t.Errorf("%g ± %g tokens, want 32 ± 10", out/n, sd(out, out2))
	}
}

func TestSpecsThatAreRefused(t *testing.T) {
	good := WorkloadSpec{Name: Synthetic, ISL: 1, OSL: 1}
	for name, edit := range map[string]func(*WorkloadSpec){
		"name": func(s *WorkloadSpec) { s.Name = "x" }, "isl": func(s *WorkloadSpec) { s.ISL = 0 },
		"osl": func(s *WorkloadSpec) { s.OSL = -1 }, "stddev": func(s *WorkloadSpec) { s.OSLStddev = -1 },
		"pool": func(s *WorkloadSpec) { s.Pool = -1 }, "large": func(s *WorkloadSpec) { s.ISL = 1 << 30 },
		"eos":  func(s *WorkloadSpec) { s.Name, s.IgnoreEOS = AICR, true },
		"file": func(s *WorkloadSpec) { s.Name, s.File = FromFile, "no such file" },
	} {
		s := good
		edit(&s)
		if _, err := NewWorkload(s, Preflight{}); !isBadInput(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DefaultSpec("x"); !isBadInput(err) {
		t.Errorf("DefaultSpec: %v", err)
	}
	for _, name := range []string{AICR, Synthetic} {
		s, err := DefaultSpec(name)
		if err != nil || s.check() != nil {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
}

func isBadInput(err error) bool {
	_, ok := err.(*BadInputError)
	return ok
}
