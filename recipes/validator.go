package recipes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
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

// knob is what AICR accepts for an environment variable of the check.
type knob struct {
	accepts string // a pattern; "" accepts anything
	is      string // the default
	voids   bool   // another value makes measured thresholds meaningless
}

func knobs() map[string]knob {
	const count, span = `^[1-9][0-9]{0,8}$`, `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	return map[string]knob{
		"CONCURRENCY_PER_GPU":          {count, "256", false},
		"WARMUP_PER_CONCURRENCY":       {count, "1", true},
		"MIN_REQUESTS":                 {count, "1000", true},
		"REQUESTS_PER_CONCURRENCY":     {count, "8", true},
		"INPUT_TOKENS_MEAN":            {count, "128", true},
		"OUTPUT_TOKENS_MEAN":           {count, "128", true},
		"MODEL":                        {`^[A-Za-z0-9][A-Za-z0-9._/-]*$`, defaultModel, false},
		"ROUTER_MODE":                  {`^(kv|round-robin|random|power-of-two|least-loaded|device-aware-weighted)$`, defaultRouter, true},
		"WORKLOAD_READY_TIMEOUT":       {span, "10m", false},
		"HEALTH_TIMEOUT":               {span, "5m", false},
		"MODEL_CACHE_POPULATE_TIMEOUT": {span, "13m", false},
		"MODEL_CACHE_SIZE":             {"", "100Gi", false},
		"MODEL_CACHE_STORAGE_CLASS":    {"", "", false},
	}
}

// catalog judges the entry of the inference check in a validator catalog.
func (l *linter) catalog() {
	e := catalogEntry(l.o)
	env := lookup(e, "env").val
	if env == nil || env.Kind != yaml.SequenceNode {
		return
	}
	for _, n := range env.Content {
		name, value := lookup(n, "name").val, lookup(n, "value").val
		if name == nil || value == nil || value.Kind != yaml.ScalarNode || isNull(value) || strings.TrimSpace(value.Value) == "" {
			continue
		}
		k, ok := knobs()[strings.TrimPrefix(name.Value, "AICR_INFERENCE_PERF_")]
		switch {
		case !ok || !strings.HasPrefix(name.Value, "AICR_INFERENCE_PERF_"):
		case k.accepts != "" && !regexp.MustCompile(k.accepts).MatchString(value.Value):
			l.add(l.o.errNode(value, "catalog-value", fmt.Sprintf("%s is %q, which AICR refuses when the check runs", name.Value, clip(value.Value)), "correct the value; the default is "+k.is), SeverityError)
		case value.Value != k.is && k.voids:
			l.add(l.o.errNode(value, "catalog-override", fmt.Sprintf("%s is %q instead of %s: thresholds that were measured without that are void", name.Value, clip(value.Value), k.is),
				"remove the override, or calibrate under it"), SeverityError)
		case value.Value != k.is && k.is != "" && (strings.HasSuffix(name.Value, "_MODEL") || strings.HasSuffix(name.Value, "_GPU")):
			l.warn(value, "catalog-override", fmt.Sprintf("%s is %q instead of %s: it moves every gate whose overlay does not pin its own", name.Value, clip(value.Value), k.is), "pin model and concurrency in the overlays")
		}
	}
}

func catalogEntry(o *Overlay) *yaml.Node {
	list := lookup(o.root, "validators").val
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	for _, n := range list.Content {
		if scalar(lookup(n, "name")) == CheckName {
			return n
		}
	}
	return nil
}

// CatalogValidator is the image tag that a validator catalog pins for the
// inference check. It is "" for another kind of file, and for latest, which the
// AICR command line replaces by its own version.
func CatalogValidator(src []byte) string {
	o, err := parseAs("ValidatorCatalog", "", src)
	if err != nil {
		return ""
	}
	image := scalar(lookup(catalogEntry(o), "image"))
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if tag == "latest" {
		return ""
	}
	return tag
}

// CatalogRouter is the router that a validator catalog sets for the inference
// check, "" where it sets none or is another kind of file.
func CatalogRouter(src []byte) string {
	o, err := parseAs("ValidatorCatalog", "", src)
	if err != nil {
		return ""
	}
	env := lookup(catalogEntry(o), "env").val
	if env == nil || env.Kind != yaml.SequenceNode {
		return ""
	}
	for _, n := range env.Content {
		if scalar(lookup(n, "name")) == "AICR_INFERENCE_PERF_ROUTER_MODE" {
			return scalar(lookup(n, "value"))
		}
	}
	return ""
}
