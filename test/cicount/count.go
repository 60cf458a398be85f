package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Tally counts results.
type Tally struct{ Passed, Failed, Skipped int }

// Green reports whether something ran and all of it passed.
func (t Tally) Green() bool { return t.Passed > 0 && t.Failed == 0 && t.Skipped == 0 }

// event is a line of go test -json, see go doc test2json; the build events
// came with Go 1.24.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build events
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// pkg is what is known of one package so far.
type pkg struct {
	tally  Tally
	output map[string]*strings.Builder // by test; "" is the package's own
	order  []string                    // tests in the order of their first line
	open   map[string]bool             // tests that have started and not ended
	failed map[string]bool             // tests that have failed
}

// counter turns events into lines for a human and a tally.
type counter struct {
	w      io.Writer
	total  Tally
	pkgs   map[string]*pkg
	builds map[string]*strings.Builder // compiler output by import path
}

// Count reads a stream of go test -json and writes its account to w.
func Count(r io.Reader, w io.Writer) (Tally, error) {
	c := counter{w: w, pkgs: map[string]*pkg{}, builds: map[string]*strings.Builder{}}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			if err := c.line(line); err != nil {
				return c.total, err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return c.total, fmt.Errorf("read go test -json: %w", err)
		}
	}
	return c.total, c.end()
}

// line handles one line. What is not an event is shown as it is: go test
// prints its own errors, such as an unknown package, in plain text.
func (c *counter) line(line string) error {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		_, err := io.WriteString(c.w, line)
		return err
	}
	if strings.HasPrefix(e.Action, "build-") {
		b := c.builds[e.ImportPath]
		if b == nil {
			b = new(strings.Builder)
			c.builds[e.ImportPath] = b
		}
		b.WriteString(e.Output)
		return nil
	}
	p := c.pkgs[e.Package]
	if p == nil {
		p = &pkg{output: map[string]*strings.Builder{}, open: map[string]bool{}, failed: map[string]bool{}}
		c.pkgs[e.Package] = p
	}
	p.add(e)
	if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
		return c.close(e, p)
	}
	return nil
}

// add records an event of a package.
func (p *pkg) add(e event) {
	if e.Output != "" {
		b := p.output[e.Test]
		if b == nil {
			b = new(strings.Builder)
			p.output[e.Test] = b
			p.order = append(p.order, e.Test)
		}
		b.WriteString(e.Output)
	}
	if e.Test == "" {
		return
	}
	switch e.Action {
	case "run":
		p.open[e.Test] = true
		return
	case "pass":
		p.tally.Passed++
	case "fail":
		p.tally.Failed++
		p.failed[e.Test] = true
	case "skip":
		p.tally.Skipped++
	default:
		return
	}
	delete(p.open, e.Test)
}
