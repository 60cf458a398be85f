package observe

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// withBuckets adds the histogram buckets that recorded pages leave out.
func withBuckets(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		b.WriteString(line)
		name, rest, ok := strings.Cut(line, "_count")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		labels := ""
		if inner, found := strings.CutPrefix(rest, "{"); found {
			labels, _, _ = strings.Cut(inner, "}")
			labels += ","
		}
		for i := range 18 {
			fmt.Fprintf(&b, "%s_bucket{%sle=\"%d\"} %d\n", name, labels, i, i)
		}
	}
	return b.String()
}

// A page is read once a second. The first of a source is worked out, of the
// others the values are read; "whole" is the parser alone, on all lines.
func BenchmarkTranslate(b *testing.B) {
	for _, name := range []string{"frontend.prom", "frontend-kv.prom", "worker1-load.prom", "worker-sglang.prom", "vllm.prom"} {
		page := []byte(withBuckets(recorded(b, name)))
		bench := func(kind string, read func() error) {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(page)))
				b.ReportAllocs()
				for b.Loop() {
					if err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		bench("whole", func() error {
			p := expfmt.NewTextParser(model.UTF8Validation)
			_, err := p.TextToMetricFamilies(bytes.NewReader(page))
			return err
		})
		bench("first", func() error {
			_, err := Translate(page, "page", "tiny")
			return err
		})
		t := newTranslation("page", "tiny")
		bench("next", func() error {
			_, err := t.page(page)
			return err
		})
	}
}
