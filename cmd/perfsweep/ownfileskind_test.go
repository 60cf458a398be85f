package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fileFlags name files that are read, or written by the commands of writtenBy.
const fileFlags = `anchor api-key-file approvals approve baseline bundle ca-file cert-file deploy-file deployment-spec from key key-file kubeconfig
	overlay replay scaling sidecar sign-key unix-socket workload ctrf junit history journal`

// writtenBy are the flags whose file a command writes. "output" is -o of report.
func writtenBy() map[string][]string {
	return map[string][]string{
		"sweep":     {"journal"},
		"calibrate": {"approvals", "bundle", "journal", "overlay", "sidecar"},
		"check":     {"ctrf", "history", "journal", "junit"},
		"report":    {"output"},
		"config":    {"bundle", "journal"}, // it shows what a command would do
	}
}

// plainFlags name no file. recipes, data and output-artifact-dir are folders, whose
// files TestOwnFilesElsewhere looks at; ab has a journal of its own there, and
// config is read before anything else.
const plainFlags = `ab ab-label across api-key-env api-key-secret body-field bridge by chart clean config context data deploy-image deployment effort
	endpoint exit-codes floor-form floor-profile gate gpu-product header image label listen load-cpu load-image load-memory load-namespace
	load-node-selector load-pods load-pull-secret load-toleration metrics model name namespace output recipes target transport validator why allow`

// every collects the commands that have a flag or argument.
func every(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		all = append(all, every(sub)...)
	}
	return all
}

// takesText reports whether the value of a flag may be the name of a file.
func takesText(f *pflag.Flag) bool {
	return slices.Contains([]string{"string", "stringArray", "stringSlice"}, f.Value.Type())
}

// Every flag of every command is known as one that names a file or not, and as
// one that the command writes or not, so that a new one is not forgotten.
func TestOwnFilesKnowsEveryFlag(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range every((&app{err: io.Discard, out: io.Discard}).root()) {
		c.InheritedFlags() // adds them to Flags
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !takesText(f) {
				return
			}
			seen[f.Name] = true
			file, plain := slices.Contains(strings.Fields(fileFlags), f.Name), slices.Contains(strings.Fields(plainFlags), f.Name)
			if file == plain {
				t.Errorf("%s --%s: say in fileFlags or in plainFlags of this test whether it names a file", c.CommandPath(), f.Name)
			}
		})
		if c.Flags().Lookup("write") != nil {
			if err := c.Flags().Set("write", "true"); err != nil {
				t.Fatal(err)
			}
		}
		var out []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if writes(c, f.Name) {
				out = append(out, f.Name)
			}
		})
		want := slices.DeleteFunc(slices.Clone(writtenBy()[c.Name()]), func(n string) bool { return n == "output" })
		if slices.Sort(out); !slices.Equal(out, want) {
			t.Errorf("%s writes the files of %q, and of %q by writtenBy of this test", c.CommandPath(), out, want)
		}
	}
	for _, n := range append(strings.Fields(fileFlags), strings.Fields(plainFlags)...) {
		if !seen[n] {
			t.Errorf("no command has --%s any more", n)
		}
	}
}

// A path in a campaign file is relative to that file, whatever names it.
func TestCampaignFilePaths(t *testing.T) {
	for section, keys := range configSchema((&app{err: io.Discard, out: io.Discard}).root()).Commands {
		for key := range keys {
			if slices.Contains(strings.Fields(fileFlags), key) && !slices.Contains(pathFlags(), key) {
				t.Errorf("%s: the file of %s would be looked for where the command was given", section, key)
			}
		}
	}
}

// TestOwnFilesOfEveryPair: whatever a command writes, no flag or argument of it
// may name the same file, but for two journals.
func TestOwnFilesOfEveryPair(t *testing.T) {
	t.Chdir(t.TempDir())
	content := []byte("mine\n")
	names := []string{"f", "f.html", "other.jsonl"}
	for _, name := range names {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pairs := 0
	for _, c := range every((&app{err: io.Discard, out: io.Discard}).root()) {
		for _, out := range writtenBy()[c.Name()] {
			file, base := "f", []string(nil)
			switch out {
			case "output":
				file, base = "f.html", []string{"other.jsonl"}
			case "overlay":
				base = []string{"--write"}
			}
			try := func(with ...string) {
				pairs++
				args := slices.Concat(strings.Fields(c.CommandPath())[1:], []string{"--" + out + "=" + file}, base, with)
				var said bytes.Buffer
				if code := run(t.Context(), args, nil, io.Discard, &said); code != exitInput || !strings.Contains(said.String(), "uses that file for something else") {
					t.Errorf("%v: exit code %d, %s", args, code, &said)
				}
			}
			if c.Name() == "report" {
				try(file)
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				journals := slices.Contains(journalFlags(), out) && slices.Contains(journalFlags(), f.Name)
				if f.Name != out && !journals && slices.Contains(strings.Fields(fileFlags), f.Name) {
					try("--" + f.Name + "=" + file)
				}
			})
		}
	}
	if pairs < 50 {
		t.Errorf("only %d pairs were tried", pairs)
	}
	for _, name := range names {
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s was replaced: %q, %v", name, got, err)
		}
	}
}

