package markup

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// Name is the name of an element or an attribute. It is a type of its own so
// that no string read from somewhere becomes one unnoticed.
type Name string

// Attr is an attribute with its value as a reader is to see it.
type Attr struct {
	Name  Name
	Value string
}

// A is an attribute.
func A(name Name, value string) Attr { return Attr{name, value} }

// F is an attribute whose value is formatted.
func F(name Name, format string, args ...any) Attr { return Attr{name, fmt.Sprintf(format, args...)} }

// Writer builds one document in memory. The first mistake of its caller, such
// as an attribute that would run its value, is kept and ends it.
type Writer struct {
	buf  bytes.Buffer
	open []Name
	err  error
}

// Bytes is the document, or why there is none.
func (w *Writer) Bytes() ([]byte, error) {
	if w.err == nil && len(w.open) > 0 {
		w.err = fmt.Errorf("markup: <%s> is still open", w.open[len(w.open)-1])
	}
	return w.buf.Bytes(), w.err
}

// void are the elements of HTML that have no end.
var void = map[Name]bool{"meta": true, "link": true, "br": true, "hr": true}

// Open begins an element; void ones of HTML need no Close.
func (w *Writer) Open(name Name, attrs ...Attr) {
	w.tag(name, attrs)
	w.buf.WriteByte('>')
	if !void[name] {
		w.open = append(w.open, name)
	}
}

// Empty writes an element of SVG without content.
func (w *Writer) Empty(name Name, attrs ...Attr) {
	w.tag(name, attrs)
	w.buf.WriteString("/>")
}

func (w *Writer) tag(name Name, attrs []Attr) {
	w.check(isName(name), "%q is no name of an element", name)
	w.buf.WriteString("<" + string(name))
	for _, a := range attrs {
		w.check(safeAttr(a), "attribute %q must not be written with a value", a.Name)
		w.buf.WriteString(" " + string(a.Name) + `="` + Escape(a.Value) + `"`)
	}
}

// Close ends the innermost element, which is named for the reader's sake.
func (w *Writer) Close(name Name) {
	if n := len(w.open); n == 0 || w.open[n-1] != name {
		w.check(false, "</%s> closes %v", name, w.open)
		return
	}
	w.open = w.open[:len(w.open)-1]
	w.buf.WriteString("</" + string(name) + ">")
}

// Text writes words.
func (w *Writer) Text(s string) { w.buf.WriteString(Escape(s)) }

// Line ends a line of the source; it is no text.
func (w *Writer) Line() { w.buf.WriteByte('\n') }

// Leaf writes an element that holds only words.
func (w *Writer) Leaf(name Name, text string, attrs ...Attr) {
	w.Open(name, attrs...)
	w.Text(text)
	w.Close(name)
}

// Raw is content of this program's own, or already escaped: a stylesheet, a
// script, a picture that another Writer made.
type Raw []byte

// Raw writes content as it is.
func (w *Writer) Raw(r Raw) { w.buf.Write(r) }

// Block writes the content of a script or style element, which cannot be
// escaped: whatever could end the element early is refused.
func (w *Writer) Block(name Name, content Raw, attrs ...Attr) {
	low := bytes.ToLower(content)
	w.check(!bytes.Contains(low, []byte("</"+string(name))) && !bytes.Contains(low, []byte("<!--")), "the content of <%s> would end it", name)
	w.Open(name, attrs...)
	w.Raw(content)
	w.Close(name)
}

func (w *Writer) check(ok bool, format string, args ...any) {
	if !ok && w.err == nil {
		w.err = fmt.Errorf("markup: "+format, args...)
	}
}

func isName(n Name) bool {
	for _, r := range n {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-') {
			return false
		}
	}
	return n != ""
}

// safeAttr refuses attributes whose values are code or lead away from the page.
func safeAttr(a Attr) bool {
	n := strings.ToLower(string(a.Name))
	switch {
	case !isName(a.Name), strings.HasPrefix(n, "on"):
		return false
	case n == "href":
		return strings.HasPrefix(a.Value, "#") || a.Value == "data:,"
	case n == "style", n == "src", n == "srcdoc", n == "action", n == "formaction", n == "srcset", n == "ping":
		return false
	}
	return true
}

// Escape makes words safe in text and in quoted values, of HTML and of XML.
// What XML cannot hold and what turns the order of reading around is replaced,
// so that a reader sees that something was there.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '`':
			b.WriteString("&#96;")
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
