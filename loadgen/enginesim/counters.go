package enginesim

// Counters are what the engine itself counted. Requests is the sum of
// Accepted, Shed and Rejected; an accepted request ends in one of Completed,
// Truncated, InBand and Cancelled.
type Counters struct {
	Requests  int64 // POSTs to the two completion endpoints
	Accepted  int64 // given to a worker or a queue
	Shed      int64 // refused with 529
	Rejected  int64 // refused with 4xx
	Completed int64
	Truncated int64 // cut in the middle, by a fault
	InBand    int64 // ended by an error inside the stream, by a fault
	Cancelled int64 // left by the client
	// OutputTokens were handed to the connection, GeneratedTokens made by the
	// engine; they differ by what clients that left did not take.
	OutputTokens    int64
	GeneratedTokens int64
	// PromptTokens are those of accepted requests.
	PromptTokens int64
	Running      int64
	Waiting      int64
	MaxRunning   int64
	Preemptions  int64
}
