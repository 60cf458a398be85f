package recipes

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// yamllint counts the breaches of the rules in AICR's .yamllint.yaml that an
// edit of text can cause: line length, trailing spaces, blank lines, spacing
// and indentation of comments, line ends.
func yamllint(src string) map[string]int {
	found := map[string]int{}
	src = strings.TrimPrefix(src, bom)
	if strings.Contains(src, "\r\n") && strings.Count(src, "\n") != strings.Count(src, "\r\n") {
		found["new-lines"]++ // mixed
	}
	lines := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	} else {
		found["new-line-at-end-of-file"]++
	}
	blanks, stray := 0, strayComments(lines)
	for i, l := range lines {
		if utf8.RuneCountInString(l) > 200 {
			found["line-length"]++
		}
		if strings.TrimRight(l, " \t") != l {
			found["trailing-spaces"]++
		}
		if strings.TrimSpace(l) == "" {
			if blanks++; blanks > 2 || i == 0 || i == len(lines)-1 {
				found["empty-lines"]++
			}
			continue
		}
		blanks = 0
		if m := regexp.MustCompile(`^(?:[^#"']*\s)?#(.?)`).FindStringSubmatch(l); m != nil && strings.Trim(m[1], " #") != "" {
			found["comments"]++
		}
		if regexp.MustCompile(`[\[\{] {2,}| {2,}[\]\}]`).MatchString(l) {
			found["braces"]++
		}
		if stray[i] {
			found["comments-indentation"]++
		}
		if regexp.MustCompile(`^[ -]*[\w-]+: *$`).MatchString(l) && !hasChild(lines, i) {
			found["empty-values"]++
		}
	}
	return found
}

func hasChild(lines []string, i int) bool {
	for j := i + 1; j < len(lines); j++ {
		if strings.TrimSpace(lines[j]) == "" || isComment(lines[j]) {
			continue
		}
		deeper := leading(lines[j]) > leading(lines[i])
		return deeper || leading(lines[j]) == leading(lines[i]) && strings.HasPrefix(strings.TrimLeft(lines[j], " "), "-")
	}
	return false
}
