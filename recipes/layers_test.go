package recipes

import (
	"strings"
	"testing"
	"testing/fstest"
)

const layerOverlay = `kind: RecipeMetadata
apiVersion: aicr.run/v1beta1
metadata:
  name: NAME
spec:
  base: PARENT
  criteria:
    service: SERVICE
  validation:
    performance:
      checks:
        - inference-perf
      constraints:
        - name: inference-model
          value: MODEL
`

func layerFile(name, parent, service, model string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.NewReplacer("NAME", name, "PARENT", parent, "SERVICE", service, "MODEL", model).Replace(layerOverlay))}
}

// A file of an upper layer replaces the whole one of its path, files of lower
// layers are found where an upper one has none, and each is named by its root.
func TestLayers(t *testing.T) {
	lower := fstest.MapFS{
		"overlays/base.yaml":   layerFile("base", "", "any", "A/base"),
		"overlays/parent.yaml": layerFile("parent", "base", "eks", "A/lower"),
		"overlays/other.yaml":  layerFile("other", "base", "gke", "A/other"),
	}
	upper := fstest.MapFS{"overlays/parent.yaml": layerFile("parent", "base", "eks", "A/upper")}
	src := []byte(strings.ReplaceAll(string(layerFile("leaf", "parent", "eks", "x").Data), "        - name: inference-model\n          value: x\n", "        - name: inference-ttft-p99\n          value: \"<= 900\"\n"))
	leaf, err := Parse("up/overlays/leaf.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		layers      Layers
		model, file string
	}{
		{Layers{{upper, "up"}, {lower, "low"}}, "A/upper", "up/overlays/parent.yaml"},
		{Layers{{fstest.MapFS{}, "up"}, {lower, "low"}}, "A/lower", "low/overlays/parent.yaml"},
		{Layers{{lower, "low"}, {upper, "up"}}, "A/lower", "low/overlays/parent.yaml"},
	} {
		r, err := Resolve(c.layers, "none", leaf)
		if err != nil {
			t.Fatal(err)
		}
		if r.Gate.Model != c.model || len(r.Open()) > 0 || !r.WholeTree {
			t.Errorf("model %q, want %q; open %q, findings %+v", r.Gate.Model, c.model, r.Open(), r.Findings)
		}
		found := false
		for _, s := range r.Sources {
			found = found || s.File == c.file
			if strings.HasPrefix(s.File, "none") || s.Overlay == "other" {
				t.Errorf("source %+v", s)
			}
		}
		if !found {
			t.Errorf("no source %s in %+v", c.file, r.Sources)
		}
	}
}
