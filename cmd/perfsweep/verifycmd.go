package main

import (
	"crypto/ed25519"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
)

func (a *app) verifyCmd() *cobra.Command {
	var keyFile string
	c := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Compute every number of a bundle again and name those that differ",
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
signature is not the one wanted, and with 2 where the file is no bundle.`,
		Example: "  perfsweep verify gb300.bundle\n  perfsweep verify --key team.pub.pem -o json gb300.bundle",
		Args:    exactly(1, "one BUNDLE"),
		RunE: func(_ *cobra.Command, args []string) error {
			var key ed25519.PublicKey
			if keyFile != "" {
				var err error
				if key, err = readSigningKey("--key", keyFile, bundle.ParsePublicKey); err != nil {
					return err
				}
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
	v := report.Verification{Bundle: path, Maker: b.Manifest.Maker, Here: thisTool(), Differences: b.Damage()}
	differ := func(part, field, recorded, computed string) {
		v.Differences = append(v.Differences, bundle.Difference{Part: part, Field: field, Recorded: recorded, Computed: computed})
	}
	c, err := unpackCarried(path, b)
	if err != nil {
		differ(err.part, "(whole)", "one that can be judged", err.err.Error())
		return c, v
	}
	asked := c.record.Asked
	fingerprint, fail := fingerprintPart(c.curve)
	if fail != nil {
		differ(bundle.Fingerprint, "(whole)", "", fail.Error())
	}
	d, n := bundle.Compare(bundle.Fingerprint, b.Part(bundle.Fingerprint), fingerprint)
	v.Differences, v.Values = append(v.Differences, d...), v.Values+n
	concluded := conclude(c.curve, asked.Current, c.policy())
	proposal, fail := concluded.record(c.curve, asked.Current, b.Manifest.Maker)
	if fail != nil {
		differ(bundle.Proposal, "(whole)", "", fail.Error())
	}
	d, n = bundle.Compare(bundle.Proposal, b.Part(bundle.Proposal), proposal)
	v.Differences, v.Values = append(v.Differences, d...), v.Values+n
	v.Runs, v.Fingerprint, v.Proposal = len(c.curve.Runs), c.curve.Fingerprint, concluded.proposal
	return c, v
}

// recordIn reads the recorded proposal. What it does not know is a difference in
// the comparison that follows, which is by every leaf.
func recordIn(b *bundle.Bundle) (keptRecord, error) {
	var r keptRecord
	err := json.Unmarshal(b.Part(bundle.Proposal), &r)
	return r, err
}
