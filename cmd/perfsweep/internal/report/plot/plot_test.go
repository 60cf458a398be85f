package plot

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestNumbersJSON(t *testing.T) {
	b, err := json.Marshal(Numbers{1, math.NaN(), 21180.4912345, math.Inf(1), 1e-9})
	if err != nil || string(b) != "[1,null,21180.49123,null,1e-09]" {
		t.Errorf("%s, %v", b, err)
	}
}

// Any axis has an end on each side of its values and between two and twenty
// ticks inside, whatever the values are.
func TestAxisFit(t *testing.T) {
	for _, values := range [][]float64{nil, {0}, {5}, {1, 1e6}, {3, 4}, {1e-9, 2e-9}, {0.5, 27096}, {-3, 9}, {math.NaN(), 7}, {1e12, 2e12}, {8, 16, 4096}} {
		for _, base := range []int{0, 2, 10} {
			a := Axis{Log: base}
			a.fit(values)
			if !(a.Low < a.High) || base > 0 && !(a.Low > 0) {
				t.Errorf("%v on base %d: from %v to %v", values, base, a.Low, a.High)
			}
			for _, v := range values {
				if v > 0 && (v < a.Low || v > a.High) {
					t.Errorf("%v on base %d: %v lies outside %v to %v", values, base, v, a.Low, a.High)
				}
			}
			if base == 0 && (len(a.Ticks) < 2 || len(a.Ticks) > 20) {
				t.Errorf("%v: ticks %v", values, a.Ticks)
			}
			for _, v := range a.Ticks {
				if v < a.Low-1e-9 || v > a.High {
					t.Errorf("%v on base %d: the tick %v lies outside", values, base, v)
				}
			}
		}
	}
}

// A place is where the scale says: doubling the load is the same step anywhere
// on a logarithmic axis.
func TestPlaces(t *testing.T) {
	c := Chart{X: Axis{Log: 2}, Y: Axis{}, Series: []Series{{Name: "runs", Style: Dots, Tone: First, X: Numbers{8, 16, 32}, Y: Numbers{100, 200, math.NaN()}}}}
	c.Fit(nil)
	svg, err := c.SVG(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`cx="([0-9.]+)" cy="([0-9.]+)"`).FindAllStringSubmatch(string(svg), -1)
	if len(m) != 2 {
		t.Fatalf("%d points, want those with a value: %s", len(m), svg)
	}
	at := func(i, j int) float64 {
		v, err := strconv.ParseFloat(m[i][j], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	d := canvas{c: c}
	if step := d.x(32) - d.x(16); math.Abs(at(1, 1)-at(0, 1)-step) > 0.2 {
		t.Errorf("from 8 to 16 are %.1f, from 16 to 32 %.1f", at(1, 1)-at(0, 1), step)
	}
	if zero := d.y(0); math.Abs((zero-at(1, 2))-2*(zero-at(0, 2))) > 0.3 {
		t.Errorf("200 lies at %.1f, 100 at %.1f, 0 at %.1f", at(1, 2), at(0, 2), zero)
	}
}

// A gap interrupts a line, and many points in a column keep their extremes.
func TestPath(t *testing.T) {
	c := Chart{Series: []Series{{Style: Line, X: Numbers{0, 1, 2, 3}, Y: Numbers{1, 2, math.NaN(), 1}}}}
	c.Fit(nil)
	d := canvas{c: c}
	if p := d.path(c.Series[0]); strings.Count(p, "M") != 2 || strings.Count(p, "L") != 1 {
		t.Errorf("the path is %s", p)
	}
	var s Series
	for i := range 100000 {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, float64(i%7))
	}
	s.Y[54321] = 100
	c = Chart{Series: []Series{s}}
	c.Fit(nil)
	d = canvas{c: c}
	p := d.path(s)
	if len(p) > 100000 {
		t.Errorf("a path of %d bytes", len(p))
	}
	if !strings.Contains(p, " "+num(d.y(100))+"L") {
		t.Error("the spike is lost")
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0.5: "0.50", 12.34: "12.3", 999.6: "1,000", 1234567: "1,234,567", -1234: "-1,234", -12: "-12.0"} {
		if got := Number(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
