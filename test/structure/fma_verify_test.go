//go:build verify

package structure

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNoFusedMultiplyAdd compiles what decides for arm64 and looks for instructions
// that round a product and a sum once: their results are not those of amd64. A
// product with a power of two is exact, and fusing it changes nothing: such are the
// halves, which is what may stand on a line that is found, beside a tolerance that
// is wider than any rounding.
func TestNoFusedMultiplyAdd(t *testing.T) {
	found := regexp.MustCompile(`\(([^()]*\.go):([0-9]+)\)\s+FN?M(ADD|SUB)`)
	for _, pkg := range []string{"internal/exact", "knee", "sweep", "calibrate", "recipes"} {
		cmd := exec.Command("go", "build", "-gcflags=-S", "./"+pkg)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		var out bytes.Buffer
		cmd.Stderr = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v", pkg, err)
		}
		if !bytes.Contains(out.Bytes(), []byte("STEXT")) {
			t.Fatalf("%s: no assembly was printed", pkg)
		}
		for _, m := range found.FindAllStringSubmatch(out.String(), -1) {
			src, err := os.ReadFile(filepath.Join(root, pkg, filepath.Base(m[1])))
			if err != nil {
				continue // inlined from the standard library
			}
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Split(string(src), "\n")[n-1]
			if !strings.Contains(line, "/2") && !strings.Contains(line, "2*") && !strings.Contains(line, "mid)") && !strings.Contains(line, "roundingShare") {
				t.Errorf("%s/%s:%s: round the product with float64(): %s", pkg, filepath.Base(m[1]), m[2], strings.TrimSpace(line))
			}
		}
	}
}
