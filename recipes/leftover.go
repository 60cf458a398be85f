package recipes

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftoverAge is how old a temp file is before it can be a leftover: a write
// takes milliseconds, and an older version of this tool claims none.
const leftoverAge = time.Minute

// isTempOf reports whether a name is one of those that tempBeside gives.
func isTempOf(name, base string) bool {
	middle, ours := strings.CutPrefix(name, "."+base+".")
	digits, tmp := strings.CutSuffix(middle, ".tmp")
	return ours && tmp && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// clearLeftovers removes the temp files of killed writers of a file: old ones
// that no living process has claimed. What cannot be removed stays; it is in
// nobody's way.
func clearLeftovers(dir, base string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !isTempOf(e.Name(), base) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < leftoverAge {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if unclaimed(path) {
			_ = os.Remove(path)
		}
	}
}
