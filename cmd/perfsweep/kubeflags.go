package main

import (
	"errors"
	"maps"
	"regexp"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
)

// kubeFlags choose the cluster of what is in one.
type kubeFlags struct {
	kubeconfig, context string
	// client is the command's only one: it knows that the API server was there.
	client *kube.Client
}

// kubeFlagNames are those that mean nothing without a cluster.
var kubeFlagNames = [...]string{"kubeconfig", "context", "gpu-product"}

func (k *kubeFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&k.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: $KUBECONFIG, then ~/.kube/config, then the service account of the pod that this runs in)")
	f.StringVar(&k.context, "context", "", "context of the kubeconfig (default: the current one)")
}

// productName is a value that a label of a node can have.
var productName = regexp.MustCompile(`^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)

// withProduct adds --gpu-product to the labels that are stated.
func (m *measureFlags) withProduct(labels map[string]string) (map[string]string, error) {
	p := m.gpuProduct
	if p == "" {
		return labels, nil
	}
	if !productName.MatchString(p) {
		return nil, badInputf("--gpu-product %.80q: use the value of the nodes' label nvidia.com/gpu.product, such as NVIDIA-H100-80GB-HBM3", p)
	}
	if other, ok := labels[labelProduct]; ok && other != p {
		return nil, badInputf("--gpu-product %s contradicts --label %s=%s: drop one of them", p, labelProduct, other)
	}
	out := map[string]string{labelProduct: p}
	maps.Copy(out, labels)
	return out, nil
}

// open connects to the cluster.
func (k *kubeFlags) open() (*kube.Client, error) {
	if k.client == nil {
		c, err := kube.Open(k.kubeconfig, k.context)
		if err != nil {
			return nil, kubeError(err)
		}
		k.client = c
	}
	return k.client, nil
}

// kubeError makes what the user named wrongly bad input.
func kubeError(err error) error {
	var in *kube.InputError
	if errors.As(err, &in) {
		return badInput(err)
	}
	return err
}
