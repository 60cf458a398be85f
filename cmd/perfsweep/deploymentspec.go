package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/recipes"
)

// specFlags state the deployment that was measured (C11).
type specFlags struct {
	file   string
	accept bool
	// carried: a bundle may hold what was found of a deployment.
	carried bool
}

func (f *specFlags) bind(fl *pflag.FlagSet) {
	fl.StringVar(&f.file, "deployment-spec", "", "the measured DynamoGraphDeployment (a file, or what kubectl get -o yaml prints, with the ResourceClaimTemplate where GPUs are claimed), compared with the one that AICR's evaluator deploys")
	fl.BoolVar(&f.accept, "accept-deployment-diff", false, "write though the deployment differs from the evaluator's; the comment names each difference")
}

// read reads the deployment, nil without a file.
func (f *specFlags) read() (*recipes.Deployment, error) {
	if f.file == "" {
		if f.accept && !f.carried {
			return nil, badInputf("--accept-deployment-diff needs --deployment-spec FILE: what is not known cannot be accepted")
		}
		return nil, nil
	}
	info, err := regularFile(f.file)
	if err != nil {
		return nil, fmt.Errorf("--deployment-spec: %w", err)
	}
	if info.Size() > recipes.MaxDeployment {
		return nil, badInputf("%s: %d bytes is too large for a deployment; give the one that was measured alone", f.file, info.Size())
	}
	b, err := os.ReadFile(f.file)
	if err != nil {
		return nil, fmt.Errorf("--deployment-spec: %w", err)
	}
	d, err := recipes.ParseDeployment(f.file, b)
	return d, badInput(err)
}
