package recipes

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// readmeRow is the row of an overlay in README.md, from nothing but its file.
func readmeRow(o *Overlay, src string) (string, error) {
	g, on, err := o.Gate()
	if err != nil {
		return "", err
	}
	row := func(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }
	name := fmt.Sprintf("%s | %s", o.Criterion("accelerator"), o.Criterion("service"))
	if !on {
		if !strings.Contains(src, "The check is off.") {
			return "", fmt.Errorf("%s has no gate and does not say that its check is off", o.Name())
		}
		return row(name, "–", "–", "–", "–", "never measured", "off"), nil
	}
	// The comment, unwrapped.
	text := regexp.MustCompile(`\n +# ?`).ReplaceAllString(src, " ")
	gpus := regexp.MustCompile(`\b([0-9]+) GPUs \(`).FindStringSubmatch(text)
	_, after, found := strings.Cut(text, "Floor source:")
	source := regexp.MustCompile(`NVIDIA/aicr#([0-9]+)|inference-perf-fluctuation\.md`).FindStringSubmatch(after)
	if g.CeilingTTFTP99MS != 2000 { // the one that README.md names for all
		return "", fmt.Errorf("%s has a ceiling of %v ms", o.Name(), g.CeilingTTFTP99MS)
	}
	if gpus == nil || !found || source == nil || !strings.Contains(text, "provisional:") {
		return "", fmt.Errorf("%s does not say GPUs, source and status: %q, %q", o.Name(), gpus, source)
	}
	link := "AICR's `" + source[0] + "`"
	if source[1] != "" {
		link = fmt.Sprintf("[#%s](https://github.com/NVIDIA/aicr/issues/%s)", source[1], source[1])
	}
	return row(name, gpus[1], decimal(g.FloorPerGPU), fmt.Sprintf("%.0f", g.FloorPerGPU*(1-Tolerance)), strconv.Itoa(g.ConcurrencyPerGPU), link, "provisional"), nil
}

// README.md has a row for each shipped overlay, and no other.
func TestREADMEListsTheOverlays(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const header = "| accelerator | service | GPUs | floor per GPU | acts as | concurrency per GPU | source of the floor | status |\n|---|---|---|---|---|---|---|---|\n"
	_, table, found := strings.Cut(string(b), header)
	if !found {
		t.Fatalf("README.md has no table with the header\n%s", header)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	list, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, o := range list {
		src, err := os.ReadFile(o.file)
		if err != nil {
			t.Fatal(err)
		}
		row, err := readmeRow(o, string(src))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, row)
	}
	if rows := strings.Join(want, "\n"); table != rows {
		t.Errorf("README.md has\n%s\nthe overlays say\n%s", table, rows)
	}
}
