package observe

import "errors"

// Capacity is what a Dynamo frontend publishes of its workers' batch caps.
type Capacity struct {
	// MaxNumSeqs is the batch cap of one worker; where workers differ the
	// frontend shows that of one of them.
	MaxNumSeqs int
	// Workers is the number of ready instances that generate.
	Workers int
}

// Streams is the number of requests that can run at once.
func (c Capacity) Streams() int { return c.MaxNumSeqs * c.Workers }

// CapacityOf takes it from the frontend's page and the number of workers that
// are ready. A server that publishes no batch cap, such as a bare vLLM, is an
// error that says what was missing; it is for the caller to go on without.
func CapacityOf(frontend Snapshot, workers int) (Capacity, error) {
	limit, told := frontend.Frontend[MaxNumSeqs]
	switch {
	case frontend.Err != nil:
		return Capacity{}, frontend.Err
	case !told:
		return Capacity{}, errors.New("no batch cap (dynamo_frontend_model_max_num_seqs) of the model")
	case workers < 1:
		return Capacity{}, ErrNoWorkerList
	}
	return Capacity{MaxNumSeqs: int(limit), Workers: workers}, nil
}
