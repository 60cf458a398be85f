package sweep

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Configuration is the campaign file that a campaign was begun with, and the
// flags that held then, those of the command line among them. It tells how the
// campaign was asked for; what was measured is in the fingerprint.
type Configuration struct {
	File   string              `json:"file"` // its name
	SHA256 string              `json:"sha256"`
	Target string              `json:"target,omitempty"` // its name in the file
	Flags  map[string][]string `json:"flags,omitempty"`
}

// Bounds on what a journal may tell of its configuration.
const (
	maxConfigFlags  = 500
	maxConfigValues = 2000
	maxConfigWord   = 4096
)

// lawfulConfiguration refuses what no campaign writes.
func lawfulConfiguration(c *Configuration) error {
	if c == nil {
		return nil
	}
	if len(c.SHA256) != 64 || strings.Trim(c.SHA256, "0123456789abcdef") != "" {
		return fmt.Errorf("its configuration has a SHA-256 of %.80q", c.SHA256)
	}
	if len(c.Flags) > maxConfigFlags {
		return fmt.Errorf("its configuration has %s, more than %d", plural.Of(len(c.Flags), "flag"), maxConfigFlags)
	}
	words := []string{c.File, c.Target}
	for name, values := range c.Flags {
		if name == "" || len(values) > maxConfigValues {
			return fmt.Errorf("its configuration has %s of the flag %.80q", plural.Of(len(values), "value"), name)
		}
		words = append(append(words, name), values...)
	}
	for _, w := range words {
		if len(w) > maxConfigWord {
			return fmt.Errorf("its configuration has a word of %d bytes", len(w))
		}
	}
	return nil
}
