package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/campaignfile"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

func (a *app) recipesCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "recipes",
		Short: "Look after many overlays at once",
		Long: `recipes looks after a folder of overlays: which gates can still be relied on,
and whether their numbers follow from what was measured.`,
		Example: "  perfsweep recipes status --image sha256:0123… recipes/overlays",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.recipesStatusCmd(), a.recipesVerifyCmd())
	return c
}

// maxOverlays bounds a folder: AICR has some hundred files.
const maxOverlays = 10_000

func (a *app) recipesStatusCmd() *cobra.Command {
	var image, data string
	var days int
	c := &cobra.Command{
		Use:   "status [--image DIGEST] [DIR]",
		Short: "List overlays as current, stale, provisional, disabled or without evidence",
		Long: `status reads every overlay in DIR (recipes/overlays) with its chain and its sidecar
and says how far its performance gate can be relied on:

  current      the sidecar's measurement supports it
  stale        another model, load, router or image was measured, or long ago
               (--max-age), or the gate was edited, or a write was interrupted
  provisional  its text says that the values were not calibrated
  no_evidence  no sidecar says what was measured
  disabled     AICR does not run the check
  invalid      lint finds an error; it is told

With --image every gate that was measured with another runtime image, or with one
that was not stated, is stale: that is the list of what an image bump has to
measure again. Give the digest: a tag can move.

With --data FOLDER the overlays there, which calibrate --data wrote, replace those
of the same name in DIR, and chains are resolved across both. A campaign file that lies beside the overlays is left out, with a line.

It ends with 9 where a gate is stale, with 2 where an overlay is invalid, else
with 0.`,
		Example: "  perfsweep recipes status --image sha256:0123456789abcdef… recipes/overlays",
		Args:    atMostOne("one DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			age, err := maxAge(days)
			if err != nil {
				return err
			}
			dir := filepath.Join("recipes", "overlays")
			if len(args) > 0 {
				dir = args[0]
			}
			list, err := a.statusOf(dir, data, image, age)
			if err != nil {
				return err
			}
			if err := report.Statuses(a.out, a.output, image, list); err != nil {
				return err
			}
			return statusVerdict(list)
		},
	}
	c.Flags().StringVar(&image, "image", "", "runtime image that the gates are to hold for: its digest, reference or tag")
	c.Flags().StringVar(&data, "data", "", dataUsage)
	c.Flags().IntVar(&days, "max-age", 180, "days after which a recorded measurement is stale; 0 never")
	return c
}

// overlaysIn lists the overlays of a folder by the names of their files, in order.
func overlaysIn(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, badInputf("reading the overlays: %w; name their folder", err)
	}
	if len(entries) > maxOverlays {
		return nil, badInputf("%s holds %s, too many for a folder of overlays", dir, plural.Of(len(entries), "file"))
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// overlayFiles are the overlays of a folder, with those of a data folder over them. A
// campaign file that lies beside them is none, and is said to be left out.
func (a *app) overlayFiles(dir, data string) ([]string, error) {
	names, err := overlaysIn(dir)
	if err != nil {
		return nil, err
	}
	folder := map[string]string{}
	for _, n := range names {
		folder[n] = dir
	}
	if data != "" {
		over := filepath.Join(data, overlaysFolder)
		if names, err = overlaysIn(over); err != nil {
			return nil, err
		}
		for _, n := range names {
			folder[n] = over
		}
	}
	var files []string
	for _, n := range slices.Sorted(maps.Keys(folder)) {
		file := filepath.Join(folder[n], n)
		if src, err := readOverlay(file); err == nil && campaignfile.LooksLike(src) { // else what is wrong with it is told later
			a.say("note: %s is a campaign file and no overlay: it is left out", file)
			continue
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, badInputf("%s holds no .yaml file that is an overlay; name a folder of overlays", dir)
	}
	return files, nil
}

// statusOf judges the overlays of a folder.
func (a *app) statusOf(dir, data, image string, maxAge time.Duration) ([]calibrate.Status, error) {
	files, err := a.overlayFiles(dir, data)
	if err != nil {
		return nil, err
	}
	var out []calibrate.Status
	f := lintFlags{data: data}
	if data != "" {
		if f.recipes, err = recipeFolder("", filepath.Join(dir, "x.yaml")); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		s := calibrate.SidecarLint{File: file}
		s.Options = recipes.Options{Today: time.Now(), MaxAge: maxAge}
		var found []recipes.Finding
		if s.Source, err = readOverlay(s.File); err == nil {
			found, err = f.lintFile(&s)
		}
		if err != nil { // of this file: the others are listed all the same
			found = append(found, recipes.Finding{File: s.File, Severity: recipes.SeverityError, Message: err.Error()})
		}
		out = append(out, calibrate.StatusOf(s, found, image))
	}
	return out, nil
}

func statusVerdict(list []calibrate.Status) error {
	worst := error(nil)
	for _, s := range list {
		switch s.State {
		case calibrate.StatusInvalid:
			return verdict{exitInput}
		case calibrate.StatusStale:
			worst = verdict{exitInconclusive}
		}
	}
	return worst
}
