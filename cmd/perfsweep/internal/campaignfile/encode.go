package campaignfile

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Encode writes a file that Parse reads as the same one. remarks go before it,
// a comment each.
func (f *File) Encode(remarks ...string) ([]byte, error) {
	root := mapping()
	add(root, keyVersion, scalar(SchemaVersion))
	if d := f.Defaults; len(d.Values)+len(d.Commands) > 0 {
		add(root, keyDefaults, section(d))
	}
	if len(f.Targets) > 0 {
		all := mapping()
		for _, t := range f.Targets {
			add(all, t.Name, section(t.Section))
		}
		add(root, keyTargets, all)
	}
	var b bytes.Buffer
	for _, r := range remarks {
		fmt.Fprintf(&b, "# %s\n", r)
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("writing the campaign file: %w", err)
	}
	return b.Bytes(), enc.Close()
}

func section(s Section) *yaml.Node {
	n := values(s.Values)
	for _, c := range slices.Sorted(maps.Keys(s.Commands)) {
		add(n, c, values(s.Commands[c]))
	}
	return n
}

func values(all []Value) *yaml.Node {
	n := mapping()
	for _, v := range all {
		if !v.Listed {
			add(n, v.Key, scalar(v.Items[0]))
			continue
		}
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v.Items {
			list.Content = append(list.Content, scalar(item))
		}
		if len(v.Items) == 0 {
			list.Style = yaml.FlowStyle
		}
		add(n, v.Key, list)
	}
	return n
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func add(to *yaml.Node, key string, val *yaml.Node) {
	if val.Kind == yaml.MappingNode && len(val.Content) == 0 {
		val.Style = yaml.FlowStyle
	}
	to.Content = append(to.Content, scalar(key), val)
}

// scalar shows numbers and booleans as such; everything else is text, quoted
// where YAML would take it for something else.
func scalar(s string) *yaml.Node {
	tag := "!!str"
	switch {
	case regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`).MatchString(s):
		tag = "!!int"
	case s == "true", s == "false":
		tag = "!!bool"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s}
}
