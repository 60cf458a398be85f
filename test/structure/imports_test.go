package structure

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/perfsweep/perfsweep"

// everything lets a package import any package of this module.
var everything = []string{"*"}

// mayImport is the import table of the design. A package and its row come in
// one commit; the paths are below the module. Tests are free in what they
// import: they are not linked into anything.
var mayImport = map[string][]string{
	"loadgen":                       {"internal/plural", "loadgen/internal/http1", "loadgen/internal/stream"},
	"loadgen/internal/http1":        nil,
	"loadgen/internal/stream":       nil,
	"loadgen/enginesim":             nil,
	"internal/plural":               nil,
	"internal/spell":                nil,
	"loadgen/aiperf":                {"loadgen", "internal/spell"},
	"loadgen/pacer":                 nil,
	"internal/exact":                nil,
	"knee":                          {"internal/plural", "internal/exact"},
	"knee/kneetest":                 {"knee"},
	"recipes":                       {"internal/plural", "internal/spell"},
	"sweep":                         {"internal/plural", "internal/exact", "loadgen", "knee"},
	"sweep/imports":                 {"internal/plural", "sweep", "knee", "loadgen/aiperf"},
	"sweep/observe":                 {"internal/plural"},
	"sweep/compare":                 {"internal/plural", "sweep", "knee"},
	"sweep/observe/bothsides":       {"loadgen", "sweep", "sweep/observe"},
	"sweep/observe/observetest":     {"loadgen", "sweep", "sweep/observe", "sweep/observe/bothsides"},
	"calibrate":                     {"internal/plural", "internal/exact", "sweep", "knee", "recipes", "loadgen"},
	"cmd/perfsweep/internal/bundle": nil,
	"cmd/perfsweep/internal/kube":   {"internal/plural"},
	"cmd/perfsweep/internal/report": {"internal/plural", "loadgen", "knee", "recipes", "sweep", "sweep/compare", "sweep/observe", "calibrate", "cmd/perfsweep/internal/bundle", "cmd/perfsweep/internal/kube", "cmd/perfsweep/internal/selftest", "cmd/perfsweep/internal/report/markup", "cmd/perfsweep/internal/report/plot"},
	"cmd/perfsweep":                 everything,
	"test/acceptance":               {"knee/kneetest"},
	"test/browser":                  nil,
	"test/cicount":                  nil,
	"test/containerfile":            nil,
	"test/docs":                     nil,
	"test/dynamo":                   nil,
	"test/engines":                  nil,
	"test/figures":                  {"test/internal/live"},
	"test/internal/live":            nil,
	"test/kube":                     nil,
	"test/release":                  nil,
	"test/structure":                nil,

	"cmd/perfsweep/internal/kube/kubetest": nil,

	"cmd/perfsweep/internal/campaignfile":  {"internal/plural", "recipes"},
	"cmd/perfsweep/internal/fleet":         {"loadgen"},
	"cmd/perfsweep/internal/live":          {"internal/plural", "cmd/perfsweep/internal/report/plot"},
	"cmd/perfsweep/internal/live/livetest": nil,
	"cmd/perfsweep/internal/reference":     nil,
	"cmd/perfsweep/internal/report/markup": nil,
	"cmd/perfsweep/internal/report/plot":   {"cmd/perfsweep/internal/report/markup"},
	"cmd/perfsweep/internal/selftest":      {"internal/plural", "loadgen", "loadgen/pacer", "sweep"},
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Name       string
	Doc        string
	Imports    []string
}

// goList runs go list in the module's root.
func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Doc,Imports"}, args...)...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
	}
	var pkgs []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestImportTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range goList(t, "./...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		seen[name] = true
		allowed, ok := mayImport[name]
		if !ok {
			t.Errorf("%s has no row in the import table: add one that says what it may import", name)
			continue
		}
		for _, bad := range forbiddenImports(name, p.Imports, allowed) {
			t.Errorf("%s imports %s; its row allows %v", name, bad, allowed)
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment: say in one sentence what it does", name)
		}
	}
	for name := range mayImport {
		if !seen[name] {
			t.Errorf("the import table has a row for %s, which does not exist", name)
		}
	}
}

// forbiddenImports lists the imports from this module that a row does not allow.
func forbiddenImports(name string, imports, allowed []string) []string {
	var bad []string
	for _, imp := range imports {
		sub, ours := strings.CutPrefix(imp, module+"/")
		if ours && !slices.Contains(allowed, "*") && !slices.Contains(allowed, sub) {
			bad = append(bad, sub)
		}
	}
	return bad
}

// A checker that finds nothing proves nothing until it has found something.
func TestForbiddenImports(t *testing.T) {
	imports := []string{"fmt", module + "/knee", module + "/sweep"}
	for _, tt := range []struct {
		allowed, want []string
	}{
		{nil, []string{"knee", "sweep"}},
		{[]string{"knee"}, []string{"sweep"}},
		{[]string{"knee", "sweep"}, nil},
		{everything, nil},
	} {
		if got := forbiddenImports("x", imports, tt.allowed); !slices.Equal(got, tt.want) {
			t.Errorf("allowed %v: forbidden %v, want %v", tt.allowed, got, tt.want)
		}
	}
}
