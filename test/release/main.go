package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	p := plan{platforms: releasePlatforms[:]}
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	set.StringVar(&p.version, "version", "", "version to stamp")
	set.StringVar(&p.commit, "commit", "", "commit of the sources, for the bill of materials")
	set.Int64Var(&p.epoch, "epoch", 0, "time of everything in archives, in seconds since 1970")
	check := set.Bool("check", false, "build again elsewhere and compare with DIR")
	var only []platform
	set.Func("platform", "OS/ARCH to build for, in place of those that are released; repeatable", func(s string) error {
		goos, arch, ok := strings.Cut(s, "/")
		if !ok {
			return errors.New("want OS/ARCH")
		}
		only = append(only, platform{goos, arch})
		return nil
	})
	if err := set.Parse(args); err != nil {
		return err
	}
	if only != nil {
		p.platforms = only
	}
	switch {
	case set.NArg() != 1:
		return errors.New("usage: release -version V [flags] DIR")
	case !named.MatchString(p.version):
		return fmt.Errorf("version %q: give -version letters, digits, dots, dashes, underscores and pluses, such as v1.2.3; with make, VERSION=v1.2.3", p.version)
	case p.version == "unknown":
		return errors.New("the version is not known, as this is no clone of the repository: make release VERSION=v1.2.3")
	}
	source, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "perfsweep-release")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if *check {
		return p.check(ctx, source, set.Arg(0), scratch, os.Stdout)
	}
	return p.release(ctx, source, set.Arg(0), scratch, os.Stdout)
}

// named is what a version may look like: it becomes part of file names.
var named = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