// What no flag of the command names is kept as well: the chain of an overlay, a
// kubeconfig, the journal of --ab, and whatever of ours lies where a file is made
// anew.
func TestOwnFilesElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	files := map[string]string{
		"tree/overlays/leaf.yaml": "kind: RecipeMetadata\n", "tree/overlays/base.yaml": "kind: RecipeMetadata\n", "tree/mixins/m.yaml": "kind: RecipeMixin\n",
		"tree/validators/catalog.yaml": "kind: ValidatorCatalog\n", "alone.yaml": "kind: RecipeMetadata\n",
		"elsewhere/overlays/base.yaml": "kind: RecipeMetadata\n", "elsewhere/note.yaml": "a: 1\n", "kube": "clusters: []\n", "j.jsonl": "{\"type\":\"campaign\"}\n", "j.jsonl.b": "x\n",
		"p.json": "{\"schema_version\": 1, \"tool_version\": \"1\", \"campaign_started\": \"x\"}\n", "a.json": "{\"approvals\": [{\"journal_sha256\": \"x\"}]}\n",
		"h.json": "{\"schema_version\":1,\"series_sha256\":\"x\"}\n", "out/r.jsonl": "{\"type\":\"campaign\"}\n", "out/r.json": "{\"approvals\":[{\"journal_sha256\":\"\"}]}\n",
		"c.yaml": "targets:\n  x:\n    target: sim:gb300\n    overlay: alone.yaml\n", "data/overlays/leaf.yaml": "kind: RecipeMetadata\n", "mine.html": "<p>mine</p>\n", "mine.json": " \n", "data/registry.yaml": "components: []\n",
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", "kube")
	const used, lost = "uses that file for something else", "which would be lost"
	check := "check --overlay tree/overlays/leaf.yaml --journal j.jsonl "
	for _, row := range []struct{ command, says string }{
		{check + "--ctrf tree/overlays/base.yaml", used},
		{check + "--junit tree/mixins/m.yaml", used},
		{check + "--history tree/validators/catalog.yaml", used},
		{"check --overlay alone.yaml --recipes elsewhere --ctrf elsewhere/overlays/base.yaml", used},
		{"check --overlay alone.yaml --recipes elsewhere --ctrf elsewhere/note.yaml", used},
		{"calibrate --overlay tree/overlays/leaf.yaml --write --sidecar tree/overlays/base.yaml", used},
		{"calibrate --overlay tree/overlays/leaf.yaml --journal tree/mixins/m.yaml", used},
		{check + "--ctrf kube", used},
		{"check --config c.yaml --ctrf c.yaml", used},
		{"calibrate --overlay tree/overlays/leaf.yaml --data data --journal data/overlays/leaf.yaml", used},
		{"calibrate --overlay tree/overlays/leaf.yaml --data data --sidecar data/overlays/leaf.approvals.json", used},
		{"calibrate --overlay tree/overlays/leaf.yaml --data data --sidecar data/registry.yaml", used},
		{"calibrate --overlay tree/overlays/leaf.yaml --data data --bundle data/registry.yaml --journal j.jsonl", used},
		{"report j.jsonl -o mine.html", "is not a page of perfsweep, and would be lost"},
		{"sweep --target sim:gb300 --ab sim:h100 --journal j.jsonl --workload j.jsonl.b", used},
		{"sweep --target sim:gb300 --ab sim:h100 --journal j.jsonl --ca-file j.jsonl.b", used},
		{check + "--ctrf p.json", lost}, {check + "--junit a.json", lost}, {check + "--ctrf h.json", lost}, {check + "--ctrf alone.yaml", lost},
		{"report j.jsonl -o p.json", lost}, {"report j.jsonl -o a.json", lost}, {"report j.jsonl -o h.json", lost},
		{"profile --model m --url http://127.0.0.1:1 --concurrency 1 --osl 8 --output-artifact-dir out --profile-export-prefix r", "--profile-export-prefix out/r.json: there is a file of approvals"},
		{"profile --model m --url http://127.0.0.1:1 --concurrency 1 --osl 8 --output-artifact-dir out --profile-export-prefix .aiperf_results_ready", used},
	} {
		var said bytes.Buffer
		if code := run(t.Context(), strings.Fields(row.command), nil, io.Discard, &said); code != exitInput || !strings.Contains(said.String(), row.says) {
			t.Errorf("%s: exit code %d, %s", row.command, code, &said)
		}
	}
	// An empty file is made anew; the command then fails by its journal.
	for _, command := range []string{"report j.jsonl -o mine.json", check + "--ctrf mine.json"} {
		var said bytes.Buffer
		if run(t.Context(), strings.Fields(command), nil, io.Discard, &said); strings.Contains(said.String(), used) || strings.Contains(said.String(), lost) {
			t.Errorf("%s: %s", command, &said)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if got, err := os.ReadFile(name); name != "mine.json" && (err != nil || string(got) != files[name]) {
			t.Errorf("%s was replaced: %q, %v", name, got, err)
		}
	}
}
