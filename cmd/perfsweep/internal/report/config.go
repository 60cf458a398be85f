package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Config is what a command would be run with.
type Config struct {
	Command              string
	File, SHA256, Target string // "" without a campaign file, or a target in it
	Settings             []Setting
}

// Setting is one flag: what it is, and where that comes from (the command line,
// a place in the campaign file, or the default).
type Setting struct {
	Flag   string
	Values []string // exactly one unless List
	List   bool
	Type   string // as the flags have it
	From   string
}

type configDoc struct {
	SchemaVersion int          `json:"schema_version"`
	Command       string       `json:"command"`
	File          string       `json:"config,omitempty"`
	SHA256        string       `json:"config_sha256,omitempty"`
	Target        string       `json:"name,omitempty"`
	Settings      []settingDoc `json:"flags"`
}

type settingDoc struct {
	Flag  string `json:"flag"`
	Value any    `json:"value"`
	From  string `json:"from"`
}

// value is what JSON shows: numbers and booleans as such, lists as lists.
func (s Setting) value() any {
	one := func(v string) any {
		numeric := slices.Contains([]string{"bool", "int", "uint64", "float64", "intSlice"}, s.Type)
		if numeric && json.Valid([]byte(v)) {
			return json.RawMessage(v)
		}
		return v
	}
	if !s.List {
		return one(s.Values[0])
	}
	out := make([]any, len(s.Values))
	for i, v := range s.Values {
		out[i] = one(v)
	}
	return out
}

// text is the value on one line, "" for one that is not set.
func (s Setting) text() string {
	v := strings.Join(s.Values, "  ")
	if s.From == "default" && (v == "0" || v == "0s" || v == "false") {
		return ""
	}
	return v
}

// ConfigJSON writes every flag.
func ConfigJSON(w io.Writer, c Config) error {
	doc := configDoc{SchemaVersion: 1, Command: c.Command, File: c.File, SHA256: c.SHA256, Target: c.Target, Settings: []settingDoc{}}
	for _, s := range c.Settings {
		doc.Settings = append(doc.Settings, settingDoc{s.Flag, s.value(), s.From})
	}
	return encode(w, doc)
}

// ConfigText writes the flags that are set, then the defaults that are
// something; flags that are neither are left out.
func ConfigText(w io.Writer, c Config) error {
	title := "perfsweep " + c.Command
	switch {
	case c.File == "":
		title += ", no campaign file"
	case c.Target == "":
		title += ", defaults of " + c.File
	default:
		title += ", target " + c.Target + " of " + c.File
	}
	if _, err := fmt.Fprintln(w, title); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, isDefault := range []bool{false, true} {
		for _, s := range c.Settings {
			if (s.From == "default") == isDefault && (s.text() != "" || !isDefault) {
				_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", s.Flag, s.text(), s.From) // Flush has the error
			}
		}
	}
	return t.Flush()
}
