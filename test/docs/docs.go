// Package docs finds the commands in the pages of this repository, so that tests
// can run them. It runs nothing itself.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Class says who executes a block of commands.
type Class string

// The classes. A page says a block's in a comment above it: <!-- run: CLASS -->.
const (
	// Offline blocks measure nothing; make test runs them and compares every byte.
	Offline Class = "offline"
	// Simulator blocks are run by make test in virtual time. Their servers are
	// simulators, and what they print is compared by Shape.
	Simulator Class = "simulator"
	// Dynamo blocks are run by the suite dynamo against a real frontend.
	Dynamo Class = "dynamo"
	// Cluster blocks need a cluster, or another program. make test parses each
	// command completely: flags, arguments, and that the files it names exist.
	// Indented lines of commands are of this class too, and the examples of the
	// generated reference, which stand in blocks of plain text.
	Cluster Class = "cluster"
)

// usual is the class of a page's blocks that have no comment above them.
var usual = map[string]Class{"README.md": Offline}

// classes are all of them.
var classes = [...]Class{Offline, Simulator, Dynamo, Cluster}

// Page is one page of documentation.
type Page struct {
	File   string // below the root, with slashes
	Blocks []Block
	// Spans are the pieces of inline code outside blocks.
	Spans []Span
	// Servers are the simulators behind the addresses of the page, as comments
	// say: <!-- serve: http://HOST:PORT PRESET[?key=value&…] -->.
	Servers map[string]string
	// Files are what the page shows and its commands read, by name, as the comment
	// above a block says: <!-- file: NAME -->.
	Files map[string]string
}

// Block is a fenced block of commands.
type Block struct {
	Line     int // of the fence
	Class    Class
	Commands []Command
}

// Command is what stands behind a prompt, continued lines joined, and what the
// page says that it prints.
type Command struct {
	Line int
	Text string
	Want []string
}

// Span is a piece of inline code.
type Span struct {
	Line int
	Text string
}

// Files lists the pages of the repository at root.
func Files(root string) ([]string, error) {
	files := []string{"README.md", "deploy/README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			rel, err := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	return files, err
}

// Pages reads all pages of the repository at root. A block of commands without a
// class is an error, so that none goes unexecuted.
func Pages(root string) ([]Page, error) {
	files, err := Files(root)
	if err != nil {
		return nil, fmt.Errorf("looking for pages: %w", err)
	}
	var out []Page
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f)))
		if err != nil {
			return nil, fmt.Errorf("reading a page: %w", err)
		}
		p, err := Parse(f, string(b))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

var (
	comment = regexp.MustCompile(`^<!-- (run|serve|file): (.*) -->$`)
	span    = regexp.MustCompile("`([^`]+)`")
	// indented is a line of code that is a command.
	indented = regexp.MustCompile(`^ {4}(?:\$ )?((?:perfsweep|make|podman|docker|kubectl|cp|curl|git|go|python3?|pip) .*)$`)
)

// commandBlocks are the languages of fences that hold commands.
var commandBlocks = [...]string{"console", "sh", "bash", "shell"}

// Parse reads a page.
func Parse(file, text string) (Page, error) {
	p := Page{File: file, Servers: map[string]string{}, Files: map[string]string{}}
	var class Class
	var shown string // the file that the next block shows
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, at := lines[i], i+1
		if m := comment.FindStringSubmatch(line); m != nil {
			switch m[1] {
			case "serve":
				url, preset, _ := strings.Cut(m[2], " ")
				p.Servers[url] = preset
				continue
			case "file":
				shown = m[2]
				continue
			}
			if class = Class(m[2]); !slices.Contains(classes[:], class) {
				return p, fmt.Errorf("%s:%d: there is no class %q; use one of %q", file, at, class, classes)
			}
			continue
		}
		lang, fence := strings.CutPrefix(strings.TrimLeft(line, " "), "```")
		if shown != "" && !fence {
			return p, fmt.Errorf("%s:%d: the block that shows %s must follow its comment", file, at, shown)
		}
		switch {
		case fence:
			end := i + 1
			for end < len(lines) && !strings.HasPrefix(strings.TrimLeft(lines[end], " "), "```") {
				end++
			}
			if end == len(lines) {
				return p, fmt.Errorf("%s:%d: the block has no end", file, at)
			}
			if shown != "" {
				p.Files[shown], shown = strings.Join(lines[i+1:end], "\n")+"\n", ""
			}
			if slices.Contains(commandBlocks[:], lang) {
				if class == "" {
					class = usual[file]
				}
				if class == "" {
					return p, fmt.Errorf("%s:%d: nobody executes these commands: write <!-- run: CLASS --> above them, one of %q", file, at, classes)
				}
				b := Block{Line: at, Class: class, Commands: commands(lines[i+1:end], at+1)}
				if len(b.Commands) == 0 {
					return p, fmt.Errorf("%s:%d: the block has no line that begins with \"$ \"", file, at)
				}
				p.Blocks = append(p.Blocks, b)
			}
			if lang == "text" { // examples of the generated reference
				if all := commands(prompted(lines[i+1:end]), at+1); len(all) > 0 {
					p.Blocks = append(p.Blocks, Block{Line: at, Class: Cluster, Commands: all})
				}
			}
			i = end
		case indented.MatchString(line):
			text, _, _ := strings.Cut(indented.FindStringSubmatch(line)[1], " # ")
			for c := range strings.SplitSeq(text, " && ") {
				p.Blocks = append(p.Blocks, Block{Line: at, Class: Cluster, Commands: []Command{{Line: at, Text: strings.TrimSpace(c)}}})
			}
		default:
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				p.Spans = append(p.Spans, Span{at, m[1]})
			}
		}
		class = ""
	}
	return p, nil
}

// prompted puts a prompt before the lines that are commands and no usage, which
// has brackets.
func prompted(lines []string) []string {
	lines = slices.Clone(lines)
	for i, l := range lines {
		if strings.HasPrefix(l, "perfsweep ") && !strings.Contains(l, "[") {
			lines[i] = "$ " + l
		}
	}
	return lines
}

// commands are the commands of a block whose first line has the number at.
func commands(lines []string, at int) []Command {
	var out []Command
	for i := 0; i < len(lines); i++ {
		text, ok := strings.CutPrefix(lines[i], "$ ")
		switch {
		case ok:
			c := Command{Line: at + i, Text: text}
			for strings.HasSuffix(c.Text, `\`) && i+1 < len(lines) {
				i++
				c.Text = strings.TrimSuffix(c.Text, `\`) + strings.TrimLeft(lines[i], " ")
			}
			out = append(out, c)
		case len(out) > 0:
			out[len(out)-1].Want = append(out[len(out)-1].Want, lines[i])
		}
	}
	return out
}
