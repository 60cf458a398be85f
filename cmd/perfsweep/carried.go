package main

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// carried is what a bundle holds, read.
type carried struct {
	path   string
	record keptRecord
	curve  sweep.Curve
	hash   string // of the journal
	others [2][]calibrate.AnchorJournal
}

// partError says which part of a bundle cannot be read.
type partError struct {
	part string
	err  error
}

func unpackCarried(path string, b *bundle.Bundle) (c carried, _ *partError) {
	c.path = path
	var err error
	if c.record, err = recordIn(b); err != nil {
		return c, &partError{bundle.Proposal, loadgen.PlainJSON(err)}
	}
	text := b.Part(bundle.Journal)
	if c.curve, err = judgedJournal(bundle.Journal, text); err != nil {
		return c, &partError{bundle.Journal, err}
	}
	c.hash = hexSHA256(text)
	for k, kind := range bundledJournals() {
		for _, p := range b.Journals(kind) {
			curve, err := sweep.ParseJournal(p.Name, p.Content)
			if err != nil {
				return c, &partError{p.Name, err}
			}
			a := calibrate.AnchorJournal{Curve: curve}
			a.SHA256 = hexSHA256(p.Content)
			c.others[k] = append(c.others[k], a)
		}
		// Their names are those that the proposal has.
		for i, named := range c.named(k) {
			if i < len(c.others[k]) {
				c.others[k][i].Name = named.Name
			}
		}
	}
	return c, nil
}

func (c carried) named(kind int) []calibrate.Source {
	return [2][]calibrate.Source{c.record.Asked.Anchors, c.record.Asked.Scaling}[kind]
}

// policy is the one that was asked for.
func (c carried) policy() calibrate.Policy {
	p := c.record.Asked.Policy(c.others[0], c.others[1])
	p.Journal.SHA256 = c.hash
	return p
}

func hexSHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
