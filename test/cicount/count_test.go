package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module is a small module with one package for each way a package can end.
var module = map[string]string{
	"go.mod":            "module m\n\ngo 1.26\n",
	"good/g_test.go":    "package good\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Run(\"x\", func(t *testing.T) {}); t.Run(\"y\", func(t *testing.T) {}) }\nfunc TestB(t *testing.T) { t.Log(\"quiet\") }\n",
	"bad/b_test.go":     "package bad\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Run(\"x\", func(t *testing.T) { t.Error(\"told why\") }); t.Run(\"y\", func(t *testing.T) { t.Log(\"quiet\") }) }\n",
	"skip/s_test.go":    "package skip\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Skip(\"not today\") }\nfunc TestB(t *testing.T) {}\n",
	"panics/p_test.go":  "package panics\nimport \"testing\"\nfunc TestA(t *testing.T) { panic(\"boom\") }\nfunc TestB(t *testing.T) {}\n",
	"exits/e_test.go":   "package exits\nimport (\"os\"; \"testing\")\nfunc TestMain(m *testing.M) { m.Run(); println(\"left early\"); os.Exit(3) }\nfunc TestA(t *testing.T) {}\n",
	"broken/b_test.go":  "package broken\nimport \"testing\"\nfunc TestA(t *testing.T) { undefinedName() }\n",
	"empty/e.go":        "package empty\n",
	"slow/slow_test.go": "package slow\nimport \"testing\"\nfunc TestHang(t *testing.T) { select {} }\n",
}

// stream runs go test -json on a package of the module.
func stream(t *testing.T, dir, pkg string) []byte {
	t.Helper()
	timeout := "2m"
	if pkg == "slow" { // it never ends by itself
		timeout = "1s"
	}
	cmd := exec.Command("go", "test", "-json", "-vet=off", "-timeout", timeout, "./"+pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output() // a failing suite is the point here
	if len(out) == 0 {
		t.Fatalf("go test -json ./%s printed nothing: %v", pkg, err)
	}
	return out
}

func TestCountRealStreams(t *testing.T) {
	dir := t.TempDir()
	for name, text := range module {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		pkg         string
		want        Tally
		shows, hide []string
	}{
		{"good", Tally{4, 0, 0}, []string{"ok   m/good  4 passed"}, []string{"quiet"}},
		{"bad", Tally{1, 2, 0}, []string{"FAIL m/bad", "told why"}, []string{"quiet"}},
		{"skip", Tally{1, 0, 1}, []string{"FAIL m/skip", "not today"}, nil},
		{"panics", Tally{0, 1, 0}, []string{"FAIL m/panics", "boom"}, nil},
		{"exits", Tally{1, 1, 0}, []string{"FAIL m/exits", "left early"}, nil},
		{"broken", Tally{0, 1, 0}, []string{"FAIL m/broken", "undefinedName"}, nil},
		{"slow", Tally{0, 1, 0}, []string{"FAIL m/slow", "timed out", "TestHang"}, nil},
		{"empty", Tally{}, nil, []string{"m/empty"}},
	} {
		t.Run(tt.pkg, func(t *testing.T) {
			in := stream(t, dir, tt.pkg)
			var out bytes.Buffer
			got, err := Count(bytes.NewReader(in), &out)
			if err != nil || got != tt.want {
				t.Errorf("Count = %+v, %v, want %+v\nprinted:\n%s", got, err, tt.want, &out)
			}
			for _, s := range tt.shows {
				if !strings.Contains(out.String(), s) {
					t.Errorf("the account lacks %q:\n%s", s, &out)
				}
			}
			for _, s := range tt.hide {
				if strings.Contains(out.String(), s) {
					t.Errorf("the account has %q, which nobody needs:\n%s", s, &out)
				}
			}
		})
	}
}

func TestCountDamagedStreams(t *testing.T) {
	const run = `{"Action":"run","Package":"m/p","Test":"TestA"}` + "\n"
	for _, tt := range []struct {
		name, in string
		want     Tally
		shows    string
	}{
		{"killed between tests", run + `{"Action":"pass","Package":"m/p","Test":"TestA"}` + "\n", Tally{1, 1, 0}, "broke off"},
		{"killed in a test", run + `{"Action":"output","Package":"m/p","Test":"TestA","Output":"got to here\n"}`, Tally{0, 1, 0}, "got to here"},
		{"plain text", "go: cannot find main module\n", Tally{}, "cannot find main module"},
		{"torn line", `{"Action":"pass","Pack`, Tally{}, `{"Action":"pass","Pack`},
		{"nothing", "", Tally{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			got, err := Count(strings.NewReader(tt.in), &out)
			if err != nil || got != tt.want || !strings.Contains(out.String(), tt.shows) {
				t.Errorf("Count = %+v, %v, want %+v and %q in:\n%s", got, err, tt.want, tt.shows, &out)
			}
		})
	}
}

func TestRunExitsAndTallies(t *testing.T) {
	const pass = `{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"pass","Package":"m/p","Test":"TestA"}
{"Action":"pass","Package":"m/p"}
`
	tally := filepath.Join(t.TempDir(), "tally")
	for _, tt := range []struct {
		name, in string
		args     []string
		want     int
	}{
		{"passed", pass, []string{"-tally", tally}, 0},
		{"skipped", strings.ReplaceAll(pass, `"pass","Package":"m/p","Test"`, `"skip","Package":"m/p","Test"`), []string{"-tally", tally}, 1},
		{"ran nothing", "", []string{"-tally", tally}, 1},
		{"unwritable tally", pass, []string{"-tally", t.TempDir()}, 2},
		{"unknown flag", pass, []string{"-count"}, 2},
	} {
		var out, errs bytes.Buffer
		if got := run(tt.args, strings.NewReader(tt.in), &out, &errs); got != tt.want {
			t.Errorf("%s: exit %d, want %d\n%s%s", tt.name, got, tt.want, &out, &errs)
		}
	}
	got, err := os.ReadFile(tally)
	if want := "1 0 0\n0 0 1\n0 0 0\n"; err != nil || string(got) != want {
		t.Errorf("tally = %q, %v, want %q", got, err, want)
	}
}
