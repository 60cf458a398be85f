package main

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxBinary is the largest binary that is released.
const maxBinary = 25_000_000

// inspect reads what a binary says of itself, and refuses one that is too large,
// not static, or of another platform or version.
func inspect(path, version string, p platform) (*buildinfo.BuildInfo, error) {
	fail := func(format string, args ...any) (*buildinfo.BuildInfo, error) {
		return nil, fmt.Errorf("%s: "+format, append([]any{path}, args...)...)
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() >= maxBinary {
		return fail("%d bytes, and a release has less than %d: look what came in with go tool nm -size -sort size", st.Size(), maxBinary)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	// With -trimpath no linker flag is recorded, so the version is looked for.
	switch {
	case set["GOOS"] != p.os || set["GOARCH"] != p.arch:
		return fail("is for %s/%s, not for %s", set["GOOS"], set["GOARCH"], p)
	case set["CGO_ENABLED"] != "0":
		return fail("is built with cgo")
	case set["-trimpath"] != "true":
		return fail("is built without -trimpath, and holds the paths of this machine")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(text), version) {
		return fail("does not hold its version %q", version)
	}
	if p.os == "linux" {
		if err := static(path); err != nil {
			return fail("%w", err)
		}
	}
	return info, nil
}

// static refuses an ELF binary that needs a loader or a library. Go has no
// static binaries on darwin, where the system's own library is the interface.
func static(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	libraries, err := f.ImportedLibraries()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			err = errors.Join(err, errors.New("is not static: it names a loader"))
		}
	}
	if len(libraries) > 0 {
		err = errors.Join(err, fmt.Errorf("is not static: it needs %s", strings.Join(libraries, ", ")))
	}
	return errors.Join(err, f.Close())
}
