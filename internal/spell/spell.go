// Package spell tells how far a word is from one that is known.
package spell

// Distance is the number of letters to insert, delete or replace to make one word
// of the other (Levenshtein 1966), or limit where it is at least that: whoever
// looks for the nearest of many words need not know how far the others are.
func Distance(a, b string, limit int) int {
	if limit <= 0 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return min(limit, row[len(b)])
}

// Nearest is the first of the known words that is the least far from one, nearer
// than the limit; "" if there is none.
func Nearest(word string, known []string, limit int) string {
	best := ""
	for _, k := range known {
		if d := Distance(word, k, limit); d < limit {
			best, limit = k, d
		}
	}
	return best
}
