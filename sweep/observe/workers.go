package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// ErrNoWorkerList: the server does not list its workers, as a bare vLLM and
// llama.cpp do not.
var ErrNoWorkerList = errors.New("no list of instances with the endpoint generate")

// maxWorkers bounds a list; a DynamoGraphDeployment has hundreds at most.
const maxWorkers = 4096

// ReadWorkers asks the Dynamo frontend at baseURL for the ids of the instances
// that generate and are ready, ascending and each once. They are 64-bit numbers
// above what a float holds. An empty list is one: nobody is ready. After a
// worker was killed Dynamo 1.6.1 lists it for up to 14 s more.
func ReadWorkers(ctx context.Context, hc *http.Client, baseURL string) ([]uint64, error) {
	var ids []uint64
	err := page(ctx, hc, baseURL+"/health", func(r io.Reader) (err error) {
		ids, err = workersIn(r)
		return err
	})
	return ids, err
}

// workersIn reads the page. Errors do not quote it: it is the server's.
func workersIn(r io.Reader) ([]uint64, error) {
	var h struct {
		Instances *[]struct {
			Endpoint string      `json:"endpoint"`
			ID       json.Number `json:"instance_id"`
		} `json:"instances"`
	}
	if err := json.NewDecoder(r).Decode(&h); err != nil {
		return nil, fmt.Errorf("%w: the page is not the JSON of a Dynamo frontend", ErrNoWorkerList)
	}
	if h.Instances == nil {
		return nil, ErrNoWorkerList
	}
	ids := []uint64{}
	for _, i := range *h.Instances {
		if i.Endpoint != "generate" {
			continue
		}
		id, err := strconv.ParseUint(i.ID.String(), 10, 64)
		if err != nil {
			return nil, errors.New("an instance has no instance_id of 64 bits")
		}
		if len(ids) == maxWorkers {
			return nil, fmt.Errorf("more than %d instances are listed", maxWorkers)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
