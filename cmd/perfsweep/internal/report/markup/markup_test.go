package markup

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// parses reads a document as strict XML and returns its words and values.
func parses(t *testing.T, doc string) (words string, elements int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(doc))
	var b strings.Builder
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), elements
		}
		if err != nil {
			t.Fatalf("%v in %q", err, doc)
		}
		switch x := tok.(type) {
		case xml.CharData:
			b.Write(x)
		case xml.StartElement:
			elements++
			for _, a := range x.Attr {
				b.WriteString(a.Value)
			}
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Fatalf("%T in %q", tok, doc)
		}
	}
}

// FuzzText: whatever the words are, they open no element, and what is legible
// of them is there.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a<b>&\"'`", "</p><script>alert(1)</script>", "<!--", "]]>", "\x00\x1b[2J\u202e\ufffe\xff", "line\nline\ttab\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var w Writer
		w.Open("p", A("title", s))
		w.Text(s)
		w.Close("p")
		doc, err := w.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		words, elements := parses(t, string(doc))
		if elements != 1 {
			t.Errorf("%d elements in %q", elements, doc)
		}
		legible := !strings.ContainsFunc(s, func(r rune) bool { return Escape(string(r)) == "\ufffd" })
		// XML reads a tab or newline in a value as a space or as itself; both ways
		// the text is whole.
		if legible && !strings.HasSuffix(words, s) {
			t.Errorf("%q became %q", s, words)
		}
	})
}

func TestRefusals(t *testing.T) {
	for name, write := range map[string]func(*Writer){
		"an event":            func(w *Writer) { w.Empty("circle", A("onclick", "1")) },
		"an event, shouted":   func(w *Writer) { w.Empty("circle", A("ONLOAD", "1")) },
		"a style":             func(w *Writer) { w.Empty("circle", A("style", "x")) },
		"a source":            func(w *Writer) { w.Empty("img", A("src", "x")) },
		"a script as a link":  func(w *Writer) { w.Leaf("a", "x", A("href", "javascript:alert(1)")) },
		"a link elsewhere":    func(w *Writer) { w.Leaf("a", "x", A("href", "https://example.com")) },
		"a bad attribute":     func(w *Writer) { w.Empty("circle", A(`x y="`, "1")) },
		"a bad element":       func(w *Writer) { w.Empty("circle><script") },
		"an end inside":       func(w *Writer) { w.Block("script", Raw(`"</ScRiPt>"`)) },
		"a comment inside":    func(w *Writer) { w.Block("style", Raw(`<!--`)) },
		"an open end":         func(w *Writer) { w.Open("p") },
		"a wrong end":         func(w *Writer) { w.Open("p"); w.Close("div") },
		"an end of something": func(w *Writer) { w.Close("div") },
	} {
		var w Writer
		write(&w)
		if doc, err := w.Bytes(); err == nil {
			t.Errorf("%s was written: %s", name, doc)
		}
	}
	var w Writer
	w.Leaf("a", "the gates", A("href", "#gates"))
	w.Block("script", Raw("let a = 1 < 2"))
	if _, err := w.Bytes(); err != nil {
		t.Error(err)
	}
}
