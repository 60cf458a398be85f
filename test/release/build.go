package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platform is a target of the Go compiler.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// releasePlatforms are those that are released.
var releasePlatforms = [...]platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}}

// plan is what a release is made from, beside the sources.
type plan struct {
	version, commit string
	epoch           int64 // seconds; the time of everything in archives
	platforms       []platform
}

// settings decide the bytes of a binary. What the caller's environment says of
// them must not.
func settings(p platform) []string {
	return []string{
		"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOTOOLCHAIN=local",
	}
}

// build compiles the command in source for one platform. What git knows is left
// out of the binary: a shallow clone and an unpacked archive know less.
func build(ctx context.Context, source, version string, p platform, out string, env ...string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", out, "./cmd/perfsweep")
	cmd.Dir, cmd.Env = source, append(append(os.Environ(), settings(p)...), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", p, err, strings.TrimSpace(string(said)))
	}
	return nil
}
