package campaignfile

import "go.yaml.in/yaml/v3"

// LooksLike reports whether a file is meant as a campaign file, whatever mistakes are
// in it: it has a mapping of targets or of defaults, and nothing that every overlay
// begins with.
func LooksLike(src []byte) bool {
	if len(src) > MaxBytes {
		return false
	}
	if at, _ := unreadable(src); at >= 0 {
		return false
	}
	doc, _, err := decode(src)
	if err != nil || doc == nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return false
	}
	found, top := false, doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		switch top[i].Value {
		case keyDefaults, keyTargets:
			found = found || top[i+1].Kind == yaml.MappingNode
		case "kind", "apiVersion", "metadata", "spec":
			return false
		}
	}
	return found
}
