// Package dynamo tests the perfsweep binary against a real Dynamo frontend with
// simulated workers. It has no code of its own. Its tests carry the build tags
// dynamo (results) and verify (comparisons of times), because they need the
// folder that PERFSWEEP_SHARED names and build a Python environment once.
package dynamo
