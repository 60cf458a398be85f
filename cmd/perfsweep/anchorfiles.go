package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

// anchorFlags name what the gate C7 may rest on.
type anchorFlags struct {
	anchors   []string
	approvals string
	approve   string
	by, why   string
	public    bool
	scaling   []string
}

func (f *anchorFlags) bind(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.anchors, "anchor", nil, "journal of an approved baseline, a second node or cluster, or a device known to be good, to be held against; repeatable, each must agree")
	fl.BoolVar(&f.public, "public-anchor", false, "let the public record of this GPU and service vouch, within 25 %, labelled; for the portable profile only")
	fl.StringArrayVar(&f.scaling, "scaling", nil, "journal of the same thing on fewer GPUs: shows whether the floor per GPU holds for other sizes; repeatable")
	fl.StringVar(&f.approvals, "approvals", "", "file of approvals (default: OVERLAY.approvals.json beside the overlay)")
	fl.StringVar(&f.approve, "approve", "", "vouch for this complete journal: adds an entry to the file of approvals, measures nothing")
	fl.StringVar(&f.by, "by", "", "who approves")
	fl.StringVar(&f.why, "why", "", "on what grounds: the independent measurement that the numbers were compared with")
}

// check refuses combinations that would be ignored silently.
func (f *anchorFlags) check(changed func(string) bool) error {
	if f.approve == "" {
		for _, n := range []string{"by", "why"} {
			if changed(n) {
				return badInputf("--%s belongs to --approve JOURNAL", n)
			}
		}
		if changed("approve") {
			return badInputf("--approve needs a journal")
		}
		return nil
	}
	for _, n := range []string{"target", "journal", "resume", "write", "anchor", "scaling"} {
		if changed(n) {
			return badInputf("--approve only adds an approval: calibrate with --%s in a command of its own", n)
		}
	}
	if err := calibrate.CheckWord("--by", f.by); err != nil {
		return badInput(err)
	}
	return badInput(calibrate.CheckWord("--why", f.why))
}

// file is where the approvals of an overlay lie: beside it, so that they are
// reviewed and kept with it.
func (f *anchorFlags) file(overlay string) string {
	return approvalsFile(f.approvals, overlay)
}

func approvalsFile(flag, overlay string) string {
	if flag != "" {
		return flag
	}
	return besideReal(overlay, ".approvals.json")
}

// maxApprovals bounds the file of approvals.
const maxApprovals = 1 << 20

// read reads the approvals; none where the default file is not there.
func (f *anchorFlags) read(overlay string) ([]calibrate.Approval, error) {
	path := f.file(overlay)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && (f.approvals == "" || f.approve != "") {
		return nil, nil
	}
	info, err := regularFile(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxApprovals {
		return nil, badInputf("%s: %d bytes is too large for approvals; name their file with --approvals", path, info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading approvals: %w", err)
	}
	all, err := calibrate.ParseApprovals(path, b)
	return all, badInput(err)
}

// journals adds the journals of flags to a policy, before any load, so that a
// wrong name is said then.
func (f *anchorFlags) journals(p *calibrate.Policy) (err error) {
	p.PublicAnchor = f.public
	if p.Anchors, err = readAnchors("--anchor", f.anchors); err != nil {
		return err
	}
	p.Scaling, err = readAnchors("--scaling", f.scaling)
	return err
}

func readAnchors(flag string, paths []string) ([]calibrate.AnchorJournal, error) {
	var out []calibrate.AnchorJournal
	for _, path := range paths {
		if _, err := regularFile(path); err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		src, err := sourceOf(path)
		if err != nil {
			return nil, err
		}
		c, err := readJournal(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		if odd := calibrate.OddDates(c, time.Now()); odd != "" {
			return nil, badInputf("%s %s: %s; give the journal of a measurement that was made, or set this machine's clock", flag, path, odd)
		}
		out = append(out, calibrate.AnchorJournal{Source: src, Curve: c})
	}
	return out, nil
}

// sourceOf names the state of a journal.
func sourceOf(path string) (calibrate.Source, error) {
	if path == "" {
		return calibrate.Source{}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return calibrate.Source{}, fmt.Errorf("hashing the journal: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return calibrate.Source{}, fmt.Errorf("hashing %s: %w", path, err)
	}
	return calibrate.Source{Name: filepath.Base(path), SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// approveJournal adds an approval to the file beside the overlay.
func (a *app) approveJournal(f *calibrateFlags, ov overlayFile, policy calibrate.Policy) error {
	if _, err := regularFile(f.anchor.approve); err != nil {
		return fmt.Errorf("--approve: %w", err)
	}
	src, err := sourceOf(f.anchor.approve)
	if err != nil {
		return err
	}
	curve, err := readJournal(f.anchor.approve)
	if err != nil {
		return err
	}
	curve.Plan.Confirm = true
	policy.Now = time.Now()
	entry, err := calibrate.Approve(src, curve, ov.gate, policy, f.anchor.by, f.anchor.why, policy.Now.UTC().Format(time.DateOnly))
	var refused *calibrate.NotApprovableError
	if errors.As(err, &refused) {
		a.write(a.out, "%s: %s\n", f.anchor.approve, refused)
		return verdict{exitInconclusive}
	}
	if err != nil {
		return badInput(err)
	}
	text, err := calibrate.AddApproval(policy.Approvals, entry)
	if err != nil {
		return err
	}
	path := f.anchor.file(f.overlay)
	if err := recipes.WriteFile(path, text); err != nil {
		return err
	}
	done := report.Approval{Entry: entry, Journal: f.anchor.approve, Overlay: f.overlay, File: path}
	if a.output == "json" {
		return report.ApprovalJSON(a.out, done)
	}
	return report.ApprovalText(a.out, done)
}
