package knee

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/plural"
)

const (
	defaultEStar     = 0.20
	defaultBootstrap = 200
	defaultSeed      = 1
	maxBootstrap     = 2000
)

// Options tune the estimator; the zero value means the defaults.
type Options struct {
	// EStar is the elasticity at the knee, in [0.05, 0.5]; default 0.20.
	EStar float64
	// Bootstrap is the number of bootstrap replicates, at most 2000; default
	// 200.
	Bootstrap int
	// Seed seeds the bootstrap; default 1.
	Seed uint64
	// Explain fills in Fit.Reasoning.
	Explain bool
}

// Validate reports options that Find would refuse.
func (o Options) Validate() error {
	if o.EStar != 0 && !(o.EStar >= 0.05 && o.EStar <= 0.5) {
		return fmt.Errorf("knee options: elasticity %g is outside 0.05..0.5; use %g unless you know better", o.EStar, defaultEStar)
	}
	if o.Bootstrap < 0 || o.Bootstrap > maxBootstrap {
		return fmt.Errorf("knee options: %s %s outside 0..%d; use %d", plural.Of(o.Bootstrap, "bootstrap replicate"), plural.Verb(o.Bootstrap, "is", "are"), maxBootstrap, defaultBootstrap)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.EStar == 0 {
		o.EStar = defaultEStar
	}
	if o.Bootstrap == 0 {
		o.Bootstrap = defaultBootstrap
	}
	if o.Seed == 0 {
		o.Seed = defaultSeed
	}
	return o
}
