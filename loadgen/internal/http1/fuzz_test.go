package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// reference reads an answer as net/http does.
func reference(in string) (status int, closes bool, body string, err error) {
	r := bufio.NewReaderSize(strings.NewReader(in), 64<<10)
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodPost})
		if err != nil {
			return 0, false, "", err
		}
		if 100 <= resp.StatusCode && resp.StatusCode < 200 && resp.StatusCode != 101 {
			continue
		}
		if resp.StatusCode == 101 {
			return 101, true, "", nil
		}
		whole, err := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Close, string(whole), err
	}
}

// stricter reports that a text holds something that this package refuses and
// net/http takes; the list is that of the package's documentation.
func stricter(in string) bool {
	lower := strings.ToLower(in)
	head, _, _ := strings.Cut(strings.ReplaceAll(lower, "\r\n", "\n"), "\n\n")
	for _, line := range strings.Split(strings.ReplaceAll(lower, "\r\n", "\n"), "\n") {
		name, _, _ := strings.Cut(line, ":")
		version, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"), strings.Contains(name, " ") && name != line:
			return true
		case strings.HasPrefix(line, "http/") && (version != "http/1.0" && version != "http/1.1" || strings.HasPrefix(strings.TrimLeft(rest, " "), "0") || !printable([]byte(line))):
			return true
		case strings.HasPrefix(strings.TrimLeft(rest, " "), "+"), strings.HasPrefix(strings.TrimLeft(rest, " "), "-"):
			return true
		}
	}
	coded := strings.Contains(lower, "transfer-encoding")
	return coded && (strings.Contains(lower, "content-length") || strings.Contains(head, "http/1.0")) ||
		strings.Contains(strings.ReplaceAll(lower, "\r\n", ""), "\n") && coded
}

// FuzzDecoder: the decoder and net/http agree on every answer, up to the cases
// in which one of the two is meant to refuse more; and cuts change nothing.
func FuzzDecoder(f *testing.F) {
	for _, c := range shapes {
		f.Add(c.in, []byte{3, 1, 7})
	}
	f.Fuzz(func(t *testing.T, in string, cuts []byte) {
		if len(in) >= maxHead {
			return
		}
		var d Decoder
		whole := push(&d, in)
		var ints []int
		for _, c := range cuts {
			ints = append(ints, int(c))
		}
		cut := push(&d, in, ints...)
		same := cut.started == whole.started && cut.body == whole.body && cut.rest == whole.rest && cut.err.Error() == whole.err.Error()
		if wrong := new(Error); errors.As(whole.err, &wrong) { // its rest is where it stopped, its text what it had
			same = cut.started == whole.started && cut.body == whole.body && errors.As(cut.err, &wrong)
		}
		if !same || whole.started && cut.head != whole.head {
			t.Fatalf("whole: %+v\ncut %v: %+v", whole, cuts, cut)
		}
		status, closes, body, err := reference(in)
		switch good := whole.err == io.EOF; {
		case good != (err == nil):
			if !good && stricter(in) || good && bytes.Contains(bytes.ToLower([]byte(in)), []byte("trailer")) {
				return
			}
			t.Fatalf("%+v; net/http says %d, %v", whole, status, err)
		case good && (whole.head.Status != status || whole.body != body || whole.head.Close != closes):
			if stricter(in) {
				return
			}
			t.Fatalf("%+v; net/http says %d, %q, close %t", whole, status, body, closes)
		}
	})
}
