package observe

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
)

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

// ReadCapacity asks the frontend at baseURL. A server that publishes no batch
// cap, such as a bare vLLM, is an error that says what was missing; it is for
// the caller to go on without.
func ReadCapacity(ctx context.Context, hc *http.Client, baseURL, model string) (Capacity, error) {
	var c Capacity
	s, err := readMetrics(ctx, hc, baseURL+"/metrics", "", model, new(bytes.Buffer))
	if err != nil {
		return Capacity{}, err
	}
	limit, told := s.Frontend[MaxNumSeqs]
	if !told {
		return Capacity{}, fmt.Errorf("no batch cap (dynamo_frontend_model_max_num_seqs) of model %s", model)
	}
	c.MaxNumSeqs = int(limit)
	ids, err := ReadWorkers(ctx, hc, baseURL)
	if err == nil && len(ids) == 0 {
		err = ErrNoWorkerList
	}
	if err != nil {
		return Capacity{}, err
	}
	c.Workers = len(ids)
	return c, nil
}
