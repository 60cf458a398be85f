package observe

import "strings"

// Unwatched are those of the workers' ids of which no page tells how many
// requests run. A page that has no id may be that of any of them, and so of as
// many as there are such pages nothing is said.
func Unwatched(ids []string, pages []Snapshot) []string {
	told, nameless := map[string]bool{}, 0
	for _, s := range pages {
		for name, r := range s.Engines {
			id, _, _ := strings.Cut(name, "/")
			switch _, running := r[Running]; {
			case !running || told[id]:
			case isID(id):
				told[id] = true
			default:
				told[id] = true
				nameless++
			}
		}
	}
	var out []string
	for _, id := range ids {
		if !told[id] {
			told[id] = true
			out = append(out, id)
		}
	}
	if len(out) <= nameless {
		return nil
	}
	return out
}
