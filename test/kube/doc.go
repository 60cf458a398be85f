// Package kube runs the built binary against a real Kubernetes control plane,
// with pods as engines and as load generators. It has no code of its own. Its
// tests carry the build tag kube, because they need a cluster: a bed that they
// start with the binary that KBED names, else the one of KUBECONFIG.
package kube
