package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// close prints and counts a package that has ended with e.
func (c *counter) close(e event, p *pkg) error {
	delete(c.pkgs, e.Package)
	if e.Action == "fail" && p.tally.Failed == 0 {
		p.tally.Failed++
	}
	c.total.Passed += p.tally.Passed
	c.total.Failed += p.tally.Failed
	c.total.Skipped += p.tally.Skipped

	t := p.tally
	if e.Action != "fail" && t == (Tally{}) { // no test files, or none that -run selects
		return nil
	}
	mark := "ok  "
	if e.Action == "fail" || t.Failed > 0 || t.Skipped > 0 {
		mark = "FAIL"
	}
	if _, err := fmt.Fprintf(c.w, "%s %s  %d passed, %d failed, %d skipped  %.1fs\n",
		mark, e.Package, t.Passed, t.Failed, t.Skipped, e.Elapsed); err != nil {
		return err
	}
	if mark == "ok  " {
		return nil
	}
	if b := c.builds[e.FailedBuild]; b != nil {
		if _, err := io.WriteString(c.w, indent(b.String())); err != nil {
			return err
		}
	}
	for _, name := range p.order {
		if !p.tells(name, e.Action) {
			continue
		}
		if _, err := io.WriteString(c.w, indent(p.output[name].String())); err != nil {
			return err
		}
	}
	return nil
}

// tells reports whether a test's output explains why its package is not ok:
// it failed, it was still running when the package ended, or it was skipped.
// The package's own output, such as a panic's, is shown when the package failed.
func (p *pkg) tells(name, action string) bool {
	if name == "" {
		return action == "fail"
	}
	return p.failed[name] || p.open[name] || strings.Contains(p.output[name].String(), "--- SKIP: ")
}

// end counts packages whose stream broke off: go test was killed.
func (c *counter) end() error {
	var left []string
	for name := range c.pkgs {
		left = append(left, name)
	}
	slices.Sort(left)
	for _, name := range left {
		p := c.pkgs[name]
		p.add(event{Output: "the stream broke off before this package ended\n"})
		if err := c.close(event{Action: "fail", Package: name}, p); err != nil {
			return err
		}
	}
	return nil
}

// indent sets text off from the package lines.
func indent(s string) string {
	s = strings.TrimSuffix(s, "\n")
	if s == "" {
		return ""
	}
	return "     " + strings.ReplaceAll(s, "\n", "\n     ") + "\n"
}
