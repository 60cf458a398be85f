package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
)

// kubeFlags choose the cluster of what is in one.
type kubeFlags struct {
	kubeconfig, context string
}

// kubeFlagNames are those that mean nothing without a cluster.
var kubeFlagNames = [...]string{"kubeconfig", "context"}

func (k *kubeFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&k.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: $KUBECONFIG, then ~/.kube/config, then the service account of the pod that this runs in)")
	f.StringVar(&k.context, "context", "", "context of the kubeconfig (default: the current one)")
}

// open connects to the cluster.
func (k *kubeFlags) open() (*kube.Client, error) {
	c, err := kube.Open(k.kubeconfig, k.context)
	return c, kubeError(err)
}

// kubeError makes what the user named wrongly bad input.
func kubeError(err error) error {
	var in *kube.InputError
	if errors.As(err, &in) {
		return badInput(err)
	}
	return err
}
