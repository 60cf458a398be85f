package recipes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// knob is what AICR accepts for an environment variable of the check.
type knob struct {
	accepts func(string) bool // nil accepts anything
	is      string            // the default
	voids   bool              // another value makes measured thresholds meaningless
}

// acceptsCount takes a positive integer as Go's parser reads it, which AICR uses.
func acceptsCount(v string) bool { n, err := strconv.Atoi(v); return err == nil && n > 0 }

func acceptsSpan(v string) bool { d, err := time.ParseDuration(v); return err == nil && d > 0 }

func matching(pattern string) func(string) bool {
	return regexp.MustCompile(pattern).MatchString
}

func knobs() map[string]knob {
	return map[string]knob{
		"CONCURRENCY_PER_GPU":          {acceptsCount, "256", false},
		"WARMUP_PER_CONCURRENCY":       {acceptsCount, "1", true},
		"MIN_REQUESTS":                 {acceptsCount, "1000", true},
		"REQUESTS_PER_CONCURRENCY":     {acceptsCount, "8", true},
		"INPUT_TOKENS_MEAN":            {acceptsCount, "128", true},
		"OUTPUT_TOKENS_MEAN":           {acceptsCount, "128", true},
		"MODEL":                        {acceptsModel, defaultModel, false},
		"ROUTER_MODE":                  {acceptsRouter, defaultRouter, true},
		"WORKLOAD_READY_TIMEOUT":       {acceptsSpan, "10m", false},
		"HEALTH_TIMEOUT":               {acceptsSpan, "5m", false},
		"MODEL_CACHE_POPULATE_TIMEOUT": {acceptsSpan, "13m", false},
		"MODEL_CACHE_SIZE":             {matching(`^(off|none|disabled|[0-9]+(\.[0-9]+)?([KMGTPE]i?|[mk]|[eE][0-9]+)?)$`), "100Gi", false},
		"MODEL_CACHE_STORAGE_CLASS":    {matching(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`), "", false},
		"NO_CLEANUP":                   {nil, "", false}, // forwarded from the caller's shell
	}
}

func acceptsModel(v string) bool { return matching(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)(v) }

// acceptsRouter: Dynamo's direct mode is excluded.
func acceptsRouter(v string) bool {
	return matching(`^(kv|round-robin|random|power-of-two|least-loaded|device-aware-weighted)$`)(v)
}

// catalog judges the entry of the inference check in a validator catalog.
func (l *linter) catalog() {
	env := lookup(catalogEntry(l.o), "env").val
	if env == nil || env.Kind != yaml.SequenceNode {
		return
	}
	seen := map[string]*yaml.Node{}
	for _, n := range env.Content {
		name, value := lookup(n, "name").val, lookup(n, "value").val
		if name == nil || !strings.HasPrefix(name.Value, envPrefix) {
			continue
		}
		if first := seen[name.Value]; first != nil {
			l.warn(name, "catalog-unknown", fmt.Sprintf("%s is set on line %d as well; Kubernetes takes the last", clip(name.Value), first.Line), "keep one")
		}
		seen[name.Value] = name
		short := strings.TrimPrefix(name.Value, envPrefix)
		k, ok := knobs()[short]
		switch {
		case !ok:
			l.warn(name, "catalog-unknown", fmt.Sprintf("%s is no variable of the check, and AICR ignores it", clip(name.Value)), "check the name")
		case value == nil && lookup(n, "valueFrom").present():
			l.warn(name, "catalog-unknown", fmt.Sprintf("%s comes from elsewhere, so whether thresholds that were measured without it hold is unknown", clip(name.Value)), "write the value")
		case value != nil && value.Kind == yaml.ScalarNode && !isNull(value) && strings.TrimSpace(value.Value) != "":
			l.knob(k, short, name.Value, value)
		}
	}
}

func (l *linter) knob(k knob, short, name string, value *yaml.Node) {
	switch v := value.Value; {
	case k.accepts != nil && !k.accepts(v):
		l.add(l.o.errNode(value, "catalog-value", fmt.Sprintf("%s is %q, which AICR refuses when the check runs", name, clip(v)), strings.TrimSuffix("correct the value; the default is "+k.is, "; the default is ")), SeverityError)
	case sameKnob(v, k.is):
	case k.voids:
		l.add(l.o.errNode(value, "catalog-override", fmt.Sprintf("%s is %q instead of %s: thresholds that were measured without that are void", name, clip(v), k.is),
			"remove the override, or calibrate under it"), SeverityError)
	case slices.Contains([]string{"MODEL", "CONCURRENCY_PER_GPU"}, short):
		l.warn(value, "catalog-override", fmt.Sprintf("%s is %q instead of %s: it moves every gate whose overlay does not pin its own", name, clip(v), k.is), "pin model and concurrency in the overlays")
	}
}

// sameKnob knows that +8 and 8 are one number.
func sameKnob(v, is string) bool {
	a, err := strconv.Atoi(v)
	b, err2 := strconv.Atoi(is)
	return v == is || err == nil && err2 == nil && a == b
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
