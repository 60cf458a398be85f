package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/campaignfile"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
)

const configLong = `A campaign file keeps the flags of a campaign, so that eight clusters are eight
names and not eight command lines:

  defaults:                     # of every target
    workload: aicr
    floor-profile: portable
  targets:
    gb300-eks:                  # perfsweep calibrate --name gb300-eks
      target: k8s:inference/qwen
      context: gb300-eks        # of the kubeconfig
      overlay: overlays/gb300-eks-ubuntu-inference-dynamo.yaml
      label: {image: "sha256:0123…"}
      calibrate:                # of this command alone
        journal: journals/gb300-eks.jsonl
        anchor: [journals/gb300-gke.jsonl]
      check:
        baseline: journals/gb300-eks.jsonl
        history: history/gb300-eks.jsonl

Keys are the names of the flags of sweep, calibrate and check, values what the
flags take; flags that may be given several times take a list. The command line
wins over the file, a target over the defaults and a command's own keys over those
of all, each key as a whole; but what is written as label: {key: value} adds up
within the file. Paths are relative to the file. calibrate --from, --approve and
--reconfirm leave aside what they do not take, such as the target. An unknown key,
one that stands twice and a value that the flag does not take end with 2 and the
line and column. Keys of an API never stand there (api-key-env, api-key-file), nor does
what runs a command (--bridge), changes files, waives a gate or is about one run
(--write, --allow-simulated).
The journal's header keeps the file's hash and the flags that held.

The file is perfsweep.yaml in the working directory, or --config FILE. sweep,
calibrate and check read it only with --name or --config, and say so on stderr.`

// configCmd shows what a command would be run with. Each of its commands is the
// one that it shows, with the same flags, and does nothing.
func (a *app) configCmd() *cobra.Command {
	c := a.showing(takesConfig(a.calibrateCmd()))
	c.Use = "config [sweep|calibrate|check] [--name NAME] [FLAGS]"
	c.Short = "Show what a campaign file, the flags and the defaults make together"
	c.Long = `config prints the flags that calibrate, or sweep or check, would be run with, and
where each comes from: the command line, the campaign file with line and column,
or the default. It refuses what the command would refuse before it opens anything,
measures nothing and connects to nothing. -o json has all of it; -o yaml is a
campaign file that makes the same.

` + configLong
	c.Example = "  perfsweep config --name gb300-eks\n  perfsweep config check --config perfsweep.yaml --name gb300-eks -o json"
	for _, shown := range []*cobra.Command{a.sweepCmd(), a.calibrateCmd(), a.checkCmd()} {
		name := shown.Name()
		s := a.showing(takesConfig(shown))
		s.Short = "Show what " + name + " would be run with"
		s.Long = s.Short + ", and where each flag comes from; see \"perfsweep config --help\"."
		s.Example = "  perfsweep config " + name + " --name gb300-eks"
		c.AddCommand(s)
	}
	return c
}

// showing makes a command show its flags instead of doing what they say.
func (a *app) showing(c *cobra.Command) *cobra.Command {
	judge := c.RunE
	c.Annotations[shownCommand] = "true"
	c.RunE = func(c *cobra.Command, args []string) error {
		a.flagsOnly = true
		if err := judge(c, args); err != nil {
			return err
		}
		return a.printConfig(c)
	}
	return c
}

// shownCommand marks a command that shows its flags.
const shownCommand = "shows-config"

func showsConfig(c *cobra.Command) bool { return c.Annotations[shownCommand] != "" }

func (a *app) printConfig(c *cobra.Command) error {
	e := a.effective(c)
	switch a.output {
	case "json":
		return report.ConfigJSON(a.out, e)
	case "yaml":
		return a.printCampaignFile(c, e)
	case "csv":
		return badInputf("config has no CSV form; use -o text, -o json or -o yaml")
	}
	return report.ConfigText(a.out, e)
}

// effective is every flag of a command with what it is and why.
func (a *app) effective(c *cobra.Command) report.Config {
	e := report.Config{Command: c.Annotations[campaignCommand]}
	if a.config != nil {
		e.File, e.SHA256, e.Target = a.config.file, a.config.sha256, a.config.target
	}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "config" || f.Name == "name" {
			return
		}
		s := report.Setting{Flag: f.Name, Values: shownValues(f), List: isList(f), Type: f.Value.Type(), From: "default"}
		switch {
		case a.config != nil && a.config.from[f.Name] != "":
			s.From = a.config.from[f.Name]
		case f.Changed:
			s.From = "--" + f.Name
		}
		e.Settings = append(e.Settings, s)
	})
	return e
}

// printCampaignFile writes the flags that differ from the defaults as a file that
// lies where the command was given.
func (a *app) printCampaignFile(c *cobra.Command, e report.Config) error {
	target := campaignfile.Target{Name: e.Target}
	if target.Name == "" {
		target.Name = "target"
	}
	remarks := []string{"perfsweep " + e.Command + " --name " + target.Name}
	for _, s := range e.Settings {
		switch why, no := notInConfig()[s.Flag]; {
		case s.From == "default":
		case slices.ContainsFunc(s.Values, isRedacted):
			remarks = append(remarks, "not here: --"+s.Flag+", as a login or a key may stand in it")
		case no:
			remarks = append(remarks, "not here: --"+s.Flag+", as "+why)
		default:
			target.Values = append(target.Values, campaignfile.Value{Key: s.Flag, Items: s.Values, Listed: s.List})
		}
	}
	file := &campaignfile.File{Name: campaignFileName, Targets: []campaignfile.Target{target}}
	text, err := file.Encode(remarks...)
	if err != nil {
		return err
	}
	if _, err := campaignfile.Parse(file.Name, text, configSchema(c.Root())); err != nil {
		return badInputf("this cannot be said in a campaign file: %w", err)
	}
	_, err = a.out.Write(text)
	return err
}

// besideConfig is a path of a campaign file in folder, as it is from here.
func besideConfig(folder, flag, path string) string {
	if filepath.IsAbs(path) || flag == "workload" && !strings.HasSuffix(path, ".jsonl") {
		return path
	}
	return filepath.Join(folder, path)
}
