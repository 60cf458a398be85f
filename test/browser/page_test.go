//go:build browser

package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

const data = "../../cmd/perfsweep/testdata/report/"

// perfsweep is the tool under test, built once.
var perfsweep string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "perfsweep-browser")
	if err == nil {
		perfsweep = filepath.Join(dir, "perfsweep")
		build := exec.Command("go", "build", "-o", perfsweep, "../../cmd/perfsweep")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building perfsweep:", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// page makes a report of journals and returns its path.
func page(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	out, err := exec.Command(perfsweep, append([]string{"report", "-o", path}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("perfsweep report %v: %v\n%s", args, err, out)
	}
	return path
}

// silent fails the test where the console holds anything, or anything but the
// page itself was asked for.
func (c *chromium) silent(path string) {
	c.t.Helper()
	for _, s := range c.complaints {
		c.t.Errorf("the browser complains: %s", s)
	}
	for _, u := range c.loads {
		if u != "file://"+path && u != "data:," {
			c.t.Errorf("the page asked for %s", u)
		}
	}
}

// keep leaves a picture for a person to look at, where PERFSWEEP_ARTIFACTS names
// a folder.
func keep(t *testing.T, name string, b []byte) {
	t.Helper()
	if len(b) < 1000 {
		t.Errorf("%s has %d bytes and shows nothing", name, len(b))
	}
	if dir := os.Getenv("PERFSWEEP_ARTIFACTS"); dir != "" {
		check(t, os.MkdirAll(dir, 0o755))
		check(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
}

// TestPage: a calibration's page draws every chart without a complaint or a
// request, in light and dark, wide and narrow, and on paper. Nothing is wider
// than the window but what scrolls by itself.
func TestPage(t *testing.T) {
	c := start(t)
	for name, args := range map[string][]string{
		"calibration": {data + "gb300.jsonl", "--overlay", data + "gb300.yaml"},
		"stalls":      {data + "stall.jsonl"},
		"compared":    {data + "gb300.jsonl", slower(t)},
	} {
		path := page(t, args...)
		for _, s := range []struct {
			scheme        string
			width, height int
		}{{"light", 1200, 900}, {"dark", 1200, 900}, {"light", 380, 800}} {
			c.screen(s.width, s.height, s.scheme)
			c.open(path)
			var charts, drawn, canvases, over int
			c.eval(`document.querySelectorAll("figure").length`, &charts)
			c.eval(`document.querySelectorAll(".u-over").length`, &canvases)
			c.eval(`[...document.querySelectorAll("canvas")].filter(c => new Set(c.getContext("2d").getImageData(0, 0, c.width, c.height).data).size > 8).length`, &drawn)
			c.eval(`document.documentElement.scrollWidth - innerWidth`, &over)
			if said := c.text(`[...document.querySelectorAll("#goodput, #goodputA")].map(s => s.innerText).join()`); !strings.Contains(said, "--ttft-p99") {
				t.Errorf("%s: of goodput it says %q", name, said)
			}
			if charts < 4 || canvases != charts || drawn != charts {
				t.Errorf("%s: %d charts, %d canvases, %d with a picture on them", name, charts, canvases, drawn)
			}
			if over > 0 {
				t.Errorf("%s at %d: the page is %d pixels too wide", name, s.width, over)
			}
			keep(t, fmt.Sprintf("%s-%s-%d.png", name, s.scheme, s.width), c.shot())
			c.silent(path)
		}
		var paper struct{ Data []byte }
		c.call("Page.printToPDF", map[string]any{"printBackground": false}, &paper)
		if !strings.HasPrefix(string(paper.Data), "%PDF-") {
			t.Errorf("%s: printing gives %.20q", name, paper.Data)
		}
		keep(t, name+".pdf", paper.Data)
		c.silent(path)
	}
}

// TestWithoutScripts: where scripts are off, the pictures are there.
func TestWithoutScripts(t *testing.T) {
	c := start(t)
	c.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	c.open(page(t, data+"gb300.jsonl"))
	var heights []float64
	c.eval(`[...document.querySelectorAll("figure .static svg")].map(s => s.getBoundingClientRect().height)`, &heights)
	if len(heights) != 4 {
		t.Errorf("%d pictures", len(heights))
	}
	for i, h := range heights {
		if h < 200 {
			t.Errorf("picture %d is %v pixels high", i, h)
		}
	}
	if c.text(`document.querySelector("figure .live").innerHTML`) != "" {
		t.Error("a script has run")
	}
}

// TestKeyboard: each stop of the Tab key is seen and has a name, the first one
// leads past the list of contents, and every chart and table is among them.
func TestKeyboard(t *testing.T) {
	c := start(t)
	c.screen(1200, 900, "light")
	c.open(page(t, data+"gb300.jsonl", "--overlay", data+"gb300.yaml"))
	var first string
	charts, tables := 0, 0
	for range 80 {
		c.call("Input.dispatchKeyEvent", map[string]any{"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}, nil)
		c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}, nil)
		var stop struct {
			Name, Class string
			Seen        bool
		}
		c.eval(`(() => { const e = document.activeElement, r = e.getBoundingClientRect();
			return {name: e.getAttribute("aria-label") || e.textContent, class: e.className, seen: e === document.body || r.width > 0 && r.right > 0 && r.bottom > 0 && r.top < innerHeight && getComputedStyle(e).outlineStyle !== "none"}; })()`, &stop)
		if stop.Name == "" || !stop.Seen {
			t.Errorf("a stop without a name or out of sight: %+v", stop)
		}
		if first == "" {
			first = stop.Name
		}
		switch {
		case strings.HasPrefix(stop.Class, "live"):
			charts++
		case strings.HasPrefix(stop.Class, "scroll"):
			tables++
		}
		if tables == 6 {
			break
		}
	}
	if first != "Skip to the charts and tables" || charts != 4 || tables != 6 {
		t.Errorf("the first stop is %q; %d charts and %d tables", first, charts, tables)
	}
}

// TestHover: what a pointer and the arrow keys read off the charts is what the
// journal holds.
func TestHover(t *testing.T) {
	curve, err := sweep.ReadJournal(data + "gb300.jsonl")
	check(t, err)
	c := start(t)
	c.screen(1200, 900, "light")
	c.open(page(t, data+"gb300.jsonl"))
	byLevel := map[int][]knee.Run{}
	for _, r := range curve.Points() {
		byLevel[r.ConcurrencyPerGPU] = append(byLevel[r.ConcurrencyPerGPU], r)
	}
	if len(byLevel) < 5 {
		t.Fatalf("%d levels", len(byLevel))
	}
	for id, value := range map[string]func(knee.Run) float64{
		"throughput": func(r knee.Run) float64 { return r.TokPerSecPerGPU },
		"latency":    func(r knee.Run) float64 { return r.TTFTP50MS },
	} {
		for n, runs := range byLevel {
			got := c.hover(id, n)
			if !strings.HasPrefix(got, strconv.Itoa(n)+" per GPU — ") {
				t.Errorf("%s at %d per GPU reads %q", id, n, got)
			}
			for _, r := range runs {
				if want := spoken(value(r)); !strings.Contains(got, want) {
					t.Errorf("%s at %d per GPU reads %q; the journal has %s", id, n, got, want)
				}
			}
		}
	}
	// Home, then one step to the right.
	c.eval(`(document.querySelector('[data-chart="throughput"] .live').focus(), true)`, new(bool))
	for _, key := range []string{"Home", "ArrowRight"} {
		for _, kind := range []string{"keyDown", "keyUp"} {
			c.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key}, nil)
		}
	}
	got := c.text(`document.querySelector('[data-chart="throughput"] .readout').textContent`)
	if want := spoken(byLevel[16][0].TokPerSecPerGPU); !strings.HasPrefix(got, "16 per GPU — ") || !strings.Contains(got, want) {
		t.Errorf("the keys read %q, want 16 per GPU and %s", got, want)
	}
}

// hover rests the pointer on a level of a chart and reads what is said.
func (c *chromium) hover(id string, level int) string {
	c.t.Helper()
	var at struct{ X, Y float64 }
	c.eval(fmt.Sprintf(`(() => {
		const f = document.querySelector('[data-chart="%s"]');
		f.scrollIntoView({block: "center", behavior: "instant"});
		const o = f.querySelector(".u-over").getBoundingClientRect(), c = JSON.parse(document.getElementById("charts").textContent).find(c => c.id === "%s"), a = c.x_axis;
		return {x: o.left + o.width * Math.log(%d / a.low) / Math.log(a.high / a.low), y: o.top + o.height / 2};
	})()`, id, id, level), &at)
	c.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y}, nil)
	var done bool
	c.eval("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))", &done)
	return c.text(fmt.Sprintf(`document.querySelector('[data-chart="%s"] .readout').textContent`, id))
}

