package observe

import (
	"fmt"
	"strings"
	"testing"
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
		labels, _, _ := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
		if !strings.HasPrefix(rest, "{") {
			labels = `le_less="1"`
		}
		for i := range 18 {
			fmt.Fprintf(&b, "%s_bucket{%s,le=\"%d\"} %d\n", name, labels, i, i)
		}
	}
	return b.String()
}

// A page is read once a second.
func BenchmarkTranslate(b *testing.B) {
	for _, name := range []string{"frontend.prom", "frontend-kv.prom", "worker1-load.prom", "vllm.prom"} {
		page := []byte(withBuckets(recorded(b, name)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Translate(page, "page", "tiny"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
