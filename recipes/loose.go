package recipes

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// maxExpanded bounds the nodes of a file with aliases; an overlay has hundreds.
const maxExpanded = 100_000

// ReadAsAICR reads an overlay as AICR's YAML reader does: the first document,
// with anchors, aliases, merge keys and tabs. What Parse refuses because an edit
// could not be proved there is no mistake to AICR. The result can be resolved
// and emulated, and SetGate refuses it.
func ReadAsAICR(name string, src []byte) (*Overlay, error) {
	o := &Overlay{file: name, kind: "RecipeMetadata", text: splitText(src), loose: true}
	if len(src) > MaxBytes {
		return nil, o.errAt(1, 1, "too-large", fmt.Sprintf("the file has %d bytes, more than %d", len(src), MaxBytes), "is this an overlay?")
	}
	if err := o.checkEncoding(src); err != nil {
		return nil, err
	}
	doc, err := firstDocument(o.text.yaml())
	if err != nil {
		return nil, o.syntaxError(err)
	}
	if len(doc.Content) == 0 {
		return nil, o.errAt(1, 1, "not-an-overlay", "the file holds no YAML document", "")
	}
	left := maxExpanded
	root, err := o.expand(doc.Content[0], 1, &left)
	if err != nil {
		return nil, err
	}
	if err := o.checkNodes(root, 1); err != nil {
		return nil, err
	}
	if err := o.locate(root); err != nil {
		return nil, err
	}
	return o, nil
}

// firstDocument is decode without a look at what follows.
func firstDocument(src []byte) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil { // see decode
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	doc = new(yaml.Node)
	if err = yaml.NewDecoder(bytes.NewReader(src)).Decode(doc); errors.Is(err, io.EOF) {
		return doc, nil
	}
	return doc, err
}

// expand copies a tree with its aliases written out, each at the place of the
// alias, and its merge keys merged: a key of the mapping itself comes first.
func (o *Overlay) expand(n *yaml.Node, depth int, left *int) (*yaml.Node, error) {
	if *left--; *left < 0 || depth > MaxDepth {
		return nil, o.errNode(n, "too-deep", fmt.Sprintf("aliases make more than %d nodes or %d levels of this", maxExpanded, MaxDepth), "is this an overlay?")
	}
	if n.Kind == yaml.AliasNode {
		c, err := o.expand(n.Alias, depth+1, left)
		if err != nil {
			return nil, err
		}
		c.Line, c.Column = n.Line, n.Column
		return c, nil
	}
	c := *n
	c.Anchor, c.Content = "", nil
	var merged []*yaml.Node
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.ShortTag() == "!!merge" {
			continue
		}
		e, err := o.expand(child, depth+1, left)
		if err != nil {
			return nil, err
		}
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].ShortTag() == "!!merge" {
			merged = append(merged, e)
			continue
		}
		c.Content = append(c.Content, e)
	}
	for _, m := range merged {
		parts := []*yaml.Node{m}
		if m.Kind == yaml.SequenceNode {
			parts = m.Content
		}
		for _, p := range parts {
			mergeKeys(&c, p)
		}
	}
	return &c, nil
}

func mergeKeys(into, from *yaml.Node) {
	if from.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(from.Content); i += 2 {
		if !lookup(into, from.Content[i].Value).present() {
			into.Content = append(into.Content, from.Content[i], from.Content[i+1])
		}
	}
}
