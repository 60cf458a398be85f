package fleet

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

const (
	frameMark = "perfsweep-part"
	// frameBytes makes lines of less than 8 KiB: container runtimes cut longer
	// ones than 16 KiB.
	frameBytes = 6000
	maxLine    = 8 << 10
	// maxBlob bounds what one generator may send of one run, maxRecords what it
	// may be when it is unpacked.
	maxBlob, maxRecords = 64 << 20, 256 << 20
)

// pack compresses records.
func pack(records []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(records)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

func unpack(blob []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(blob))
	if err != nil {
		return nil, err
	}
	records, err := io.ReadAll(io.LimitReader(r, maxRecords+1))
	if err == nil && len(records) > maxRecords {
		err = fmt.Errorf("more than %d MiB of records", maxRecords>>20)
	}
	return records, err
}

func sumOf(blob []byte) string {
	s := sha256.Sum256(blob)
	return hex.EncodeToString(s[:])
}

func frames(bytes int) int { return (bytes + frameBytes - 1) / frameBytes }

// frame is one line of a blob: mark, run, number, checksum of the line, and the
// data.
func frame(run string, blob []byte, i int) []byte {
	piece := blob[i*frameBytes : min(len(blob), (i+1)*frameBytes)]
	line := fmt.Appendf(nil, "%s %s %d %08x ", frameMark, run, i, check(run, i, piece))
	line = base64.StdEncoding.AppendEncode(line, piece)
	return append(line, '\n')
}

func check(run string, i int, piece []byte) uint32 {
	c := crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %d ", run, i))
	return crc32.Update(c, crc32.IEEETable, piece)
}

// assembly is a blob that is put together from lines in any order.
type assembly struct {
	run    string
	bytes  int
	pieces map[int][]byte
}

func newAssembly(run string, bytes int) *assembly {
	return &assembly{run: run, bytes: bytes, pieces: map[int][]byte{}}
}

// take looks at a line. What is of another run, damaged or known is passed by.
func (a *assembly) take(line []byte) {
	f := bytes.Fields(line)
	if len(f) != 5 || string(f[0]) != frameMark || string(f[1]) != a.run {
		return
	}
	i, err := strconv.Atoi(string(f[2]))
	if err != nil || i < 0 || i >= frames(a.bytes) || a.pieces[i] != nil {
		return
	}
	sum, err := strconv.ParseUint(string(f[3]), 16, 32)
	if err != nil {
		return
	}
	piece, err := base64.StdEncoding.AppendDecode(nil, f[4])
	if err != nil || uint64(check(a.run, i, piece)) != sum || len(piece) != min(frameBytes, a.bytes-i*frameBytes) {
		return
	}
	a.pieces[i] = piece
}

// missing are the numbers of the lines that have not come.
func (a *assembly) missing() []int {
	var out []int
	for i := range frames(a.bytes) {
		if a.pieces[i] == nil {
			out = append(out, i)
		}
	}
	return out
}

// blob is the whole, once nothing is missing.
func (a *assembly) blob() []byte {
	out := make([]byte, 0, a.bytes)
	for i := range frames(a.bytes) {
		out = append(out, a.pieces[i]...)
	}
	return out
}

// lines calls for each line until more says that there are enough or the text
// ends. Longer lines than a frame are passed by.
func lines(r io.Reader, more func(line []byte) bool) error {
	in := bufio.NewReaderSize(r, 2*maxLine)
	long := false
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			long = true
			continue
		case err != nil:
			return err
		case !long && !more(line):
			return nil
		}
		long = false
	}
}
