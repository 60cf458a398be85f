package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/markup"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// uPlot 1.6.32 (MIT), as published; assets/README.md has the hashes.
var (
	//go:embed assets/uplot.min.js
	uplotJS string
	//go:embed assets/uplot.min.css
	uplotCSS string
	//go:embed assets/page.js
	pageJS string
	//go:embed assets/page.css
	pageCSS string
	//go:embed assets/chart.css
	chartCSS string
)

// hashOf is a source expression of a Content-Security-Policy.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// PageHTML writes one file that needs no other and no network. Its policy lets
// exactly one script and one stylesheet of ours act, and nothing be fetched;
// what servers said is escaped besides.
func PageHTML(out io.Writer, p Page) error {
	script := join(uplotJS, pageJS)
	style := join(uplotCSS, chartCSS, pageCSS)
	charts := p.charts()
	island, err := json.Marshal(charts) // with <, > and & as \u003c and so on
	if err != nil {
		return fmt.Errorf("the charts of the report: %w", err)
	}
	h := &htmlPage{p: p}
	h.Raw(markup.Raw("<!DOCTYPE html>\n"))
	h.Open("html", markup.A("lang", "en"))
	h.head(script, style)
	h.Open("body")
	h.Leaf("a", "Skip to the charts and tables", markup.A("class", "skip"), markup.A("href", "#main"))
	h.top()
	h.nav(charts)
	h.Open("main", markup.A("id", "main"), markup.A("tabindex", "-1"))
	h.body(charts)
	h.Close("main")
	h.foot()
	h.Block("script", island, markup.A("type", "application/json"), markup.A("id", "charts"))
	h.Block("script", script)
	h.Close("body")
	h.Close("html")
	h.Line()
	return h.flush(out)
}

func join(parts ...string) []byte { return []byte(strings.Join(parts, "\n")) }

// htmlPage is a page being written.
type htmlPage struct {
	markup.Writer
	p   Page
	err error
}

func (h *htmlPage) flush(out io.Writer) error {
	b, err := h.Bytes()
	if h.err != nil {
		err = h.err
	}
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}

func (h *htmlPage) head(script, style []byte) {
	h.Open("head")
	h.Open("meta", markup.A("charset", "utf-8"))
	h.Open("meta", markup.A("http-equiv", "Content-Security-Policy"),
		markup.A("content", "default-src 'none'; script-src "+hashOf(script)+"; style-src "+hashOf(style)+"; img-src data:; base-uri 'none'; form-action 'none'"))
	h.Open("meta", markup.A("name", "viewport"), markup.A("content", "width=device-width, initial-scale=1"))
	h.Open("meta", markup.A("name", "color-scheme"), markup.A("content", "light dark"))
	h.Open("meta", markup.A("name", "generator"), markup.A("content", "perfsweep "+h.p.Version))
	h.Open("link", markup.A("rel", "icon"), markup.A("href", "data:,")) // else a browser asks for one
	h.Leaf("title", "perfsweep: "+h.p.title())
	h.Block("style", style)
	h.Close("head")
	h.Line()
}

// title names what was measured.
func (p Page) title() string {
	name := func(s Side) string {
		f := s.Curve.Fingerprint
		if f == nil || f.Model == "" {
			return s.Name
		}
		return fmt.Sprintf("%s on %s", f.Model, plural.Of(f.GPUs, "GPU"))
	}
	if p.B == nil {
		return name(p.A)
	}
	return p.A.Name + " against " + p.B.Name
}

// body is the page in the order of the questions of a reader.
func (h *htmlPage) body(charts []plot.Chart) {
	if h.p.Comparison != nil {
		h.moved()
	}
	for _, c := range charts {
		h.section(c.ID, c.Title)
		h.figure(c)
		h.Close("section")
	}
	for _, s := range h.p.sides() {
		h.levelTable(s)
		h.goodputTable(s)
		h.heldBack(s)
		h.gateTables(s)
		h.stallTable(s)
		h.generatorTable(s)
		h.fingerprint(s)
		h.runTable(s)
	}
	h.method()
}

// section opens a part that the list of contents leads to.
func (h *htmlPage) section(id, title string) {
	h.Line()
	h.Open("section", markup.A("id", id), markup.A("aria-labelledby", id+"-h"))
	h.Leaf("h2", title, markup.A("id", id+"-h"))
}

// figure is a chart: the picture, which needs no script, and the place where
// the script puts the one that answers to a pointer and to arrow keys.
func (h *htmlPage) figure(c plot.Chart) {
	svg, err := c.SVG(nil)
	if err != nil {
		h.err = err
		return
	}
	h.Open("figure", markup.A("data-chart", c.ID))
	h.Open("ul", markup.A("class", "legend"), markup.A("aria-label", "legend"))
	for _, s := range c.Series {
		if s.Mute {
			continue
		}
		h.Open("li")
		h.Open("svg", markup.A("class", "key"), markup.A("viewBox", "0 0 26 12"), markup.A("aria-hidden", "true"))
		plot.Key(&h.Writer, s)
		h.Close("svg")
		h.Text(s.Name)
		h.Close("li")
	}
	h.Close("ul")
	h.Open("div", markup.A("class", "static"))
	h.Raw(svg)
	h.Close("div")
	h.Open("div", markup.A("class", "live"), markup.A("role", "application"), markup.A("aria-label", c.Title+": arrow keys read the values"))
	h.Close("div")
	h.Leaf("p", "", markup.A("class", "readout"), markup.A("aria-live", "polite"))
	h.Leaf("figcaption", capital(c.Desc)+".")
	h.Close("figure")
}
