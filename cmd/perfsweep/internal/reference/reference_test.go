package reference

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// sample is a tree with all that a page can have.
func sample() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "Do things", Long: "It does <things> as [asked].\n\nModes\n  fast   a | b\n\n  slow   .hidden"}
	root.PersistentFlags().StringP("output", "o", "text", "what stdout `FORM` holds: a|b")
	one := &cobra.Command{Use: "one FILE", Short: "First", Long: ".dot first\nback\\slash", Example: "  tool one a.b", Run: run}
	one.Flags().Int("n", 0, "how many *things*…")
	one.Flags().String("clean", "", "remove `RUN`")
	one.Flags().Lookup("clean").NoOptDefVal = "ended"
	one.Flags().Bool("secret", false, "not shown")
	_ = one.Flags().MarkHidden("secret")
	two := &cobra.Command{Use: "two", Short: "Second", Run: run}
	one.AddCommand(two)
	root.AddCommand(one, &cobra.Command{Use: "worker", Short: "Hidden", Hidden: true, Run: run}, &cobra.Command{Use: "words", Short: "What words mean", Long: "Words."})
	return root
}

func find(t *testing.T, files []File, path string) string {
	t.Helper()
	for _, f := range files {
		if f.Path == path {
			return f.Text
		}
	}
	t.Fatalf("no file %s", path)
	return ""
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in\n%s", w, text)
		}
	}
}

func TestPages(t *testing.T) {
	files := Pages(sample())
	if len(files) != 3 {
		t.Errorf("%d pages, want those of tool, one and words", len(files))
	}
	contains(t, find(t, files, "tool.md"), "# tool\n\nDo things.\n", "It does &lt;things> as \\[asked].\n", "```text\nModes\n  fast   a | b\n\n  slow   .hidden\n```",
		"| `-o, --output FORM` | `text` | what stdout FORM holds: a\\|b |")
	contains(t, find(t, files, "tool-one.md"), "# tool one\n", "tool one FILE [flags]", "tool one a.b", "| `--n int` |  | how many \\*things\\*… |", "| `--clean[=RUN]` |", "## tool one two\n")
	contains(t, find(t, files, "words.md"), "# What words mean\n", "`tool help words`", "\n\nWords.\n")
	contains(t, Index(sample()), "[tool](tool.md)", "[one](tool-one.md)", "[one two](tool-one.md#tool-one-two)", "[help words](words.md)")
	for _, f := range files {
		if strings.Contains(f.Text, "secret") || strings.Contains(f.Text, "worker") {
			t.Errorf("%s shows what is hidden", f.Path)
		}
	}
}

func TestMan(t *testing.T) {
	files := Man(sample(), "Zero is good.")
	if len(files) != 4 {
		t.Errorf("%d man pages, want those of tool, one, two and words", len(files))
	}
	contains(t, find(t, files, "tool-one.1"), ".TH TOOL\\-ONE 1 \"\" ", "tool\\-one \\- First\n", "\n\\&.dot first\nback\\eslash\n", ".TP\n\\fB\\-\\-n int\\fR\nhow many *things*\\[u2026]\n",
		".SH GLOBAL OPTIONS\n.TP\n\\fB\\-o, \\-\\-output FORM\\fR\n", "(default text)", ".SH EXIT STATUS\nZero is good.\n", ".SH EXAMPLES\n.nf\ntool one a.b\n.fi\n", "tool(1), tool\\-one\\-two(1), tool\\-words(7)")
	contains(t, find(t, files, "tool-words.7"), ".TH TOOL\\-WORDS 7 ", "Words.\n")
	for _, f := range files {
		for line := range strings.Lines(f.Text) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".h") {
				t.Errorf("%s has text that roff takes for a request: %s", f.Path, line)
			}
		}
	}
}
