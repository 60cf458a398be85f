package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A recorded page lists each worker under several endpoints. The first id does
// not fit into a signed number, and none into a float.
func TestWorkersOfARecordedFrontend(t *testing.T) {
	s := server(t, "", recorded(t, "health.json"))
	got, err := ReadWorkers(context.Background(), s.Client(), s.URL)
	if want := []uint64{1670803154388559761, 14959705552560362131}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d, %v, want %d", got, err, want)
	}
}

// What is no list is told apart from a list of nobody, and nothing on the page
// is guessed at.
func TestWorkerLists(t *testing.T) {
	one := func(id string) string { return `{"endpoint":"generate","instance_id":` + id + `}` }
	list := func(items ...string) string { return `{"instances":[` + strings.Join(items, ",") + `]}` }
	var many []string
	for i := range maxWorkers + 1 {
		many = append(many, one(fmt.Sprint(i)))
	}
	for name, c := range map[string]struct {
		page   string
		ids    []uint64
		noList bool
		says   string
	}{
		"sorted, each once":       {page: list(one("9007199254740993"), one("5"), one("9007199254740993")), ids: []uint64{5, 9007199254740993}},
		"nobody":                  {page: list(), ids: []uint64{}},
		"other endpoints only":    {page: list(`{"endpoint":"clear_kv_blocks","instance_id":1}`), ids: []uint64{}},
		"no id where none is due": {page: list(`{"endpoint":"load_metrics"}`, one("7")), ids: []uint64{7}},
		"the most":                {page: list(many[1:]...), ids: nil},
		"too many":                {page: list(many...), says: "more than 4096"},
		"no id":                   {page: list(`{"endpoint":"generate"}`), says: "no instance_id"},
		"a float":                 {page: list(one("1e18")), says: "no instance_id"},
		"negative":                {page: list(one("-1")), says: "no instance_id"},
		"65 bits":                 {page: list(one("18446744073709551616")), says: "no instance_id"},
		"another page":            {page: `{"status":"ok"}`, noList: true},
		"null":                    {page: `{"instances":null}`, noList: true},
		"no JSON":                 {page: "OK", noList: true},
		"a list of other things":  {page: `{"instances":[1,2]}`, noList: true},
		"no page":                 {says: "404"},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, "", c.page)
			got, err := ReadWorkers(context.Background(), s.Client(), s.URL)
			bad := c.noList || c.says != ""
			switch {
			case (err != nil) != bad, errors.Is(err, ErrNoWorkerList) != c.noList, bad && !strings.Contains(err.Error(), c.says):
				t.Errorf("error %v", err)
			case name == "the most" && len(got) != maxWorkers, name != "the most" && !slices.Equal(got, c.ids):
				t.Errorf("got %d of %d", got, c.ids)
			}
		})
	}
}
