package kube

import "k8s.io/apimachinery/pkg/runtime/schema"

// The resources that are read or made, in the versions that every supported
// cluster serves. Of those with a group of Dynamo's, and of claim templates, the
// cluster is asked for the version.
var (
	podKind           = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	serviceKind       = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	nodeKind          = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	secretKind        = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	eventKind         = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	claimKind         = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	jobKind           = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	deploymentKind    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	leaseKind         = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	reviewKind        = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	storageClassKind  = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	claimTemplateKind = schema.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaimtemplates"}
	hpaKind           = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	scaledObjectKind  = schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
	graphKind         = schema.GroupVersionResource{Group: dynamoGroup, Version: v1beta1, Resource: graphPlural}
)
