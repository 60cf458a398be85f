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
// that round a product and a sum once: their results are not those of amd64. No line
// is exempt, not even one whose product is exact, such as a half: it would hide what
// is added to it later. Code of the standard library and of dependencies that is
// inlined is left out; internal/exact is what rounds their results.
func TestNoFusedMultiplyAdd(t *testing.T) {
	found := regexp.MustCompile(`\(([^()]*\.go):([0-9]+)\)\s+FN?M(ADD|SUB)`)
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, pkg := range []string{"internal/exact", "knee", "sweep", "calibrate", "recipes"} {
		cmd := exec.Command("go", "build", "-gcflags=-S", "./"+pkg)
		cmd.Dir = top
		cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=-trimpath=false")
		var out bytes.Buffer
		cmd.Stderr = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v", pkg, err)
		}
		own += bytes.Count(out.Bytes(), []byte("("+filepath.Join(top, pkg)+string(filepath.Separator)))
		told := map[string]bool{}
		for _, m := range found.FindAllStringSubmatch(out.String(), -1) {
			file, err := filepath.Rel(top, m[1])
			at := file + ":" + m[2]
			if err != nil || strings.HasPrefix(file, "..") || told[at] {
				continue
			}
			told[at] = true
			t.Errorf("%s: round the product with float64(): %s", at, lineOf(t, m[1], m[2]))
		}
	}
	if own < 1000 {
		t.Fatalf("%d instructions of own code were printed: is the assembly that of the sources in %s?", own, top)
	}
}

func lineOf(t *testing.T, file, number string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(number)
	lines := strings.Split(string(src), "\n")
	if err != nil || n < 1 || n > len(lines) {
		t.Fatalf("%s has no line %s", file, number)
	}
	return strings.TrimSpace(lines[n-1])
}
