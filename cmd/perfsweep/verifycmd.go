package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/sweep"
)

func (a *app) verifyCmd() *cobra.Command {
	var keyFile string
	c := &cobra.Command{
		Use:   "verify BUNDLE...",
		Short: "Compute every number of bundles again and name those that differ",
		Long: `verify reads a bundle of calibrate --bundle, judges every run of its journal again
and computes fit, knee and interval, operating point, floors, ceiling, sensitivity
and gates anew. Each value must be the recorded one to the last bit; those that are
not are named with both. It measures nothing and needs no network.

A change of one part is found, with its hash corrected too, because the parts name
each other. What verify alone cannot find is a journal that was invented whole: one
whose numbers obey every law, with a proposal computed from it and a manifest that
fits. Against that a bundle is signed: calibrate --bundle FILE --sign-key KEY, and
verify --key PUBLIC, which fails where the signature is missing, wrong or another's.
Without --key a signature says only that nothing changed since somebody signed it.

A perfsweep of another version may judge by other rules; verify with the version
that made the bundle before a difference is held against it.

It ends with 0 where all is as recorded, with 8 where something differs or the
signature is not the one wanted, and with 2 where the file is no bundle.

Of several bundles each has its verdict, one that cannot be read too, and the exit
code is the worst: that of one that cannot be read, else 8, else 0. -o json is then
one document that counts the verdicts and lists under "bundles" what it prints of
one, -o csv begins each row with bundle and verdict.`,
		Example: "  perfsweep verify gb300.bundle\n  perfsweep verify --key team.pub.pem -o json *.bundle",
		Args:    atLeastOne("one BUNDLE or more"),
		RunE: func(c *cobra.Command, args []string) error {
			var key ed25519.PublicKey
			if keyFile != "" {
				var err error
				if key, err = readSigningKey("--key", keyFile, bundle.ParsePublicKey); err != nil {
					return err
				}
			}
			if len(args) > 1 {
				return a.verifySeveral(c.Context(), args, key)
			}
			_, v, err := verifyFile(args[0], key)
			if err != nil {
				return err
			}
			if err := report.Verified(a.out, a.output, v); err != nil {
				return err
			}
			if !v.OK() {
				return verdict{exitGateFailed}
			}
			return nil
		},
	}
	c.Flags().StringVar(&keyFile, "key", "", "ed25519 public key (PEM) that must have signed the bundle")
	return c
}

// verifySeveral verifies one bundle after the other: what cannot be read has a
// verdict too, so that the others are not kept from theirs.
func (a *app) verifySeveral(ctx context.Context, paths []string, key ed25519.PublicKey) error {
	var list []report.Verification
	differs, unread := exitDone, exitDone
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, v, err := verifyFile(path, key)
		switch {
		case err != nil:
			v = report.Verification{Bundle: path, Here: thisTool(), Unread: err}
			if code, _ := exitCode(ctx, err); unread == exitDone {
				unread = code
			}
		case !v.OK():
			differs = exitGateFailed
		}
		list = append(list, v)
	}
	if err := report.VerifiedSeveral(a.out, a.output, list); err != nil {
		return err
	}
	if worst := cmp.Or(unread, differs); worst != exitDone {
		return verdict{worst}
	}
	return nil
}

// verifyFile reads a bundle and computes it again.
func verifyFile(path string, key ed25519.PublicKey) (carried, report.Verification, error) {
	raw, err := readBounded(path, bundle.MaxFile)
	if err != nil {
		return carried{}, report.Verification{}, err
	}
	b, err := bundle.Read(raw)
	if err != nil {
		return carried{}, report.Verification{}, badInputf("%s: %w", path, err)
	}
	c, v := verifyBundle(path, b)
	v.Signature, v.SignedBy = b.Signature(key)
	return c, v, nil
}

// verifyBundle computes a bundle again. Everything that is found is a difference:
// the bundle could be read.
func verifyBundle(path string, b *bundle.Bundle) (carried, report.Verification) {
	c, err := unpackCarried(path, b)
	if err != nil {
		v := verification(path, b)
		v.Differences = append(v.Differences, bundle.Difference{Part: err.part, Field: "(whole)", Recorded: "one that can be judged", Computed: err.err.Error()})
		return c, v
	}
	return c, c.compute(b.Manifest.Maker).against(path, b)
}

func verification(path string, b *bundle.Bundle) report.Verification {
	return report.Verification{Bundle: path, Maker: b.Manifest.Maker, Here: thisTool(), Differences: b.Damage()}
}

// computed is what follows from the journals of a bundle and what was asked.
type computed struct {
	conclusion
	curve                 sweep.Curve
	fingerprint, recorded []byte
	failed                []bundle.Difference
}

func (c carried) compute(by bundle.Maker) computed {
	out := computed{curve: c.curve, conclusion: conclude(c.curve, c.record.Asked.Current, c.policy())}
	fail := func(part string, err error) {
		if err != nil {
			out.failed = append(out.failed, bundle.Difference{Part: part, Field: "(whole)", Computed: err.Error()})
		}
	}
	var err error
	out.fingerprint, err = fingerprintPart(c.curve)
	fail(bundle.Fingerprint, err)
	out.recorded, err = out.record(c.curve, c.record.Asked.Current, by)
	fail(bundle.Proposal, err)
	return out
}

// against compares what a bundle records with what follows.
func (c computed) against(path string, b *bundle.Bundle) report.Verification {
	v := verification(path, b)
	v.Differences = append(v.Differences, c.failed...)
	for _, p := range []bundle.Part{{Name: bundle.Fingerprint, Content: c.fingerprint}, {Name: bundle.Proposal, Content: c.recorded}} {
		d, n := bundle.Compare(p.Name, b.Part(p.Name), p.Content)
		v.Differences, v.Values = append(v.Differences, d...), v.Values+n
	}
	v.Runs, v.Fingerprint, v.Proposal = len(c.curve.Runs), c.curve.Fingerprint, c.proposal
	return v
}

// recordIn reads the recorded proposal. What it does not know is a difference in
// the comparison that follows, which is by every leaf.
func recordIn(b *bundle.Bundle) (keptRecord, error) {
	var r keptRecord
	err := json.Unmarshal(b.Part(bundle.Proposal), &r)
	return r, err
}
