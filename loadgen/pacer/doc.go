// Package pacer is a streaming chat server that writes one token a chunk at
// times fixed in advance and keeps the truth about the load that it received.
//
// It is what a load generator's own error is measured against, so it must be
// cheaper than any generator and must know its own send times: connections are
// raw, chunks are formatted once a request, one goroutine writes to many
// streams, and a request's time is the kernel's receive time of its last byte.
// enginesim cannot take this place: it obeys a law of throughput under one
// lock, over net/http, and so costs more a token than the client under test.
//
// The package shares no code with the client: they meet on the wire only.
package pacer
