package imports

import (
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
