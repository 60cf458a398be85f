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

// What is known of AICR's releases: v0.11.1 has no code that reads the inputs of
// an overlay, and the evidence for GB300 at 128 per GPU was made with v0.21.1
// (NVIDIA/aicr#2812). Minor releases of one major version keep what they read;
// of another major version nothing is known.
const (
	lastIgnoring, ignoringTag = 11, "v0.11.1"
	firstReading, readingTag  = 21, "v0.21.1"
)

// release reads the tag of a released image, such as v0.21.1 or 0.21.1-rc.2.
func release(tag string) (major, minor int, ok bool) {
	m := regexp.MustCompile(`^v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?(?:[-+][0-9A-Za-z.+-]{1,64})?$`).FindStringSubmatch(tag)
	if m == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(m[1])
	minor, _ = strconv.Atoi(m[2])
	return major, minor, true
}

// CheckValidator reports why a tag that a user names is none of a validator: it
// is neither that of a release nor the one that moves. What it says of the release
// is lint's to find.
func CheckValidator(tag string) error {
	if _, _, ok := release(tag); ok || tag == movingTag {
		return nil
	}
	return fmt.Errorf("%q is no image tag of AICR's validator: give its release, such as %s, or %s; known are %s, which does not read what an overlay pins, and %s, which does",
		clip(tag), readingTag, movingTag, ignoringTag, readingTag)
}

// movingTag is whatever was built last.
const movingTag = "latest"

// ignoresInputs says what is known against a release: nothing, "", of one that
// reads an overlay's inputs.
func ignoresInputs(tag string) (verdict string, known bool) {
	major, minor, ok := release(tag)
	switch {
	case !ok:
		return "is a tag that may mean any release", false
	case major > 0:
		return "is of a major version of which nothing is known here", false
	case minor <= lastIgnoring:
		return "does not read them", true
	case minor < firstReading:
		return fmt.Sprintf("is from between %s, which does not read them, and %s, which does", ignoringTag, readingTag), false
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
