package containerfile

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Make makes the file system of the image in a folder, for this machine: the
// binary by the file's own command in the context, the certificates from this
// machine in place of those of the base image.
func (m *Image) Make(context, dir string) error {
	out, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(m.Entrypoint[0])))
	if err != nil {
		return err
	}
	// The folder stands for the root of the building stage.
	c := exec.Command("sh", "-c", strings.Replace(m.Build, " -o "+m.Binary+" ", ` -o "$OUT" `, 1))
	c.Dir = context
	c.Env = append(os.Environ(), "OUT="+out, "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH, "VERSION=dev")
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", m.Build, err, text)
	}
	for name, source := range m.Files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if source == m.Binary {
			source = out
		}
		if to == out {
			continue
		}
		if err := copyFile(source, to); err != nil {
			return fmt.Errorf("making %s of the image: %w", name, err)
		}
	}
	for name, mode := range m.Folders {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(to, mode); err != nil { // beyond the umask
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close() // the copy failed
		return err
	}
	return out.Close()
}
