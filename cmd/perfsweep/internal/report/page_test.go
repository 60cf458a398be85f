package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

const attack = `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "`<!--\u2028\x1b[2J"

// attacked is a page in which every word from outside is an attack.
func attacked() Page {
	f := sweep.Fingerprint{Target: attack, Model: attack, GPUs: 2, Labels: map[string]string{attack: attack}}
	c := Curve{Fingerprint: &f, Preflight: &loadgen.Preflight{Warnings: []string{attack}},
		Findings: []observe.Finding{{ConcurrencyPerGPU: 8, Bottleneck: observe.Bottleneck(attack), Evidence: []string{attack}, Against: []string{attack}, Try: attack}}}
	for i, n := range []int{4, 8, 16, 32, 64} {
		x := []float64{1000, 1900, 3500, 3600, 3500}[i]
		c.Runs = append(c.Runs, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: x, TTFTP50MS: 20, TTFTP99MS: 30, ITLMS: 3})
		r := sweep.Run{Seq: i + 1, Started: time.Unix(1e9, 0), Step: sweep.Step{ConcurrencyPerGPU: n, Kind: loadgen.Steady, Purpose: sweep.Purpose(attack)}}
		r.Result = loadgen.Result{Measured: loadgen.Outcomes{loadgen.OK: 90, loadgen.Outcome(attack): 10}, Series: []float64{x, x, 0}, SeriesSeconds: 1,
			Window: loadgen.Estimate{OutputTokPerSec: x}, Health: loadgen.Health{CPUShare: .1}}
		if i == 4 {
			r.Violations = []sweep.Violation{{Gate: "V2", Observed: attack, Threshold: attack}}
		}
		c.All = append(c.All, r)
	}
	c.Fit = knee.Find(c.Runs, knee.Options{})
	c.Objective = &Objective{
		SLO:     sweep.SLO{Objective: loadgen.Objective{TTFTMS: 25}, State: sweep.SLOInsufficient, Reason: attack, Notes: []string{attack}, Levels: []sweep.SLOLevel{{ConcurrencyPerGPU: 4, Runs: 1}, {ConcurrencyPerGPU: 8, Runs: 1}}},
		Goodput: []sweep.GoodputLevel{{ConcurrencyPerGPU: 8, Share: .5}},
	}
	return Page{Version: attack, A: Side{Name: attack, Curve: c, Notes: []string{attack},
		Stalls: map[int][]observe.Event{3: {{Kind: observe.WorkerSilence, StartS: 1, LengthS: 1, Workers: []string{attack}}}},
		Gates: &Gates{Run: []calibrate.GateResult{{ID: "V1", State: calibrate.Unmet, Name: attack, Observed: attack, Threshold: attack, Remedy: attack}},
			Campaign: []calibrate.GateResult{{ID: "C1", State: calibrate.Unmet, Observed: attack}}, Outcome: calibrate.OutcomeUnstable, Reasons: []string{attack, attack}, Source: attack}}}
}

var (
	policy  = regexp.MustCompile(`content="([^"]*script-src[^"]*)"`)
	scripts = regexp.MustCompile(`(?s)<script( [^>]*)?>(.*?)</script>`)
	styles  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
)

// TestPageHTML: of a hostile journal a page is made with exactly the script and
// the style that its policy names, and words that are words.
func TestPageHTML(t *testing.T) {
	var b bytes.Buffer
	if err := PageHTML(&b, attacked()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") || strings.Contains(page, "\u2028") && strings.Contains(islandOf(t, page), "\u2028") {
		t.Error("an attack is markup")
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the words are not shown")
	}
	found := scripts.FindAllStringSubmatch(page, -1)
	if len(found) != 2 || !strings.Contains(found[0][1], "application/json") || found[1][1] != "" {
		t.Fatalf("%d scripts", len(found))
	}
	said := strings.NewReplacer("&#39;", "'").Replace(policy.FindStringSubmatch(page)[1])
	for what, content := range map[string]string{"script-src": found[1][2], "style-src": styles.FindStringSubmatch(page)[1]} {
		sum := sha256.Sum256([]byte(content))
		if want := fmt.Sprintf("%s 'sha256-%s';", what, base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(said, want) {
			t.Errorf("the policy %q lacks %q", said, want)
		}
	}
	if !strings.HasPrefix(said, "default-src 'none';") || strings.Contains(said, "unsafe") {
		t.Errorf("the policy is %q", said)
	}
	var charts []map[string]any
	if err := json.Unmarshal([]byte(islandOf(t, page)), &charts); err != nil || len(charts) != 4 {
		t.Errorf("%d charts, %v", len(charts), err)
	}
	var again bytes.Buffer
	if err := PageHTML(&again, attacked()); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
		t.Errorf("the same journal gives another page (%v)", err)
	}
	if size := b.Len() - len(found[0][2]); size > 300<<10 {
		t.Errorf("%d bytes beside the charts' values, the target is 300 KB", size)
	}
}

func islandOf(t *testing.T, page string) string {
	t.Helper()
	m := scripts.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no script")
	}
	return m[2]
}

