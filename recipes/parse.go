package recipes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds on what Parse reads. Real overlays stay below 20 KiB and 12 levels.
const (
	MaxBytes = 1 << 20
	MaxDepth = 64
)

// Parse reads an overlay; name is for error positions. Errors are *PosError.
//
// It takes one UTF-8 document without tabs, anchors, aliases, merge keys and
// duplicate keys, of kind RecipeMetadata and any apiVersion. The rest is
// refused because a splice could not be proved there.
func Parse(name string, src []byte) (*Overlay, error) {
	return parseAs("RecipeMetadata", name, src)
}

// parseAs reads a document of the kind; mixins have the shape of overlays.
func parseAs(kind, name string, src []byte) (*Overlay, error) {
	o := &Overlay{file: name, kind: kind, text: splitText(src)}
	if err := o.parse(src); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *Overlay) parse(src []byte) error {
	if len(src) > MaxBytes {
		return o.errAt(1, 1, "too-large", fmt.Sprintf("the file has %d bytes, more than %d", len(src), MaxBytes), "is this an overlay?")
	}
	if err := o.checkEncoding(src); err != nil {
		return err
	}
	if err := o.checkTabs(); err != nil {
		return err
	}
	doc, second, err := decode(o.text.yaml())
	if err != nil {
		return o.syntaxError(err)
	}
	if second != nil {
		return o.errNode(second, "multi-document", "a second YAML document begins here", "keep one overlay a file")
	}
	if len(doc.Content) == 0 {
		return o.errAt(1, 1, "not-an-overlay", "the file holds no YAML document", "")
	}
	if err := o.checkNodes(doc.Content[0], 1); err != nil {
		return err
	}
	return o.locate(doc.Content[0])
}

// decode parses src to nodes. The recover is for the third-party parser alone:
// some malformed inputs are known to panic in it instead of failing.
func decode(src []byte) (doc, second *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	doc = new(yaml.Node)
	if err := dec.Decode(doc); errors.Is(err, io.EOF) {
		return doc, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	next := new(yaml.Node)
	if err := dec.Decode(next); errors.Is(err, io.EOF) {
		return doc, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	return doc, next, nil
}

// checkEncoding refuses what the parser would count as a line break and we
// would not, or what would not survive as text.
func (o *Overlay) checkEncoding(src []byte) error {
	if !utf8.Valid(src) {
		return o.errAt(firstInvalid(src), 1, "encoding", "the file is not UTF-8", "save it as UTF-8")
	}
	for i, l := range o.text.lines {
		for off, r := range l.body {
			switch {
			case r == '\t' || r >= 0x20 && r != 0x7f && r != 0x85 && r != 0x2028 && r != 0x2029 && r != 0xfeff:
			case r == '\r':
				return o.errAt(i+1, o.text.column(i, off), "encoding", "a carriage return without a line feed", "use \\n or \\r\\n")
			default:
				return o.errAt(i+1, o.text.column(i, off), "encoding", fmt.Sprintf("the control character U+%04X", r), "remove it")
			}
		}
	}
	return nil
}

func firstInvalid(src []byte) (line int) {
	line = 1
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		if r == utf8.RuneError && n == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		src = src[n:]
	}
	return line
}

// checkTabs allows a tab in comment lines only.
func (o *Overlay) checkTabs() error {
	for i, l := range o.text.lines {
		off := strings.IndexByte(l.body, '\t')
		if off >= 0 && !o.text.comment(i) {
			return o.errAt(i+1, o.text.column(i, off), "tab", "a tab", "use spaces; inside a quoted string write \\t")
		}
	}
	return nil
}

// checkNodes walks the tree for what Parse refuses anywhere.
func (o *Overlay) checkNodes(n *yaml.Node, depth int) error {
	switch {
	case depth > MaxDepth:
		return o.errNode(n, "too-deep", fmt.Sprintf("nested deeper than %d levels", MaxDepth), "")
	case n.Anchor != "": // always before its aliases
		return o.errNode(n, "anchor-alias", "the anchor &"+clip(n.Anchor), "write the value out where it is used, so that an edit cannot reach another place")
	}
	if n.Kind == yaml.MappingNode {
		if err := o.checkKeys(n); err != nil {
			return err
		}
	}
	for _, c := range n.Content {
		if err := o.checkNodes(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (o *Overlay) checkKeys(n *yaml.Node) error {
	seen := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			continue
		}
		if k.ShortTag() == "!!merge" {
			return o.errNode(k, "anchor-alias", "the merge key <<", "write the keys out")
		}
		id := k.ShortTag() + " " + k.Value
		if first := seen[id]; first != nil {
			return o.errNode(k, "duplicate-key", fmt.Sprintf("the key %q stands on line %d and on line %d", clip(k.Value), first.Line, k.Line), "keep one")
		}
		seen[id] = k
	}
	return nil
}

// syntaxError explains a parser error. An unquoted ">=" is by far the most
// common one, and the parser's own words for it (a folded scalar) mislead.
func (o *Overlay) syntaxError(err error) error {
	bare := regexp.MustCompile(`^[ -]*value:( +)>=?[^-+\n]*[0-9]`)
	for i, l := range o.text.lines {
		if m := bare.FindStringSubmatchIndex(l.body); m != nil {
			return o.errAt(i+1, o.text.column(i, m[3]), "unquoted-comparator",
				"an unquoted > begins a folded block in YAML, so the file does not parse", `quote the value: ">= N"`)
		}
	}
	line := 1
	if m := regexp.MustCompile(`line (\d+):`).FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	line = max(1, min(line, len(o.text.lines)))
	if broken := o.brokenLine(err); broken > line {
		return o.errAt(broken, 1, "yaml-syntax", fmt.Sprintf("this line breaks what begins on line %d (%v)", line, err), "")
	}
	remedy := ""
	if strings.Contains(err.Error(), "incompatible YAML document") {
		remedy = "drop the directive %YAML, or name version 1.1"
	}
	return o.errAt(line, 1, "yaml-syntax", err.Error(), remedy)
}

// brokenLine is the first line with which the file stops being YAML, 0 where it
// cannot be told. The parser names the beginning of what it was reading, which
// may be the first line of the file.
func (o *Overlay) brokenLine(err error) int {
	const most = 64 << 10 // bytes; each step parses again
	if n := len(o.text.lines); n == 0 || len(o.text.yaml()) > most {
		return 0
	}
	where := regexp.MustCompile(`line \d+`)
	fails := func(n int) bool { // for the same reason: what is only open yet fails for another
		_, _, e := decode(text{lines: o.text.lines[:n]}.bytes())
		return e != nil && where.ReplaceAllString(e.Error(), "") == where.ReplaceAllString(err.Error(), "")
	}
	n := 1 + sort.Search(len(o.text.lines), func(i int) bool { return fails(i + 1) })
	if n > len(o.text.lines) || !fails(n) || n > 1 && fails(n-1) {
		return 0
	}
	return n
}

func (o *Overlay) errAt(line, col int, rule, msg, remedy string) *PosError {
	return &PosError{File: o.file, Line: line, Col: col, Rule: rule, Msg: msg, Remedy: remedy}
}

func (o *Overlay) errNode(n *yaml.Node, rule, msg, remedy string) *PosError {
	return o.errAt(max(1, n.Line), max(1, n.Column), rule, msg, remedy)
}
