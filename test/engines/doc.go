// Package engines compares what the load generator counts with what real
// engines count of the same requests. It has no code of its own. Its tests
// carry the build tags engines (Dynamo's frontend and llama.cpp) and vllm (by
// hand: it needs 5 GB), because they need the folder that PERFSWEEP_SHARED names
// and install the engines once.
package engines