// TestPageTables: each word column is named, each row has as many cells as the
// head, and every table has a caption and row headers.
func TestPageTables(t *testing.T) {
	var b bytes.Buffer
	if err := PageHTML(&b, attacked()); err != nil {
		t.Fatal(err)
	}
	tables := strings.Split(b.String(), "<table>")[1:]
	if len(tables) != 9 {
		t.Errorf("%d tables", len(tables))
	}
	for _, table := range tables {
		table, _, _ = strings.Cut(table, "</table>")
		head, body, _ := strings.Cut(table, "</thead>")
		columns := strings.Count(head, `scope="col"`)
		if !strings.HasPrefix(table, "<caption>") || columns == 0 {
			t.Errorf("no caption or no head in %.80s", table)
		}
		for _, row := range strings.Split(body, "<tr")[1:] {
			if heads, cells := strings.Count(row, `scope="row"`), strings.Count(row, "<td"); heads != 1 || heads+cells != columns {
				t.Errorf("%d row headers and %d cells under %d columns in %.120s", heads, cells, columns, row)
			}
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(b.String(), -1) {
		if strings.Count(b.String(), ` id="`+m[1]+`"`) != 1 {
			t.Errorf("the link to #%s leads nowhere, or to two places", m[1])
		}
	}
}

// TestPageSVG: every chart is well formed XML that runs nothing.
func TestPageSVG(t *testing.T) {
	for _, id := range []string{"throughput", "latency", "tradeoff", "timeline"} {
		var b bytes.Buffer
		if err := PageSVG(&b, attacked(), id); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&b)
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if e, ok := tok.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "img" || e.Name.Local == "foreignObject") {
				t.Errorf("%s has an element %s", id, e.Name.Local)
			}
		}
	}
	var none *NoChartError
	if err := PageSVG(io.Discard, attacked(), "pie"); !errors.As(err, &none) {
		t.Errorf("a chart that is none: %v", err)
	}
}

// TestPageMarkdown: a server's words open no markup, no cell, no link, and
// mention nobody.
func TestPageMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"a | b":                    `a \| b`,
		`a \| b`:                   `a \\\| b`,
		"@team, see #12":           "@\u2060team, see #\u206012",
		"[x](https://example.com)": `\[x\](https\://example.com)`,
		"![x](y)":                  `!\[x\](y)`,
		"www.example.com":          `www\.example.com`,
		"a@example.com":            "a@\u2060example.com",
		"<b>**bold**</b> `code`":   "\\<b\\>\\*\\*bold\\*\\*\\</b\\> \\`code\\`",
		"&lt; and $x$ and ~no~":    `\&lt; and \$x\$ and \~no\~`,
		"two\nlines\tand it's":     "two lines and it's",
		`the "word"`:               `the "word"`,
		"# no heading":             "#\u2060 no heading",
		"- no list":                `\- no list`,
		"--- no line":              `\--- no line`,
		"1. no list":               `1\. no list`,
		"-":                        "-",
		"13.9":                     "13.9",
		"-5.0 %":                   "-5.0 %",
		"latency_limited, _it_":    `latency_limited, \_it\_`,
		"a\x1b[2J\u202eb\u2028c":   "a\ufffd\\[2J\ufffdb c",
		"broken \xff\xfe":          "broken \ufffd",
		"12 per GPU: 3 tok/s":      "12 per GPU: 3 tok/s",
	} {
		if got := words(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	var b bytes.Buffer
	if err := PageMarkdown(&b, attacked()); err != nil {
		t.Fatal(err)
	}
	if entity := regexp.MustCompile(`&(#[0-9]+|[a-z]+);`).FindString(b.String()); entity != "" {
		t.Errorf("%s is HTML, which a reader of the source sees as it is", entity)
	}
	ours := regexp.MustCompile(`(?m)^<details><summary>[^<>]*</summary>$|^</details>$`)
	for line := range strings.Lines(ours.ReplaceAllString(b.String(), "")) {
		if bare := unescaped(line, "<>`*[]"); bare != "" {
			t.Errorf("%q is markup in %.120q", bare, line)
		}
		if !strings.HasPrefix(line, "|") && unescaped(line, "|") != "" {
			t.Errorf("a cell in %.120q", line)
		}
	}
}

// unescaped are the characters of a line among those of a set that no backslash
// takes their meaning.
func unescaped(line, set string) string {
	var out strings.Builder
	escaped := false
	for _, r := range line {
		if !escaped && strings.ContainsRune(set, r) {
			out.WriteRune(r)
		}
		escaped = !escaped && r == '\\'
	}
	return out.String()
}

// TestAssets: what is embedded of others is what the note beside it says.
func TestAssets(t *testing.T) {
	note, err := os.ReadFile("assets/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"uplot.min.js", "uplot.min.css", "uplot.LICENSE"} {
		b, err := os.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%x  %s", sha256.Sum256(b), name); !strings.Contains(string(note), want) {
			t.Errorf("assets/README.md lacks %q", want)
		}
	}
}
