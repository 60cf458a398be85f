package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// whole are all commands of the program, those that cobra adds among them.
func whole(t *testing.T) []*cobra.Command {
	t.Helper()
	root := (&app{err: io.Discard, out: io.Discard}).root()
	if err := refuseMisspelt(root, nil); err != nil {
		t.Fatal(err)
	}
	return every(root)
}

// pathOf are the arguments that name a command.
func pathOf(c *cobra.Command) []string { return strings.Fields(c.CommandPath())[1:] }

// told runs a command that must end with 2, and returns what it said.
func told(t *testing.T, args ...string) string {
	t.Helper()
	return toldWith(t, exitInput, args...)
}

// toldWith runs a command that must end so, and returns what it said. Words that
// were made for programmers must not be among it.
func toldWith(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	if code := run(t.Context(), args, nil, &out, &said); code != want {
		t.Errorf("%q: exit code %d, %.300s%s", args, code, &out, &said)
	}
	for _, word := range []string{"strconv.", "parsing", "invalid syntax", "invalid argument", "stat ", "no such file or directory", "arg(s)"} {
		if strings.Contains(said.String(), word) {
			t.Errorf("%q says %q: %s", args, word, &said)
		}
	}
	return said.String()
}

// Whatever has commands below it names a word that is none of them, with the
// nearest one, though flags of that one follow.
func TestUnknownCommands(t *testing.T) {
	for _, c := range whole(t) {
		if !c.HasSubCommands() {
			continue
		}
		for _, word := range wordsBelow(c) {
			wrong := word + "x"
			for _, more := range [][]string{nil, {"--target", "x"}, {"--help"}, {"-o", "json", "--no-such-flag"}} {
				said := told(t, slices.Concat(pathOf(c), []string{wrong}, more)...)
				if !strings.HasPrefix(said, fmt.Sprintf("perfsweep: unknown command %q", wrong)) ||
					!strings.Contains(said, ", did you mean "+word+"?") || !strings.Contains(said, c.CommandPath()+" --help") {
					t.Errorf("%s %s %q: %s", c.CommandPath(), wrong, more, said)
				}
			}
		}
	}
	for _, args := range []string{"-o json calibrat", "--target sim:gb300 calibrat --overlay o.yaml", "--quiet calibrat", "calibrat"} {
		if said := told(t, strings.Fields(args)...); !strings.Contains(said, `unknown command "calibrat", did you mean calibrate?; see "perfsweep --help"`) {
			t.Errorf("%s: %s", args, said)
		}
	}
	for _, c := range whole(t) { // a flag without its dashes
		if !c.HasSubCommands() || c.Runnable() {
			continue
		}
		for _, flag := range shownFlags(c) {
			if said := told(t, append(pathOf(c), flag)...); !slices.Contains(wordsBelow(c), flag) && !strings.Contains(said, ", did you mean --"+flag+"?") {
				t.Errorf("%s %s: %s", c.CommandPath(), flag, said)
			}
		}
	}
	if said := told(t, "version"); !strings.Contains(said, `unknown command "version", did you mean --version?; see "perfsweep --help"`) {
		t.Error(said)
	}
	if said := told(t, "entirely-else"); strings.Contains(said, "did you mean") {
		t.Error(said)
	}
}

// A command refuses what it has no place for, in the same words everywhere.
func TestSurplusArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range whole(t) {
		if c.Runnable() {
			told(t, append(pathOf(c), "none-1", "none-2", "none-3")...)
		}
	}
	if said := told(t, "sweep", "target", "http://h"); !strings.Contains(said, `takes flags only, and "target" is none, did you mean --target?`) {
		t.Error(said)
	}
}

// Each flag of each command is suggested for one that is nearly it.
func TestUnknownFlags(t *testing.T) {
	for _, c := range whole(t) {
		if showsConfig(c) && c.Parent().HasParent() {
			continue // the flags are those of the command that it shows
		}
		c.InheritedFlags() // adds them to Flags
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			said := told(t, append(pathOf(c), "--"+f.Name+"x")...)
			if !strings.Contains(said, "did you mean --"+f.Name+"?") || !strings.Contains(said, c.CommandPath()+" --help") {
				t.Errorf("%s --%sx: %s", c.CommandPath(), f.Name, said)
			}
		})
	}
	for args, want := range map[string]string{
		"sweep --efort quick":        "unknown flag: --efort, did you mean --effort?",
		"sweep --max-concurrency 64": "did you mean --max-concurrency-per-gpu?",
		"sweep -target x":            "did you mean --target?",
		"knee --target x":            "unknown flag: --target; it is a flag of calibrate, check, sweep",
		"sweep --gpus":               "--gpus needs a value: a whole number, such as --gpus 8",
	} {
		if said := told(t, strings.Fields(args)...); !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %q", args, said, want)
		}
	}
}

