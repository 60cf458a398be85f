// Package loadgen holds N streaming chat completions in flight against one
// endpoint and returns what was measured in the steady part.
//
// The loop is closed: every stream has at most one request in flight and sends
// its next one when the last has ended, so latency is a property of the pair
// (system, N) and coordinated omission is intended, not an accident. Results
// must be labelled "closed loop, N = …" and never be read as an open-loop SLO.
//
// Requests go over HTTP/1.1, one kept-alive connection a stream, from bytes of
// our own. Answers from a plain http target are decoded where they are read;
// TLS, HTTP/2 and proxies go through net/http, which the former is held to by
// tests. Chunks are told apart by one scan of their bytes. On Linux the time
// of an arrival is the kernel's; what this process added to it is reported as
// Health.Lag. A stream whose request failed pauses before its next one.
//
// A run may be made in parts by several generators: RunPart, told of the others
// by Peers, records one, and MergeParts makes the Result of all, from all samples
// on one clock. Run is one part, merged.
//
// The package will not retry, will not count chunks as tokens, and will not
// call a stream a success because its status was 200 or because it ended with
// [DONE].
package loadgen
