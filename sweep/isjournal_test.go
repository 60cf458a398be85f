package sweep

import "testing"

func TestIsJournal(t *testing.T) {
	for start, want := range map[string]bool{
		`{"type":"campaign"`:                       true,
		`{"type": "campaign", "schema_version":1}`: true,
		`{"schema_version":1,"plan":{"levels":[1,2]},"type":"campaign"}` + "\r\n{": true,
		"\n\n {\"type\":\"campaign\"}":                                             true,
		"\ufeff{\"Type\":\"campaign\"}":                                            true,
		`{"type":"run","x":{"type":"campaign"}}`:                                   false,
		`{"type":"camp`:                                                            false,
		`["type","campaign"]`:                                                      false,
		`{"type":["campaign"]}`:                                                    false,
		"":                                                                         false,
		"type: campaign":                                                           false,
	} {
		if got := IsJournal([]byte(start)); got != want {
			t.Errorf("IsJournal(%q) = %v", start, got)
		}
	}
}
