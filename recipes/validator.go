package recipes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// What AICR runs when nothing is set, since NVIDIA/aicr#1116 and #1399.
const (
	defaultModel       = "Qwen/Qwen3-8B"
	defaultConcurrency = 256
	defaultRouter      = "least-loaded"
)

// The last release whose validator is known not to read the inputs of an
// overlay, and the first that is known to: v0.11.1 has no such code, and the
// evidence for GB300 at 128 per GPU was made with v0.21.1 (NVIDIA/aicr#2812).
func ignoresInputs(tag string) (verdict string, known bool) {
	m := regexp.MustCompile(`^v?([0-9]{1,4})\.([0-9]{1,4})\b`).FindStringSubmatch(tag)
	if m == nil {
		return "a tag that may mean any release", false
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	switch release := major*10000 + minor; {
	case release <= 11:
		return "does not read them", true
	case release < 21:
		return "is from between v0.11, which does not read them, and v0.21, which does", false
	}
	return "", true
}

// validator judges whether the release that will run the overlay reads what it
// pins. The defaults are what an older one runs, so a file that pins just them
// is safe.
func (l *linter) validator(tag string) {
	g, _ := l.o.readGate()
	if tag == "" || (g.ConcurrencyPerGPU == 0 || g.ConcurrencyPerGPU == defaultConcurrency) && (g.Model == "" || g.Model == defaultModel) {
		return
	}
	why, known := ignoresInputs(tag)
	if why == "" {
		return
	}
	severity := SeverityWarning
	if known {
		severity = SeverityError
	}
	i := slices.IndexFunc(l.o.items, func(it item) bool { return it.name.Value == NameConcurrency || it.name.Value == NameModel })
	l.add(l.o.errNode(l.o.items[i].name, "old-validator", fmt.Sprintf("the validator %s %s: one that does not read %s and %s runs its defaults, %d per GPU and %s, against these thresholds",
		clip(tag), why, NameConcurrency, NameModel, defaultConcurrency, defaultModel), "use a validator that reads them"), severity)
}
