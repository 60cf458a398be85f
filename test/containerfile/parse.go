// Package containerfile reads deploy/Containerfile without a container engine,
// as far as that file goes, and makes the file system of its image.
package containerfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Certificates is where a program without others finds the public authorities.
const Certificates = "/etc/ssl/certs/ca-certificates.crt"

// Image is what a container file comes to.
type Image struct {
	// Base is the image that the binary is built in, Context what is copied into
	// it.
	Base    string
	Context []string
	// Build is the command that makes Binary there, with variables.
	Build, Binary string
	// Files are those of the image, each with its source in the building stage;
	// Folders are empty ones, with their modes.
	Files   map[string]string
	Folders map[string]fs.FileMode

	UID, GID   string
	Entrypoint []string

	made map[string]fs.FileMode // folders of the building stage
	args map[string]bool        // declared in the stage
	last bool                   // the stage is the image's own
}

// Parse reads a container file of two stages: one that builds, from an image with
// Go, and the image itself, from scratch. What it does not understand is an error:
// it would not be checked.
func Parse(text string) (*Image, error) {
	m := &Image{Files: map[string]string{}, Folders: map[string]fs.FileMode{}, made: map[string]fs.FileMode{}}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := m.step(word, strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", i+1, word, err)
		}
	}
	return m, m.whole()
}

// step takes one instruction.
func (m *Image) step(word, rest string) error {
	if word != "FROM" && m.args == nil {
		return errors.New("no FROM stands before it")
	}
	switch word {
	case "FROM":
		return m.from(rest)
	case "ARG":
		for _, f := range strings.Fields(rest) {
			name, _, _ := strings.Cut(f, "=")
			m.args[name] = true
		}
		return nil
	case "WORKDIR":
		if m.last || !path.IsAbs(rest) {
			return errors.New("is the builder's, and absolute")
		}
		return nil
	case "COPY":
		return m.copy(strings.Fields(rest))
	case "RUN":
		return m.run(rest)
	case "USER":
		return m.user(rest)
	case "ENTRYPOINT":
		if err := json.Unmarshal([]byte(rest), &m.Entrypoint); err != nil || !m.last || len(m.Entrypoint) == 0 {
			return fmt.Errorf("must be the image's, a list in JSON: there is no shell in it (%v)", err)
		}
		return nil
	}
	return errors.New("is not understood")
}

func (m *Image) from(rest string) error {
	f := strings.Fields(rest)
	m.args = map[string]bool{}
	switch {
	case m.Base == "" && len(f) == 4 && f[0] == "--platform=$BUILDPLATFORM" && f[2] == "AS" && f[3] == "build":
		m.Base = f[1]
		return nil
	case m.Base != "" && !m.last && rest == "scratch":
		m.last = true
		return nil
	}
	return errors.New("must be an image on the builder's own platform AS build, then scratch")
}

func (m *Image) copy(f []string) error {
	if len(f) < 2 {
		return errors.New("has a source and a target")
	}
	if !m.last {
		m.Context = append(m.Context, f[:len(f)-1]...)
		return nil
	}
	if len(f) != 3 || f[0] != "--from=build" || !path.IsAbs(f[1]) || !path.IsAbs(f[2]) {
		return errors.New("must be --from=build, from one absolute path to another")
	}
	if from, folder := strings.CutSuffix(f[1], "/"); folder {
		return m.folders(from, f[2])
	}
	if f[1] != m.Binary && f[1] != Certificates {
		return fmt.Errorf("nothing makes %s", f[1])
	}
	m.Files[f[2]] = f[1]
	return nil
}

// folders copies what is in a folder of the builder, which is empty ones.
func (m *Image) folders(from, to string) error {
	n := len(m.Folders)
	for name, mode := range m.made {
		if rest, below := strings.CutPrefix(name, from+"/"); below {
			m.Folders[path.Join(to, rest)] = mode
		}
	}
	if len(m.Folders) == n {
		return fmt.Errorf("nothing is in %s", from)
	}
	return nil
}

var (
	mkdir    = regexp.MustCompile(`^mkdir -p -m 1777 (/\S+)$`)
	build    = regexp.MustCompile(`^CGO_ENABLED=0 GOOS=\$TARGETOS GOARCH=\$TARGETARCH go build .* -o (/\S+) \./cmd/perfsweep$`)
	variable = regexp.MustCompile(`\$\{?([A-Za-z_]+)`)
	numeric  = regexp.MustCompile(`^([1-9][0-9]*):([1-9][0-9]*)$`)
)

func (m *Image) run(command string) error {
	if m.last {
		return errors.New("there is nothing to run with in an image from scratch")
	}
	for _, v := range variable.FindAllStringSubmatch(command, -1) {
		if !m.args[v[1]] {
			return fmt.Errorf("no ARG of this stage declares %s", v[1])
		}
	}
	if d := mkdir.FindStringSubmatch(command); d != nil {
		m.made[d[1]] = 0o777 | fs.ModeSticky
		return nil
	}
	if b := build.FindStringSubmatch(command); b != nil {
		m.Build, m.Binary = command, b[1]
		return nil
	}
	if command == "go mod download" {
		return nil
	}
	return errors.New("is no command that is understood here")
}

func (m *Image) user(rest string) error {
	n := numeric.FindStringSubmatch(rest)
	if n == nil || !m.last {
		return errors.New("must be numbers, UID:GID, and not root: runAsNonRoot believes no name")
	}
	m.UID, m.GID = n[1], n[2]
	return nil
}

// whole reports what the image lacks.
func (m *Image) whole() error {
	switch {
	case !m.last:
		return errors.New("there is no image from scratch")
	case m.UID == "":
		return errors.New("the image runs as root: add USER")
	case len(m.Entrypoint) == 0 || m.Binary == "" || m.Files[m.Entrypoint[0]] != m.Binary:
		return fmt.Errorf("the entry point %q is not the binary", m.Entrypoint)
	case !slices.Contains(m.Context, "."):
		return errors.New("the sources are not copied to where they are built")
	case m.Files[Certificates] != Certificates:
		return errors.New("the certificates of the public authorities are missing at " + Certificates)
	}
	return nil
}
