package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxBytes bounds a file, and with it the one line that a reader holds.
const maxBytes = 64 << 20

// bounded fails where io.LimitReader would end a file early and unseen.
type bounded struct {
	r           io.Reader
	read, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.read += int64(n); b.read > b.limit {
		return 0, fmt.Errorf("more than %d MiB are no curve", b.limit>>20)
	}
	return n, err
}

// held lets no more than maxBytes be read while a value is decoded, which a
// decoder holds whole.
func (b *bounded) held(decode func() error) error {
	limit := b.limit
	b.limit = min(limit, b.read+maxBytes)
	defer func() { b.limit = limit }()
	return decode()
}

// utf8Mark is what some editors put before a text; JSON knows no such thing.
var utf8Mark = []byte("\ufeff")

// plainText passes over a mark of UTF-8 and refuses UTF-16, which reads as
// nonsense.
func plainText(r io.Reader) (io.Reader, error) {
	head := make([]byte, len(utf8Mark))
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read: %w", err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.IndexByte(head, 0) >= 0:
		return nil, errors.New("the text is not UTF-8 but seems to be UTF-16; save it as UTF-8")
	case bytes.Equal(head, utf8Mark):
		return r, nil
	}
	return io.MultiReader(bytes.NewReader(head), r), nil
}
