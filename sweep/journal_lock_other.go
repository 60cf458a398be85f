//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package sweep

import (
	"errors"
	"os"
)

// lockFile refuses: two writers would interleave, which no reader can undo.
func lockFile(*os.File) error {
	return errors.New("this system has no file locks that a killed process gives back; run the campaign on Linux or macOS")
}
