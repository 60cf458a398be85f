package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/campaignfile"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// campaignFileName is where a campaign file is looked for.
const campaignFileName = "perfsweep.yaml"

const configHelp = `--name NAME takes the flags of that target from perfsweep.yaml, or from --config
FILE; see "perfsweep config". Without either no file is read, so that a command
line means the same in every folder.`

// campaignCommand marks the commands that take a campaign file with the section
// of theirs in it.
const campaignCommand = "campaign-file-section"

// takesConfig lets a command take its flags from a campaign file.
func takesConfig(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{campaignCommand: c.Name()}
	c.Flags().String("config", campaignFileName, "campaign file: what flags leave open is taken from it, by the names of flags; read only if this flag or --name is given")
	c.Flags().String("name", "", "target of the campaign file")
	return c
}

// usedConfig is the campaign file of a command.
type usedConfig struct {
	file, sha256, target string
	// from is where each flag that the file sets stands there.
	from map[string]string
	// record is what the journal keeps.
	record *sweep.Configuration
}

const aboutOneRun = "this is about one run of a command, not about the campaign; give it on the command line"

// notInConfig are the flags that no campaign file may hold: what may be secret,
// what changes files or waives a gate, and what is about one run of a command.
func notInConfig() map[string]string {
	const noKeys = "a campaign file is kept and shared, so it holds no keys; name a variable with api-key-env or a file with api-key-file"
	const runsCommand = "it runs a command, and a campaign file comes from others; give it on the command line"
	out := map[string]string{
		"header": "a header may be a key, and a campaign file is kept and shared; give --header on the command line",
		"bridge": runsCommand, "bridge-pairs": runsCommand,
		"api-key": noKeys, "api_key": noKeys, "token": noKeys, "password": noKeys,
	}
	for _, f := range []string{
		"write", "resume", "approve", "by", "why", "plan", "explain", "window", "reconfirm", "replay", "allow-simulated", "accept-deployment-diff",
		"output", "quiet", "exit-codes", "config", "name", "help",
	} {
		out[f] = aboutOneRun
	}
	return out
}

// pathFlags name files and folders: in a campaign file they are relative to it.
func pathFlags() []string {
	return []string{
		"overlay", "journal", "ab-journal", "anchor", "scaling", "baseline", "sidecar", "approvals", "bundle", "from", "sign-key", "recipes", "data", "deployment-spec", "deploy-file",
		"ca-file", "cert-file", "key-file", "api-key-file", "unix-socket", "kubeconfig", "ctrf", "junit", "history", "workload",
	}
}

// configSchema is made of the flags, so that the file can hold what they can.
func configSchema(root *cobra.Command) campaignfile.Schema {
	s := campaignfile.Schema{Commands: map[string]map[string]campaignfile.Kind{}, Refused: notInConfig()}
	for _, c := range root.Commands() {
		section := c.Annotations[campaignCommand]
		if section == "" || section != c.Name() {
			continue
		}
		keys := map[string]campaignfile.Kind{}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if _, no := s.Refused[f.Name]; !no && !f.Hidden {
				keys[f.Name] = kindOf(f)
			}
		})
		s.Commands[section] = keys
	}
	return s
}

func kindOf(f *pflag.Flag) campaignfile.Kind {
	switch {
	case slices.Contains([]string{"label", "ab-label", "load-node-selector"}, f.Name):
		return campaignfile.Pairs
	case isList(f):
		return campaignfile.List
	}
	return campaignfile.Scalar
}

func isList(f *pflag.Flag) bool { _, list := f.Value.(pflag.SliceValue); return list }