// spoken is a value as a reader is told: three digits or more, thousands apart.
func spoken(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	case v < 1000:
		return fmt.Sprintf("%.0f", v)
	}
	n := int(v + 0.5)
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// slower is the journal of the calibration with every rate at 70 %.
func slower(t *testing.T) string {
	return rewritten(t, data+"gb300.jsonl", func(c *sweep.Curve) {
		for i := range c.Runs {
			r := &c.Runs[i].Result
			r.SeriesSeconds /= 0.7
			for _, e := range []*loadgen.Estimate{&r.Window, &r.WholeRun} {
				slow(e)
			}
		}
	})
}

// slow takes the same answers at 0.7 of their rate, each 1.4 times as late.
func slow(e *loadgen.Estimate) {
	e.OutputTokPerSec, e.RequestsPerSec, e.Seconds = 0.7*e.OutputTokPerSec, 0.7*e.RequestsPerSec, e.Seconds/0.7
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		if strings.HasSuffix(v.Type().Field(i).Name, "MS") {
			v.Field(i).SetFloat(1.4 * v.Field(i).Float())
		}
	}
}

// rewritten is a journal with something changed in it.
func rewritten(t *testing.T, path string, change func(*sweep.Curve)) string {
	t.Helper()
	c, err := sweep.ReadJournal(path)
	check(t, err)
	// a copy through JSON, so that a change reaches nothing of the original
	b, err := json.Marshal(c)
	check(t, err)
	var mine sweep.Curve
	check(t, json.Unmarshal(b, &mine))
	change(&mine)
	out := filepath.Join(t.TempDir(), "changed.jsonl")
	head := mine
	head.Runs = nil
	j, err := sweep.CreateJournal(out, head)
	check(t, err)
	for _, r := range mine.Runs {
		check(t, j.Append(r))
	}
	check(t, j.Close())
	return out
}
