package enginesim

import (
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	p := target(t, "gb300?gpus=4&speed=0.7&stall=0.3&seed=9&noise=0.05&chunk=4&model=my/model&lost=1&sick=0.5&truncated=0.1&inband=0.2")
	want, _ := preset("gb300")
	want.GPUs, want.Speed, want.Stall, want.Seed, want.Noise, want.Chunk, want.Model = 4, 0.7, 0.3, 9, 0.05, 4, "my/model"
	want.Lost, want.Sick, want.Truncated, want.InBand = 1, 0.5, 0.1, 0.2
	if p != want {
		t.Errorf("got %+v\nwant %+v", p, want)
	}
	if got, want := p.Public(), "gb300?gpus=4&model=my%2Fmodel&chunk=4"; got != want {
		t.Errorf("Public() = %q, want %q", got, want)
	}
}

func TestTargetErrors(t *testing.T) {
	for _, tc := range []struct{ target, want string }{
		{"", "there are h100, gb200"},
		{"gb301", `no preset is called "gb301"`},
		{"gb300?osl=3", `unknown key "osl"; the keys are gpus=1..128`},
		{"gb300?gpus=0", "gpus=0: want a whole number from 1 to 128"},
		{"gb300?gpus=1.5", "want a whole number"},
		{"gb300?gpus=2&gpus=3", `key "gpus" is given twice`},
		{"gb300?speed=NaN", "want a number from 0.01 to 100"},
		{"gb300?speed=0", "want a number from 0.01 to 100"},
		{"gb300?speed=Inf", "want a number"},
		{"gb300?speed", "want a number"},
		{"gb300?stall=0.25", "stall must be 0, 0.1"},
		{"gb300?noise=-1", "want a number from 0 to 0.5"},
		{"gb300?seed=-1", "want a whole number from 0"},
		{"gb300?chunk=5000", "want a whole number from 1 to 1024"},
		{"gb300?model=", "printable characters"},
		{"gb300?model=a%0Ab", "printable characters"},
		{"gb300?model=%zz", "invalid URL escape"},
		{"gb300?router=kv", "want least-loaded or round-robin"},
		{"gb300?sick=0.5", "needs a healthy one beside it"},
		{"gb300?lost=1", "at least one worker must be left"},
		{"gb300?gpus=2&sick=0.5&router=round-robin", "no closed form"},
		{"kneed?truncated=0.6&inband=0.6", "shares of broken streams"},
	} {
		if _, err := ParseTarget(tc.target); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("ParseTarget(%q): %v, want …%s…", tc.target, err, tc.want)
		}
	}
}

func TestPresets(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range PresetInfos() {
		p, err := ParseTarget(info.Name)
		if err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		if p.GPUs != 1 || info.What == "" || seen[info.Name] || p.String() != info.Name {
			t.Errorf("%+v: %d GPUs, %q", info, p.GPUs, p)
		}
		if info.Public != strings.Contains(info.What, "Public: ") || info.Public && p.Model != realModel {
			t.Errorf("%+v does not say what is public", info)
		}
		seen[info.Name] = true
		// Real rates must fit a small machine.
		knee, ok := p.Knee(0.2)
		if !ok {
			knee = 256
		}
		if rate := p.Throughput(knee) / float64(p.Chunk); rate > 3000 && info.Name != "client-bound" {
			t.Errorf("%s: %.0f chunks/s at its knee", info.Name, rate)
		}
	}
	for _, name := range strings.Fields(`h100 gb200 gb300 rtx-pro-6000 b200 kneed retrograde still-rising flat two-stage batch-cap
		compute kv-bound frontend-bound client-bound sick-worker lost-worker stall shedding`) {
		if !seen[name] {
			t.Errorf("preset %s is missing", name)
		}
	}
}

// Every target that parses says what it is, in a form that parses to itself.
func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"gb300", "kneed?gpus=8&speed=.7&stall=0.3", "flat?model=a%26b", "h100?", "?gpus=1", "sick-worker?router=round-robin&seed=18446744073709551615"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseTarget(s)
		if err != nil {
			return
		}
		q, err := ParseTarget(p.String())
		if err != nil || q != p {
			t.Fatalf("%q → %q → %+v, %v", s, p, q, err)
		}
		pub, err := ParseTarget(p.Public())
		if err != nil && p.Lost == 0 {
			t.Fatalf("Public() of %q: %v", s, err)
		}
		if err == nil && (pub.Seed != 1 || pub.GPUs != p.GPUs) {
			t.Fatalf("Public() of %q is %q", s, p.Public())
		}
	})
}

func TestUnusableParamsAreErrors(t *testing.T) {
	s := New(Params{})
	defer func() { _ = s.Close() }()
	if _, err := s.Listen("127.0.0.1:0"); err == nil || !strings.Contains(err.Error(), "a step must take time") {
		t.Errorf("Listen: %v", err)
	}
	if _, err := s.Dial(t.Context(), "", ""); err == nil {
		t.Error("Dial: no error")
	}
	if c := s.Counters(); c != (Counters{}) {
		t.Errorf("%+v", c)
	}
}

// Every key that the parser takes is explained, in lines that fit a terminal, and
// its default is what the presets have.
func TestKeyHelpListsEveryKey(t *testing.T) {
	help := KeyHelp()
	for _, k := range keys() {
		if !strings.Contains(help, "  "+k.name+"="+k.values+" (default ") || !strings.Contains(help, "      "+k.what+"\n") {
			t.Errorf("%s is not explained in\n%s", k.name, help)
		}
	}
	for line := range strings.Lines(help) {
		if len(line) > 81 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	for _, want := range []string{"speed=0.01..100 (default 1)\n", "stall=0..0.9 in tenths (default 0; 0.3 of stall)\n", "model=NAME (default the preset's)\n", "gpus=1.."} {
		if !strings.Contains(help, want) {
			t.Errorf("%q is not in\n%s", want, help)
		}
	}
}
