package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
)

const leftoversHelp = `--leftovers lists what perfsweep made in the cluster and is still there: deployments,
Jobs, volumes, Secrets and Leases with its labels, by run, with whether that run is
alive (it renews a Lease). --clean removes what ended runs left, but not what --keep
left; --clean=RUN removes all that is of that run, alive or kept. Nothing without the
labels is touched, whatever its name.`

// leftoverFlags turn discover to what runs of this program have left.
type leftoverFlags struct {
	list  bool
	clean string
}

// cleanEnded is --clean without the name of a run.
const cleanEnded = "ended"

func (l *leftoverFlags) bind(f *pflag.FlagSet) {
	f.BoolVar(&l.list, "leftovers", false, "list what perfsweep made in the cluster and is still there")
	f.StringVar(&l.clean, "clean", "", "with --leftovers: remove what ended runs left, or with --clean=RUN all of that run")
	f.Lookup("clean").NoOptDefVal = cleanEnded
}

func (l *leftoverFlags) asked() bool { return l.list || l.clean != "" }

// leftoverView is a leftover as JSON has it.
type leftoverView struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Run       string `json:"run"`
	Host      string `json:"host,omitempty"`
	Started   string `json:"started,omitempty"`
	Alive     bool   `json:"alive"`
	Kept      bool   `json:"kept"`
	Removed   bool   `json:"removed"`
}

type leftoversDoc struct {
	SchemaVersion int            `json:"schema_version"`
	Leftovers     []leftoverView `json:"leftovers"`
}

// runLeftovers lists, and removes where that was asked for.
func (a *app) runLeftovers(ctx context.Context, f *discoverFlags) error {
	l := f.leftovers
	if !l.list {
		return badInputf("--clean goes with --leftovers, which shows what there is")
	}
	if a.output == "csv" {
		return badInputf("--leftovers has no CSV form; use -o text or -o json")
	}
	client, err := f.open()
	if err != nil {
		return err
	}
	namespace := f.namespace
	if namespace == "" && !f.all {
		namespace = client.Namespace()
	}
	found, notes, err := client.Leftovers(ctx, namespace)
	if err != nil {
		return kubeError(err)
	}
	for _, n := range notes {
		a.say("note: not looked at: %s", n)
	}
	var removed []kube.Leftover
	var failed error
	if l.clean != "" {
		run := l.clean
		if run == cleanEnded {
			run = ""
		}
		removed, failed = client.Clean(ctx, found, run)
	}
	if err := a.printLeftovers(found, removed); err != nil {
		return err
	}
	return kubeError(failed)
}

func (a *app) printLeftovers(found, removed []kube.Leftover) error {
	gone := func(l kube.Leftover) bool {
		return slices.ContainsFunc(removed, func(r kube.Leftover) bool { return r.UID == l.UID })
	}
	if a.output == "json" {
		views := []leftoverView{}
		for _, l := range found {
			v := leftoverView{Kind: l.Kind, Namespace: l.Namespace, Name: l.Name, Run: l.Run, Host: l.Host, Alive: l.Alive, Kept: l.Kept, Removed: gone(l)}
			if !l.Started.IsZero() {
				v.Started = l.Started.UTC().Format(time.RFC3339)
			}
			views = append(views, v)
		}
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(leftoversDoc{1, views})
	}
	var out strings.Builder
	for _, l := range found {
		line := l.Describe(time.Now())
		if gone(l) {
			line += ", removed"
		}
		out.WriteString(line + "\n")
	}
	if len(found) == 0 {
		out.WriteString("nothing is left of perfsweep\n")
	}
	_, err := fmt.Fprint(a.out, out.String())
	return err
}
