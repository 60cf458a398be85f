package observe

import "strconv"

// WorkerID is the one way in which a worker's 64-bit id is written here: in
// decimal, as a frontend does. A worker writes its own in hexadecimal (base
// 16). Text that is no such number is no id.
func WorkerID(text string, base int) (string, bool) {
	id, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		return "", false
	}
	return strconv.FormatUint(id, 10), true
}

// maxName bounds a name that a page gives to a GPU, a version or a product.
const maxName = 64

// plainName lets a page's words through that cannot do harm in a report or on
// a terminal, and nothing else.
func plainName(s string) (string, bool) {
	if s == "" || len(s) > maxName {
		return "", false
	}
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == '"' || c == '<' || c == '>' || c == '\\' {
			return "", false
		}
	}
	return s, true
}

// engineName names a rank of a worker. Frontends give every worker ranks, and
// most have only the rank 0; an id alone therefore stands for that one.
func engineName(worker, rank string, byID bool) string {
	n, err := strconv.ParseUint(rank, 10, 16)
	if err != nil || n == 0 && byID {
		return worker
	}
	return worker + "/" + strconv.FormatUint(n, 10)
}
