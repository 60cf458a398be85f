package docs

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	p, err := Parse("a.md", "# T\n<!-- serve: http://a:1 kneed?gpus=2 -->\nSee `perfsweep knee` and `x`.\n\n<!-- run: simulator -->\n```console\n$ perfsweep sweep \\\n    --target sim:kneed\nknee\n\n$ echo $?\n0\n```\n```json\n$ none\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Blocks) != 1 || len(p.Blocks[0].Commands) != 2 || p.Servers["http://a:1"] != "kneed?gpus=2" || len(p.Spans) != 2 {
		t.Fatalf("%+v", p)
	}
	c := p.Blocks[0].Commands[0]
	if c.Text != "perfsweep sweep --target sim:kneed" || c.Line != 7 || !slices.Equal(c.Want, []string{"knee", ""}) {
		t.Errorf("%+v", c)
	}
}

// A file that a page shows is one that its commands read.
func TestParseFiles(t *testing.T) {
	p, err := Parse("a.md", "<!-- file: c.yaml -->\n```yaml\na:\n  b: 1\n```\n```yaml\nc: 1\n```\n")
	if err != nil || len(p.Files) != 1 || p.Files["c.yaml"] != "a:\n  b: 1\n" || len(p.Blocks) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestParseIndented(t *testing.T) {
	p, err := Parse("a.md", "text\n\n    make a && kubectl get pods    # why\n    # no command\n")
	if err != nil || len(p.Blocks) != 2 || p.Blocks[0].Class != Cluster || p.Blocks[0].Commands[0].Text != "make a" || p.Blocks[1].Commands[0].Text != "kubectl get pods" {
		t.Errorf("%+v, %v", p, err)
	}
}

// No command escapes: each of these would be one that nobody executes.
func TestParseRefuses(t *testing.T) {
	for name, page := range map[string]string{
		"no class":      "```console\n$ make\n```\n",
		"class too far": "<!-- run: offline -->\ntext\n```sh\n$ make\n```\n",
		"unknown class": "<!-- run: skip -->\n```console\n$ make\n```\n",
		"no prompt":     "<!-- run: offline -->\n```sh\nmake\n```\n",
		"file too far":  "<!-- file: c.yaml -->\ntext\n```yaml\na: 1\n```\n",
		"no end":        "<!-- run: offline -->\n```console\n$ make\n",
	} {
		if p, err := Parse("a.md", page); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"knee at 16.7 per GPU", "knee at 9 per GPU", true},
		{"knee at 16.7 per GPU", "no knee", false},
		{"  8  2  1,503 15.1 ####", " 16 2 12,503 5.1 ##", true},
		{"a\n...\nz", "a\nz", true},
		{"a\n...\nz", "a\nb\nc\nz", true},
		{"a\n...\nz", "a\nb", false},
		{"a", "a\nb", false},
		{"...", "", true},
	} {
		if got := Matches(Lines(c.want), Lines(c.got), SameShape); got != c.same {
			t.Errorf("%q, %q: %v", c.want, c.got, got)
		}
	}
}

func TestWords(t *testing.T) {
	got, err := Words(`perfsweep check --target 'sim:gb300?a=1&b=2' --why "two words" ''`)
	if err != nil || strings.Join(got, "|") != "perfsweep|check|--target|sim:gb300?a=1&b=2|--why|two words|" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"a | b", "a > b", "a 'b", "a $B"} {
		if got, err := Words(bad); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
	if got, err := Words(Status); err != nil || len(got) != 2 {
		t.Errorf("%q, %v", got, err)
	}
}
