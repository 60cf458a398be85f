package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Pack makes a bundle of parts, signed where a key is given.
func Pack(m Maker, parts []Part, key ed25519.PrivateKey) ([]byte, error) {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Part) int { return strings.Compare(a.Name, b.Name) })
	for i, p := range parts {
		if !known(p.Name) || p.Name == ManifestName || p.Name == SignatureName || i > 0 && parts[i-1].Name == p.Name {
			return nil, fmt.Errorf("packing a bundle: %q cannot be a part", p.Name)
		}
		if why := tooLarge(p.Name, int64(len(p.Content))); why != "" {
			return nil, fmt.Errorf("packing a bundle: %s", why)
		}
	}
	manifest, err := manifestOf(m, parts)
	if err != nil {
		return nil, err
	}
	parts = append([]Part{{ManifestName, manifest}}, parts...)
	if key != nil {
		signature, err := sign(manifest, key)
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{SignatureName, signature})
	}
	plain, err := archive(parts)
	if err != nil {
		return nil, err
	}
	if len(plain) > maxUnpacked {
		return nil, fmt.Errorf("packing a bundle: %d bytes are more than the %d that a reader takes", len(plain), maxUnpacked)
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("packing a bundle: %w", err)
	}
	if _, err := z.Write(plain); err != nil {
		return nil, fmt.Errorf("packing a bundle: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("packing a bundle: %w", err)
	}
	if out.Len() > MaxFile {
		return nil, fmt.Errorf("packing a bundle: %d bytes are more than the %d that a reader takes", out.Len(), MaxFile)
	}
	return out.Bytes(), nil
}

// archive is the tar of parts, manifest first. Its headers hold nothing but name,
// size and a fixed mode.
func archive(parts []Part) ([]byte, error) {
	sorted := slices.Clone(parts[1:])
	slices.SortFunc(sorted, func(a, b Part) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, p := range append(parts[:1:1], sorted...) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: p.Name, Size: int64(len(p.Content)), Mode: 0o644, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("packing %s: %w", p.Name, err)
		}
		if _, err := w.Write(p.Content); err != nil {
			return nil, fmt.Errorf("packing %s: %w", p.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing a bundle: %w", err)
	}
	return out.Bytes(), nil
}

// LooksLike reports whether a file begins as bundles do, so that it may be replaced
// by one.
func LooksLike(b []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return false
	}
	h, err := tar.NewReader(z).Next()
	return err == nil && h.Name == ManifestName
}

// Read reads a bundle. It is bounded, and takes nothing but the form that Pack
// writes; what the parts hold is not looked at.
func Read(b []byte) (*Bundle, error) {
	plain, err := unpack(b, maxUnpacked)
	if err != nil {
		return nil, err
	}
	parts, err := split(plain)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 || parts[0].Name != ManifestName {
		return nil, notBundle("its first part is no manifest")
	}
	if again, err := archive(parts); err != nil || !bytes.Equal(again, plain) {
		return nil, notBundle("its archive is not in the form that perfsweep writes")
	}
	out := &Bundle{parts: parts, manifest: parts[0].Content}
	if out.Manifest, err = readManifest(out.manifest); err != nil {
		return nil, err
	}
	return out, nil
}

// unpack decompresses within the bound, whatever the size that a header claims.
func unpack(b []byte, most int64) ([]byte, error) {
	if len(b) > MaxFile {
		return nil, notBundle("%d bytes are more than the %d of the largest", len(b), MaxFile)
	}
	in := bytes.NewReader(b)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, notBundle("it is not compressed with gzip")
	}
	if z.Name != "" || z.Comment != "" || len(z.Extra) > 0 || !z.ModTime.IsZero() {
		return nil, notBundle("its gzip header says more than perfsweep writes")
	}
	z.Multistream(false)
	plain, err := io.ReadAll(io.LimitReader(z, most+1))
	switch {
	case err != nil:
		return nil, notBundle("it is damaged: %v", err)
	case int64(len(plain)) > most:
		return nil, notBundle("it unpacks to more than %d bytes", most)
	case in.Len() > 0:
		return nil, notBundle("there are %d bytes after its end", in.Len())
	}
	return plain, nil
}

// split takes the parts out of a tar.
func split(plain []byte) ([]Part, error) {
	var parts []Part
	seen, left := map[string]bool{}, int64(len(plain))
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		switch {
		case err != nil:
			return nil, notBundle("its archive is damaged: %v", err)
		case !known(h.Name):
			return nil, notBundle("it holds %.80q", h.Name)
		case h.Typeflag != tar.TypeReg:
			return nil, notBundle("%s in it is no plain file", h.Name)
		case seen[h.Name]:
			return nil, notBundle("it holds %s twice", h.Name)
		case len(parts) == maxParts:
			return nil, notBundle("it holds more than %d parts", maxParts)
		case h.Size > left: // one with holes, which are not in the archive, may
			return nil, notBundle("%s in it claims %d bytes, and the archive has not so many", h.Name, h.Size)
		}
		if why := tooLarge(h.Name, h.Size); why != "" {
			return nil, notBundle("%s", why)
		}
		seen[h.Name], left = true, left-h.Size
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, notBundle("%s in it is damaged: %v", h.Name, err)
		}
		parts = append(parts, Part{h.Name, content})
	}
}