// useConfig sets the flags that the command line leaves open from the campaign
// file, if one is asked for. config looks for it without being asked.
func (a *app) useConfig(c *cobra.Command) error {
	section, fl, always := c.Annotations[campaignCommand], c.Flags(), showsConfig(c)
	if section == "" || !fl.Changed("config") && !fl.Changed("name") && !always {
		return nil
	}
	path, _ := fl.GetString("config")
	name, _ := fl.GetString("name")
	if _, err := os.Stat(path); always && !fl.Changed("config") && !fl.Changed("name") && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	src, err := readConfig(path)
	if err != nil {
		return err
	}
	file, err := campaignfile.Parse(path, src, configSchema(c.Root()))
	if err != nil {
		return err
	}
	t, err := file.Pick(name)
	if err != nil {
		return badInput(err)
	}
	sum := sha256.Sum256(src)
	a.config = &usedConfig{file: path, sha256: hex.EncodeToString(sum[:]), from: map[string]string{}}
	if t != nil {
		a.config.target = t.Name
	}
	by, aside := setAside(fl)
	var left []string
	for _, v := range file.Effective(t, section) {
		f := fl.Lookup(v.Key)
		if f == nil || f.Changed { // another command's, or the command line's
			continue
		}
		if slices.Contains(aside, v.Key) {
			left = append(left, v.Key)
			continue
		}
		if err := setFlag(fl, f, v, filepath.Dir(path)); err != nil {
			if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
				err = valueError(wrong)
			}
			return &recipes.PosError{File: path, Line: v.Line, Col: v.Col, Msg: fmt.Sprintf("%s: %v", v.Key, err)}
		}
		a.config.from[v.Key] = fmt.Sprintf("%s:%d:%d", path, v.Line, v.Col)
	}
	a.config.record = a.config.recorded(fl)
	a.say("%s: %s", path, a.config.summary())
	if len(left) > 0 {
		a.say("%s: --%s leaves aside %s", path, by, strings.Join(left, ", "))
	}
	return nil
}

func (u *usedConfig) summary() string {
	from := "of its defaults"
	if u.target != "" {
		from = "of target " + u.target
	}
	if len(u.from) == 0 {
		return "no flags are taken " + strings.TrimPrefix(from, "of ")
	}
	return fmt.Sprintf("%s %s: %s", plural.Of(len(u.from), "flag"), from, strings.Join(slices.Sorted(maps.Keys(u.from)), ", "))
}

func readConfig(path string) ([]byte, error) {
	info, err := regularFile(path)
	if err != nil {
		return nil, fmt.Errorf("campaign file: %w; name it with --config", err)
	}
	if info.Size() > campaignfile.MaxBytes {
		return nil, badInputf("%s: %d bytes is too large for a campaign file", path, info.Size())
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the campaign file: %w", err)
	}
	return src, nil
}

// setFlag gives a flag what stands in a file in folder, as if it were given on
// the command line: the flag's own rules decide.
func setFlag(fl *pflag.FlagSet, f *pflag.Flag, v campaignfile.Value, folder string) error {
	for _, item := range v.Items {
		if slices.Contains(pathFlags(), f.Name) {
			item = besideConfig(folder, f.Name, item)
		}
		if err := fl.Set(f.Name, item); err != nil {
			return err
		}
	}
	return nil
}

// kept is what a journal keeps, nil without a campaign file.
func (u *usedConfig) kept() *sweep.Configuration {
	if u == nil {
		return nil
	}
	return u.record
}

// recorded are the flags that were set, wherever, but for what may be secret and
// what the fingerprint has: a simulator hides there how it is sick.
func (u *usedConfig) recorded(fl *pflag.FlagSet) *sweep.Configuration {
	out := &sweep.Configuration{File: filepath.Base(u.file), SHA256: u.sha256, Target: u.target, Flags: map[string][]string{}}
	fl.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"target", "ab", "header", "config", "name"}, f.Name) {
			out.Flags[f.Name] = shownValues(f)
		}
	})
	return out
}

// shownValues are the values of a flag without what may be secret in them.
func shownValues(f *pflag.Flag) []string {
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = slices.Clone(list.GetSlice())
	}
	for i, v := range values {
		field, _, _ := strings.Cut(v, "=")
		switch name, _, ok := strings.Cut(v, ":"); {
		case f.Name == "body-field" && slices.Contains(keyFields(), strings.ToLower(field)):
			values[i] = field + "=" + notShown
		case f.Name == "header" && ok:
			values[i] = name + ": " + notShown
		case f.Name == "header":
			values[i] = notShown
		case f.Name == "bridge":
			values[i] = shownBridge(v)
		case f.Name == "api-key-env":
			values[i] = shownVariable(v)
		case strings.Contains(v, "://"):
			values[i] = shownURL(v)
		case f.Name == "target" || f.Name == "ab" || f.Name == "metrics": // a URL that is misspelt
			values[i] = redactURL(v)
		}
	}
	return values
}

var namedFlag = regexp.MustCompile(`--([a-z0-9][-a-z0-9]*)`)

// placed puts the position before an error that begins with a flag of the
// campaign file: the rules are the flags', and so are the words.
func (a *app) placed(err error) error {
	var ce *codeError
	if a.config == nil || !errors.As(err, &ce) || ce.code != exitInput {
		return err
	}
	if m := namedFlag.FindStringSubmatch(err.Error()); m != nil && a.config.from[m[1]] != "" {
		return fmt.Errorf("%s: %w", a.config.from[m[1]], err)
	}
	return err
}
