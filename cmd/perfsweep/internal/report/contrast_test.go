package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast: every color that words are written in reaches 4.5:1 on its
// paper (WCAG 2.2, 1.4.3), in light, in dark and in print.
func TestContrast(t *testing.T) {
	color := regexp.MustCompile(`--([a-z]+):#([0-9a-f]{3,6})`)
	blocks := 0
	for _, sheet := range []string{chartCSS, pageCSS} {
		for _, block := range regexp.MustCompile(`(?s):root\{[^}]*--paper[^}]*\}`).FindAllString(sheet, -1) {
			blocks++
			colors := map[string]float64{}
			for _, m := range color.FindAllStringSubmatch(block, -1) {
				colors[m[1]] = luminance(t, m[2])
			}
			if len(colors) < 12 {
				t.Errorf("%d colors in %s", len(colors), block)
			}
			for name, l := range colors {
				if name == "rule" || name == "paper" {
					continue // no words
				}
				a, b := max(l, colors["paper"]), min(l, colors["paper"])
				if ratio := (a + 0.05) / (b + 0.05); ratio < 4.5 {
					t.Errorf("--%s has a contrast of %.2f in %.60s", name, ratio, block)
				}
			}
		}
	}
	if blocks != 3 {
		t.Errorf("%d sets of colors, want light, dark and print", blocks)
	}
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = strings.Repeat(hex[:1], 2) + strings.Repeat(hex[1:2], 2) + strings.Repeat(hex[2:], 2)
	}
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	part := func(shift int) float64 {
		v := float64(n>>shift&255) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}
