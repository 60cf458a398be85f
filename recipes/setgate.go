package recipes

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetGate returns the file with the gate set and the managed comment replaced,
// every other byte kept. Setting the same gate and comment again returns the
// same bytes. comment holds the lines without indentation or "# "; none
// removes the block of an earlier edit. People's comments are never touched.
//
// The gate needs a model, a concurrency and a ceiling. An absent RoutingMode
// keeps the file's, or writes AICR's default. The floor is written under the
// name of the field that is set, and replaces a floor under the other name. A
// gate without a floor (--gate ttft-only) removes the file's floor constraint
// together with a comment on its own lines. A value that already says the same
// keeps its spelling.
//
// A layout that is not understood is refused as *PosError, and the result is
// parsed again to prove that nothing but the gate has changed.
func (o *Overlay) SetGate(g Gate, comment []string) ([]byte, error) {
	if o.loose {
		return nil, o.errAt(1, 1, "unsupported-layout", "read as AICR reads it, and so not to be edited", "parse it")
	}
	if g.RoutingMode == "" {
		current, _ := o.readGate()
		if g.RoutingMode = current.RoutingMode; g.RoutingMode == "" {
			g.RoutingMode = "dynamo-router"
		}
	}
	if err := g.writable(); err != nil {
		return nil, err
	}
	if errs := o.conflicts(); len(errs) > 0 {
		return nil, errs[0]
	}
	if _, _, _, err := o.managedBlock(); err != nil { // also where there is no phase yet
		return nil, err
	}
	s := gateSplicer{splices: newSplices(o), gate: g, comment: comment, unit: o.indentUnit(), dash: o.dashOffset()}
	if err := s.setSpec(); err != nil {
		return nil, err
	}
	out := s.apply()
	if err := o.prove(out, g); err != nil {
		return nil, err
	}
	return out, nil
}

// gateSplicer walks down to the performance phase and adds what is missing.
type gateSplicer struct {
	*splices
	gate    Gate
	comment []string
	unit    int // columns a mapping level is indented by in this file
	dash    int // columns from a key to the dashes of its list
}

func (s *gateSplicer) setSpec() error {
	o := s.o
	if o.spec.empty() {
		return o.errNode(o.root, "unsupported-layout", "the overlay has no spec to put a gate into", "add spec with base and criteria first")
	}
	for _, e := range []entry{{o.root, o.root}, o.spec, o.validation, o.performance} {
		flow := e.present() && !blockStyle(e.val) && e != o.performance
		if e.present() && !e.empty() && (flow || e.val.Style&yaml.TaggedStyle != 0) {
			return o.errNode(e.val, "unsupported-layout", "a mapping in flow style or with a tag on the way to the gate", "write it in block style")
		}
	}
	pad := o.spec.val.Column - 1
	if !o.validation.present() {
		lines, err := s.nested(pad, "validation", "performance")
		if err != nil {
			return err
		}
		if o.spaced(o.spec.val) {
			lines = append([]string{""}, lines...)
		}
		s.afterKey(o.spec.val, len(o.spec.val.Content)/2-1, lines)
		return nil
	}
	return s.setValidation(o.validation.key.Column - 1)
}

func (s *gateSplicer) setValidation(pad int) error {
	o := s.o
	if o.performance.present() {
		return s.setPhase()
	}
	if !o.validation.empty() {
		pad = o.validation.val.Column - 1 - s.unit
	}
	lines, err := s.nested(pad+s.unit, "performance")
	if err != nil {
		return err
	}
	// AICR's order of phases is readiness, deployment, performance, conformance.
	before := max(keyIndex(o.validation.val, "readiness"), keyIndex(o.validation.val, "deployment"))
	if before < 0 {
		return s.under(o.validation, lines...)
	}
	s.afterKey(o.validation.val, before, lines)
	return nil
}

// setPhase edits a performance phase that is there, empty or not.
func (s *gateSplicer) setPhase() error {
	o := s.o
	if o.performance.empty() {
		lines, err := s.phase(o.performance.key.Column - 1 + s.unit)
		if err != nil {
			return err
		}
		if err := s.dropBlock(); err != nil {
			return err
		}
		return s.under(o.performance, lines...)
	}
	if !blockStyle(o.performance.val) {
		return s.setFlowPhase()
	}
	if err := s.dropBlock(); err != nil {
		return err
	}
	pad := o.performance.val.Column - 1
	if err := s.setChecks(pad); err != nil {
		return err
	}
	return s.setConstraints(pad)
}

func (s *gateSplicer) dropBlock() error {
	first, last, found, err := s.o.managedBlock()
	if found {
		s.dropLines(first, last)
	}
	return err
}

func (s *gateSplicer) setChecks(pad int) error {
	e := s.o.checks
	switch {
	case slices.Contains(s.o.Checks(), CheckName):
		return nil
	case !e.present():
		return s.under(s.o.performance, s.checkLines(pad)...)
	case e.empty():
		return s.under(e, strings.Repeat(" ", pad+s.dash)+"- "+CheckName)
	case blockStyle(e.val):
		last := s.o.lastLine(e.val, pad)
		s.insert(last, strings.Repeat(" ", e.val.Column-1)+"- "+CheckName)
		return nil
	}
	return s.addFlowCheck(e.val)
}

// afterKey inserts lines as the next key of mapping m after its i-th.
func (s *gateSplicer) afterKey(m *yaml.Node, i int, lines []string) {
	depth := m.Column // deeper than the key: belongs to its value
	if i == len(m.Content)/2-1 {
		depth-- // nothing follows, so a comment at the key's column closes this mapping
	}
	s.insert(s.o.trailing(s.o.lastLine(m.Content[2*i+1], m.Column-1), depth), lines...)
}

func keyIndex(m *yaml.Node, key string) int {
	for i := 0; m != nil && i < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return i / 2
		}
	}
	return -1
}
