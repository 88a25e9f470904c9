package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// parts is the folder with what GoReleaser adds to its own files. It empties dist itself.
const parts = ".release"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) >= 1 && args[0] == "build":
		return build(ctx, args[1:])
	case len(args) >= 2 && args[0] == "verify":
		flags := flag.NewFlagSet("verify", flag.ContinueOnError)
		key := flags.String("key", "", "file with the public key; that of the release if empty")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return verify(ctx, flags.Arg(0), *key)
	case len(args) == 3 && args[0] == "sign":
		return sign(args[1], args[2])
	case len(args) == 3 && args[0] == "attest":
		s, err := readSource(ctx)
		if err != nil {
			return err
		}
		return attest(s, args[1], args[2])
	}
	return errors.New("want build, verify DIR, sign FILE SIGNATURE or attest CHECKSUMS FILE")
}

// build makes the parts, has GoReleaser build the rest, and checks the result.
func build(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	snapshot := flags.Bool("snapshot", false, "build from any commit, publish nothing, and sign with a new key unless one is given")
	here := flags.Bool("here", false, "build the archive and the image for this machine alone, and the files of deploy: a part of a snapshot, in a minute")
	releaser := flags.String("goreleaser", "goreleaser", "the GoReleaser to run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := readSource(ctx)
	if err != nil {
		return err
	}
	if *here {
		return buildHere(ctx, s)
	}
	if os.Getenv(keyVariable) == "" && *snapshot {
		if err := useNewKey(); err != nil {
			return err
		}
	}
	key, err := releaseKey()
	if err != nil {
		return err
	}
	if s.version == "" && !*snapshot {
		return errors.New("this commit has no tag such as v1.2.3; try -snapshot")
	}
	if err := makeEmpty(parts); err != nil {
		return err
	}
	if err := writePublicKey(filepath.Join(parts, publicKeyFile), key); err != nil {
		return err
	}
	if err := writeConsoleSBOM(ctx, filepath.Join(parts, "carillon-console.cdx.json")); err != nil {
		return err
	}
	if err := writeImageAndDeploy(ctx, s, imageArchitectures...); err != nil {
		return err
	}
	command := []string{*releaser, "release", "--clean"}
	if *snapshot {
		command = append(command, "--snapshot")
	}
	if err := show(ctx, nil, command...); err != nil {
		return err
	}
	if err := moveParts(); err != nil {
		return err
	}
	return verify(ctx, "dist", "")
}

// buildHere builds what the tests of a check try: the parts for this machine, and its archive.
func buildHere(ctx context.Context, s source) error {
	for _, folder := range []string{parts, "dist"} {
		if err := makeEmpty(folder); err != nil {
			return err
		}
	}
	if err := writeImageAndDeploy(ctx, s, runtime.GOARCH); err != nil {
		return err
	}
	name := strings.Join([]string{"carillon", s.name(), "linux", runtime.GOARCH}, "_")
	program, err := buildProgram(ctx, parts, runtime.GOARCH)
	if err != nil {
		return err
	}
	if err := writeArchive(filepath.Join(parts, name+".tar.gz"), name+"/carillon", program, s.at); err != nil {
		return err
	}
	return moveParts()
}

func writeImageAndDeploy(ctx context.Context, s source, architectures ...string) error {
	digest, err := writeImage(ctx, parts, s, architectures...)
	if err != nil {
		return err
	}
	return writeDeploy(filepath.Join(parts, deployFile), "deploy", s, digest)
}

// makeEmpty makes a folder that has nothing in it.
func makeEmpty(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.MkdirAll(folder, 0o755) //nolint:gosec // no secret
}

// moveParts puts what GoReleaser did not make beside what it made.
func moveParts() error {
	files, err := os.ReadDir(parts)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Rename(filepath.Join(parts, f.Name()), filepath.Join("dist", f.Name())); err != nil {
			return err
		}
	}
	return os.Remove(parts)
}

// source is the commit that a release is built from.
type source struct {
	version string // of its tag, without v; "" if it has none
	commit  string
	at      time.Time
}

func readSource(ctx context.Context) (s source, err error) {
	if s.commit, err = output(ctx, "git", "rev-parse", "HEAD"); err != nil {
		return s, err
	}
	at, err := output(ctx, "git", "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return s, err
	}
	if s.at, err = time.Parse(time.RFC3339, at); err != nil {
		return s, fmt.Errorf("time of the commit: %w", err)
	}
	tags, err := output(ctx, "git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*")
	if err != nil {
		return s, err
	}
	tag, _, _ := strings.Cut(tags, "\n")
	s.version = strings.TrimPrefix(tag, "v")
	return s, nil
}

// name is the version, or what stands for it in a snapshot.
func (s source) name() string {
	if s.version != "" {
		return s.version
	}
	return "snapshot-" + s.commit[:12]
}

func output(ctx context.Context, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // fixed words, or a file of the release
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// show runs a command with more in its environment, and shows what it prints.
func show(ctx context.Context, env []string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // fixed words
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return nil
}
