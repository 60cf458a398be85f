package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name       string
	text       []byte
	executable bool
}

// archive packs entries as they come below a folder. Nothing in it depends on
// who packs when: one time, no owner, no name in the compressed stream.
func archive(folder string, entries []entry, epoch int64) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, e := range entries {
		mode := int64(0o644)
		if e.executable {
			mode = 0o755
		}
		h := &tar.Header{Name: folder + "/" + e.name, Mode: mode, Size: int64(len(e.text)), ModTime: time.Unix(epoch, 0), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.name, err)
		}
		if _, err := t.Write(e.text); err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.name, err)
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
