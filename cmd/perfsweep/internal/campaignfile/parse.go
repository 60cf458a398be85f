package campaignfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// Bounds on what Parse reads.
const (
	MaxBytes   = 256 << 10
	maxTargets = 1000
	maxItems   = 1000
	maxValue   = 4096 // bytes
)

// SchemaVersion is that of the files that are read and written.
const SchemaVersion = "1"

// The keys of a file that are no flags.
const (
	keyVersion  = "schema_version"
	keyDefaults = "defaults"
	keyTargets  = "targets"
)

var targetName = regexp.MustCompile(`^[A-Za-z0-9][-._A-Za-z0-9]{0,62}$`)

// Parse reads a campaign file; name is for positions. Whatever it does not know
// or cannot take is a *recipes.PosError: nothing of a file is passed over.
func Parse(name string, src []byte, s Schema) (*File, error) {
	p := &parser{file: name, schema: s}
	if len(src) > MaxBytes {
		return nil, p.at(1, 1, "the file has %d bytes, more than %d", len(src), MaxBytes)
	}
	if at, what := unreadable(src); at >= 0 {
		line, col := place(src, at)
		return nil, p.at(line, col, "%s", what)
	}
	doc, second, err := decode(src)
	switch {
	case err != nil:
		return nil, p.syntax(src, err)
	case second != nil:
		return nil, p.node(second, "a second YAML document begins here; keep one a file")
	case doc == nil || len(doc.Content) == 0:
		return nil, p.at(1, 1, "the file holds nothing; it needs %s, and under it a mapping for each target", keyTargets)
	}
	out := &File{Name: name}
	return out, p.root(doc.Content[0], out)
}

type parser struct {
	file   string
	schema Schema
}

// decode parses to nodes. The recover is for the parser of YAML alone, which
// panics on some malformed input.
func decode(src []byte) (doc, second *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	for _, to := range []**yaml.Node{&doc, &second} {
		n := new(yaml.Node)
		if err := dec.Decode(n); errors.Is(err, io.EOF) {
			return doc, second, nil
		} else if err != nil {
			return nil, nil, err
		}
		*to = n
	}
	return doc, second, nil
}

func (p *parser) syntax(src []byte, err error) error {
	if at := lostAlias(src, err); at >= 0 {
		line, col := place(src, at)
		return p.at(line, col, "an alias of nothing; write the value out")
	}
	line, said := 1, strings.Join(strings.Fields(err.Error()), " ")
	if m := toldLine.FindStringSubmatch(said); m != nil {
		line, _ = strconv.Atoi(m[1])
		said = strings.Replace(said, m[0], "", 1)
		// Where the words fit no grammar its line is counted from 0.
		if strings.Contains(said, "did not find expected") {
			line = min(line+1, 1+bytes.Count(bytes.TrimRight(src, "\n"), []byte("\n")))
		}
	}
	return p.at(max(1, line), 1, "%s", said)
}

// toldLine is a position as the parser of YAML tells it.
var toldLine = regexp.MustCompile(`line (\d+): `)