// Each flag of each command says of a value that it cannot take which flag it is,
// which value, and what is wanted, with an example.
func TestWrongValues(t *testing.T) {
	t.Chdir(t.TempDir())
	wrong := map[string][]string{
		"int": {"four", "", "-", "1.5", "99999999999999999999"}, "uint64": {"x", "-1", "99999999999999999999"}, "float64": {"x", "1,5", ""},
		"duration": {"5", "x", "", "1 h"}, "intSlice": {"8,x", "8,,16", "x", "8;16"}, "bool": {"maybe"}, "MS": {"x", "500ms"}, "stringSlice": {`a"b`},
		"string": nil, "stringArray": nil, "value": nil,
	}
	tried := 0
	for _, c := range whole(t) {
		if c.IsAdditionalHelpTopicCommand() {
			continue
		}
		c.InheritedFlags()
		c.Flags().VisitAll(func(f *pflag.Flag) {
			values, known := wrong[f.Value.Type()]
			if !known {
				t.Errorf("%s --%s: wantedOf and this test know no type %s", c.CommandPath(), f.Name, f.Value.Type())
			}
			if f.Value.Type() == "value" {
				told(t, append(pathOf(c), "--"+f.Name+"=no:such,value")...)
			}
			if showsConfig(c) || c.InheritedFlags().Lookup(f.Name) != nil {
				values = values[:min(1, len(values))] // the same flag has them all elsewhere
			}
			for _, v := range values {
				tried++
				said := told(t, append(pathOf(c), "--"+f.Name+"="+v)...)
				if !strings.Contains(said, "--"+f.Name) || c.Name() != "profile" && (!strings.Contains(said, fmt.Sprintf("--%s %q", f.Name, v)) || !strings.Contains(said, "such as") && !strings.Contains(said, "its unit is missing")) {
					t.Errorf("%s --%s=%s: %s", c.CommandPath(), f.Name, v, said)
				}
			}
		})
	}
	if tried < 300 {
		t.Errorf("only %d values were tried", tried)
	}
	for args, want := range map[string]string{
		"sweep --gpus four":         `--gpus "four": give a whole number, such as --gpus 8; see "perfsweep sweep --help"`,
		"sweep --levels 8,x,32":     `--levels "8,x,32", value 2 of 3, "x": give whole numbers with commas between them, such as --levels 8,16,32`,
		"sweep --max-wall 90":       `--max-wall "90": its unit is missing: write --max-wall 90s for seconds, or m or h`,
		"sweep --osl-stddev -":      `--osl-stddev "-": give a whole number`,
		"sweep --max-runs=many":     "such as --max-runs 40",
		"sweep --quiet=maybe":       `--quiet "maybe": give true or false, or nothing for true, such as --quiet`,
		"sweep --gpus 1e99":         `--gpus "1e99": give a whole number`,
		"profile --concurrency 1.5": `--concurrency "1.5": must be a whole number from 1 to`,
	} {
		if said := told(t, strings.Fields(args)...); !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %q", args, said, want)
		}
	}
}

// help knows every command and page, says of another word which one is near, and
// offers them to a shell.
func TestHelpCommand(t *testing.T) {
	offered := func(args ...string) string {
		var out bytes.Buffer
		if code := run(t.Context(), append([]string{cobra.ShellCompRequestCmd, "help"}, args...), nil, &out, io.Discard); code != exitDone {
			t.Errorf("completion of help %q: exit code %d", args, code)
		}
		return out.String()
	}
	for _, c := range whole(t) {
		if c.Hidden || !c.HasParent() {
			continue
		}
		path := pathOf(c)
		var out, said bytes.Buffer
		if code := run(t.Context(), append([]string{"help"}, path...), nil, &out, &said); code != exitDone || out.Len() < 200 || said.Len() > 0 {
			t.Errorf("help %q: exit code %d, %s%s", path, code, &out, &said)
		}
		above, name := path[:len(path)-1], path[len(path)-1]
		if got := told(t, slices.Concat([]string{"help"}, above, []string{name + "x"})...); !strings.Contains(got, "did you mean "+name+"?") {
			t.Errorf("help %q: %s", name+"x", got)
		}
		if got := offered(append(slices.Clone(above), name[:1])...); !strings.Contains(got, name+"\t"+c.Short) {
			t.Errorf("%q is not offered: %s", path, got)
		}
	}
	if said := told(t, "help", "nosuchtopic"); !strings.Contains(said, `no help about "nosuchtopic"; there is some about `) || !strings.Contains(said, "concepts") {
		t.Error(said)
	}
	if said := told(t, "help", "knee", "more"); !strings.Contains(said, "perfsweep knee has no commands") {
		t.Error(said)
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"help"}, nil, &out, io.Discard); code != exitDone || !strings.Contains(out.String(), "concepts") {
		t.Errorf("help: %d, %s", code, &out)
	}
}
