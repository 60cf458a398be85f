package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// offer is what a shell is told of a word that is being typed.
type offer = cobra.CompletionFunc

// complete says what the flags and arguments of a command and of those below it
// may be. A flag that takes no file is offered none: for a number that is no help.
func complete(c *cobra.Command) {
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = argumentsOf(c)
	}
	tell := func(f *pflag.Flag) {
		if o := valuesOf(f); o != nil && f.Value.Type() != "bool" {
			_ = c.RegisterFlagCompletionFunc(f.Name, o) // it fails for a flag that is not there
		}
	}
	c.Flags().VisitAll(tell)
	c.PersistentFlags().VisitAll(tell)
	for _, sub := range c.Commands() {
		complete(sub)
	}
}

// argumentsOf offers what a command is given beside its flags.
func argumentsOf(c *cobra.Command) offer {
	switch c.Name() {
	case "knee":
		return atMost(1, fileOffer(isCurve))
	case "compare", "report":
		return atMost(2, fileOffer(isCurve))
	case "lint":
		return fileOffer(isYAML)
	case "simulate":
		return atMost(1, func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return simulators("", word)
		})
	case "verify":
		if c.Parent().Name() == "recipes" {
			return atMost(1, folders)
		}
		return fileOffer(isBundle)
	case "status":
		return atMost(1, folders)
	}
	return cobra.NoFileCompletions
}

// valuesOf offers the values of a flag; nil leaves it to the shell, which offers
// files.
func valuesOf(f *pflag.Flag) offer {
	switch f.Name {
	case "target", "ab":
		return targets
	case "journal", "baseline", "anchor", "scaling", "approve":
		return fileOffer(isJournal)
	case "from":
		return fileOffer(isBundle)
	case "overlay", "deployment-spec", "deploy-file":
		return fileOffer(isYAML)
	case "recipes":
		return folders
	case "workload":
		return either([]string{"aicr\tAICR's own prompts", "synthetic\ta new prompt a request"}, isPrompts)
	case "replay":
		return either([]string{publicRecord + "\tAICR's public record"}, hasEnding(".csv"))
	case "output":
		return outputs
	case "label", "ab-label":
		return labelKeys
	case "across":
		return cobra.FixedCompletions(strings.Split(compare.AcrossNames(), ", "), cobra.ShellCompDirectiveNoFileComp)
	case "data":
		return folders
	}
	if words := wordsOf(f.Name); words != nil {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	if kind := f.Value.Type(); (kind == "string" || kind == "stringArray") && namesFile(f) {
		return nil
	}
	return cobra.NoFileCompletions
}

// namesFile reports whether a flag's help text speaks of a file.
func namesFile(f *pflag.Flag) bool {
	for _, word := range []string{"file", "FILE", "PEM", "JSON", "kubeconfig", "socket", "bundle"} {
		if strings.Contains(f.Usage, word) || strings.Contains(f.Name, word) {
			return true
		}
	}
	return false
}

// wordsOf are the values of a flag that has few.
func wordsOf(flag string) []string {
	switch flag {
	case "effort":
		return []string{"quick\tdemos and first looks", "standard", "full"}
	case "exit-codes":
		return []string{"aicr\tevery failure is 1"}
	case "floor-profile":
		return []string{"portable\tfor other clusters", "regression\tfor this one"}
	case "floor-form":
		return []string{"per-gpu", "absolute"}
	case "gate":
		return []string{"both", "ttft-only\tno floor"}
	case "endpoint":
		return []string{"chat", "completions"}
	case "transport":
		return []string{"native", "go-openai\tfor a cross-check"}
	case "chart":
		return []string{"throughput", "latency", "tradeoff", "timeline", "timelineA", "timelineB"}
	case "metrics":
		return []string{metricsOff + "\twatch nothing"}
	case "load-pods":
		return []string{"auto"}
	}
	return nil
}

// outputs are the forms of what a command prints.
func outputs(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	switch c.Name() {
	case "lint":
		return []string{"text", "json", "csv", "sarif"}, cobra.ShellCompDirectiveNoFileComp
	case "report":
		forms := []string{"html", "svg", "md", "csv", "json", "text"}
		files, how := filesLike(word, func(path string) bool { _, ok := reportForms[ending(path)]; return ok })
		return append(forms, files...), how
	}
	return []string{"text", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp
}

// labelKeys are the fields of a fingerprint that users state most.
func labelKeys(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var keys []string
	for _, k := range []string{"image", labelProduct, labelWorkers, labelFrontends, "routing_mode", labelPrecision, labelNode, "cluster", "driver"} {
		keys = append(keys, k+"=")
	}
	return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// targets offers the kinds of targets, and the simulators to the end. A cluster
// is not asked: it may take longer than a human waits at a prompt.
func targets(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	const sim = "sim:"
	if rest, ok := strings.CutPrefix(word, sim); ok {
		return simulators(sim, rest)
	}
	return []string{sim + "\ta simulator", "http://\ta server", "https://\ta server", "k8s:\ta Dynamo deployment, see discover"},
		cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// simulators offers presets, then their keys, then the values that are words.
func simulators(before, word string) ([]string, cobra.ShellCompDirective) {
	const how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	var out []string
	at := strings.LastIndexAny(word, "?&")
	if at < 0 {
		for _, p := range enginesim.PresetInfos() {
			what, _, _ := strings.Cut(p.What, ".")
			out = append(out, before+p.Name+"\t"+what)
		}
		return out, how
	}
	before += word[:at+1]
	key, _, valued := strings.Cut(word[at+1:], "=")
	for _, k := range enginesim.KeyInfos() {
		switch {
		case valued && k.Name == key && strings.Contains(k.Values, "|"):
			for v := range strings.SplitSeq(k.Values, "|") {
				out = append(out, before+key+"="+v)
			}
		case !valued && !strings.Contains(word[:at+1], k.Name+"="):
			out = append(out, before+k.Name+"=\t"+k.What+", "+k.Values)
		}
	}
	return out, how
}

func atMost(n int, o offer) offer {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return o(c, args, word)
	}
}