func (p *parser) at(line, col int, format string, args ...any) error {
	return &recipes.PosError{File: p.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) node(n *yaml.Node, format string, args ...any) error {
	return p.at(max(1, n.Line), max(1, n.Column), format, args...)
}

// entries calls f for each entry of a mapping, whose keys must be names and
// stand once.
func (p *parser) entries(n *yaml.Node, what string, f func(key, val *yaml.Node) error) error {
	if err := p.plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.MappingNode {
		return p.node(n, "%s must be a mapping of keys to values", what)
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if err := p.plain(key); err != nil {
			return err
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || key.Style&yaml.TaggedStyle != 0 {
			return p.node(key, "a key must be a name")
		}
		if line := seen[key.Value]; line > 0 {
			return p.node(key, "the key %.80q stands on line %d already; keep one", key.Value, line)
		}
		seen[key.Value] = max(1, key.Line)
		if err := f(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// plain refuses what would let a value come from another place of the file.
func (p *parser) plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return p.node(n, "an alias; write the value out, or put it under %s", keyDefaults)
	case n.Kind != yaml.ScalarNode && n.Style&yaml.TaggedStyle != 0:
		return p.node(n, "the tag %.40q; take it away, a campaign file needs none", n.Tag)
	case n.Anchor != "":
		return p.node(n, "an anchor; write the value out where it is used, or put it under %s", keyDefaults)
	}
	return nil
}

func (p *parser) root(n *yaml.Node, f *File) error {
	return p.entries(n, "a campaign file", func(key, val *yaml.Node) (err error) {
		switch key.Value {
		case keyVersion:
			if err := p.plain(val); err != nil {
				return err
			}
			if val.Kind != yaml.ScalarNode || val.Value != SchemaVersion {
				return p.node(val, "%s: this perfsweep reads %s", keyVersion, SchemaVersion)
			}
			return nil
		case keyDefaults:
			f.Defaults, err = p.section(val, keyDefaults)
			return err
		case keyTargets:
			return p.targets(val, f)
		}
		if _, flag := p.anyCommand()[key.Value]; flag {
			return p.node(key, "%q stands at the top level; put it under %s for all targets, or under one of %s", key.Value, keyDefaults, keyTargets)
		}
		top := []string{keyVersion, keyDefaults, keyTargets}
		return p.node(key, "unknown key %.80q%s; the top level has %s", key.Value, meant(key.Value, top), strings.Join(top, ", "))
	})
}

func (p *parser) targets(n *yaml.Node, f *File) error {
	return p.entries(n, keyTargets, func(key, val *yaml.Node) error {
		switch {
		case !targetName.MatchString(key.Value):
			return p.node(key, "%.80q is no name of a target: use letters, digits, -, . and _, at most 63", key.Value)
		case len(f.Targets) == maxTargets:
			return p.node(key, "more than %d targets", maxTargets)
		}
		s, err := p.section(val, "target "+key.Value)
		f.Targets = append(f.Targets, Target{key.Value, max(1, key.Line), max(1, key.Column), s})
		return err
	})
}

// anyCommand are the keys that some command knows.
func (p *parser) anyCommand() map[string]Kind {
	all := map[string]Kind{}
	for _, keys := range p.schema.Commands {
		maps.Copy(all, keys)
	}
	return all
}

func (p *parser) section(n *yaml.Node, what string) (Section, error) {
	s := Section{}
	known := p.anyCommand()
	err := p.entries(n, what, func(key, val *yaml.Node) error {
		keys, own := p.schema.Commands[key.Value]
		if !own {
			v, err := p.value(key, val, known, slices.Sorted(maps.Keys(p.schema.Commands)))
			s.Values = append(s.Values, v)
			return err
		}
		if s.Commands == nil {
			s.Commands = map[string][]Value{}
		}
		return p.entries(val, key.Value, func(k, val *yaml.Node) error {
			v, err := p.value(k, val, keys, nil)
			s.Commands[key.Value] = append(s.Commands[key.Value], v)
			return err
		})
	})
	return s, err
}

// value reads one key. sections are what may also stand where it does.
func (p *parser) value(key, val *yaml.Node, known map[string]Kind, sections []string) (Value, error) {
	v := Value{Key: key.Value, Line: max(1, key.Line), Col: max(1, key.Column)}
	if why, no := p.schema.Refused[key.Value]; no {
		return v, p.node(key, "%s: %s", key.Value, why)
	}
	kind, ok := known[key.Value]
	if !ok {
		near := meant(key.Value, append(slices.Sorted(maps.Keys(known)), sections...))
		if _, other := p.anyCommand()[key.Value]; other {
			near = "; another command has it, so put it a level up or under that one"
		}
		return v, p.node(key, "unknown key %.80q%s; keys are the names of flags, as --help lists them", key.Value, near)
	}
	if err := p.plain(val); err != nil {
		return v, err
	}
	var err error
	switch {
	case kind == Scalar:
		var one string
		one, err = p.scalar(v.Key, val)
		v.Items = []string{one}
	case kind == Pairs && val.Kind == yaml.MappingNode:
		v.Listed, v.Pairs = true, true
		err = p.entries(val, v.Key, func(k, val *yaml.Node) error {
			if strings.Contains(k.Value, "=") {
				return p.node(k, "%s: the key %.80q holds a =", v.Key, k.Value)
			}
			one, err := p.scalar(v.Key+" "+k.Value, val)
			v.Items = append(v.Items, k.Value+"="+one)
			return err
		})
	case val.Kind != yaml.SequenceNode:
		err = p.node(val, "%s may be given several times: write a list, such as [%s]", v.Key, strings.TrimSpace(clip(val.Value)))
	default:
		v.Listed = true
		for _, n := range val.Content {
			var one string
			if one, err = p.scalar(v.Key, n); err != nil {
				break
			}
			v.Items = append(v.Items, one)
		}
	}
	if err == nil && len(v.Items) > maxItems {
		err = p.node(val, "%s has %s, more than %d", v.Key, plural.Of(len(v.Items), "value"), maxItems)
	}
	return v, err
}
