package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	numbers = regexp.MustCompile(`[0-9]([0-9.,]*[0-9])?`)
	bars    = regexp.MustCompile(`#+`)
	blanks  = regexp.MustCompile(` +`)
)

// Shape is a line without its digits, the length of its bars and its alignment:
// what two measurements of one thing have in common.
func Shape(line string) string {
	line = numbers.ReplaceAllString(line, "0")
	line = bars.ReplaceAllString(line, "#")
	return strings.TrimRight(blanks.ReplaceAllString(line, " "), " ")
}

// Matches says whether got is what a page shows; a line "..." of the page stands
// for any number of lines. same compares two lines.
func Matches(want, got []string, same func(a, b string) bool) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] != "..." {
		return len(got) > 0 && same(want[0], got[0]) && Matches(want[1:], got[1:], same)
	}
	for i := range len(got) + 1 {
		if Matches(want[1:], got[i:], same) {
			return true
		}
	}
	return false
}

// SameShape compares the shapes of two lines.
func SameShape(a, b string) bool { return Shape(a) == Shape(b) }

// Lines splits what a command printed, without the blank lines at its end.
func Lines(s string) []string {
	lines := strings.Split(s, "\n")
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Words splits a command as a shell does, apart from patterns of file names. What only a shell could execute is
// refused: pages show commands that a reader of any shell can copy.
func Words(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	open := false // a word has begun, if only with ''
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case slices.Contains([]rune("|&;<>()`$\\"), r) && command != Status:
			return nil, fmt.Errorf("%q needs a shell for %q; write plain commands", command, r)
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%q has an open quote", command)
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// Status is the command that prints the exit code of the one before. A command
// that is not followed by it ends with 0.
const Status = "echo $?"
