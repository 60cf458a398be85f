package loadgen

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// header is what every request to the target carries, the list of models
// included.
func (c *Config) header() http.Header {
	h := http.Header{"Accept-Encoding": {"identity"}, "User-Agent": {"perfsweep"}}
	for name, value := range c.Network.Header {
		h.Set(name, value)
	}
	if c.APIKey != "" {
		h.Set("Authorization", "Bearer "+c.APIKey)
	}
	return h
}

// leastSecret is the shortest word of a header that is kept out of error texts:
// a shorter one hides nothing, and would blot out half of every text.
const leastSecret = 6

// secrets are the words that no error text may repeat, the longest first. A
// server may quote a header without its scheme, hence the single words; quoting,
// there or here, changes some characters.
func (c *Config) secrets() []string {
	all := []string{c.APIKey}
	for _, value := range c.Network.Header {
		for _, word := range append(strings.Fields(value), value) {
			if len(word) >= leastSecret {
				all = append(all, word)
			}
		}
	}
	for _, plain := range slices.Clone(all) {
		for _, quoted := range []string{strconv.Quote(plain), strconv.QuoteToASCII(plain), jsonText(plain)} {
			if inner := quoted[1 : len(quoted)-1]; inner != plain {
				all = append(all, inner)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// jsonText is a text as JSON.
func jsonText(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}

// appendFields writes checked body fields, each with a comma behind it, in the
// order of their names: equal settings make equal bytes.
func appendFields(dst []byte, fields map[string]json.RawMessage) []byte {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		dst = append(dst, jsonText(key)...)
		dst = append(dst, ':')
		dst = append(dst, fields[key]...)
		dst = append(dst, ',')
	}
	return dst
}
