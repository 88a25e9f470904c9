package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// verify checks a folder with a release: that the key signed its checksums and its statement,
// that each file is what they say, that each archive has the program, that the image has the
// same programs, and that the one for this machine prints the release's commit.
func verify(ctx context.Context, dir, keyFile string) error {
	if keyFile == "" {
		keyFile = filepath.Join(dir, publicKeyFile)
	}
	key, err := readPublicKey(keyFile)
	if err != nil {
		return err
	}
	names, err := verifyFiles(dir, key)
	if err != nil {
		return err
	}
	programs := map[string][]byte{} // by system and architecture
	for _, name := range names {
		target, is := archiveTarget(name)
		if !is {
			continue
		}
		if programs[target], err = programIn(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(programs) == 0 {
		return errors.New("there is no archive")
	}
	if err := verifyImage(filepath.Join(dir, imageFile), programs); err != nil {
		return fmt.Errorf("%s: %w", imageFile, err)
	}
	here := runtime.GOOS + "_" + runtime.GOARCH
	text, ok := programs[here]
	if !ok {
		return fmt.Errorf("there is no archive for %s", here)
	}
	said, err := versionOf(ctx, text)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "release: %d files verify, programs for %d systems; carillon version: %s\n", len(names), len(programs), said)
	return nil
}

// verifyFiles returns the names of the files that the signed checksums have.
func verifyFiles(dir string, key ed25519.PublicKey) (names []string, err error) {
	list, err := os.ReadFile(filepath.Join(dir, "checksums.txt")) //nolint:gosec // what the caller names
	if err != nil {
		return nil, err
	}
	mark, err := os.ReadFile(filepath.Join(dir, "checksums.txt.sig")) //nolint:gosec // what the caller names
	if err != nil {
		return nil, err
	}
	if !ed25519.Verify(key, list, mark) {
		return nil, errors.New("checksums.txt.sig is not the key's signature of checksums.txt")
	}
	attested, err := os.ReadFile(filepath.Join(dir, "provenance.intoto.jsonl")) //nolint:gosec // what the caller names
	if err != nil {
		return nil, err
	}
	st, err := openEnvelope(attested, key)
	if err != nil {
		return nil, fmt.Errorf("provenance.intoto.jsonl: %w", err)
	}
	for sum, err := range readChecksums(list) {
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(dir, sum.name)) //nolint:gosec // a name without a path
		if err != nil {
			return nil, err
		}
		if is := sha256.Sum256(text); hex.EncodeToString(is[:]) != sum.sha256 {
			return nil, fmt.Errorf("%s is not the file that was signed", sum.name)
		}
		if !slices.ContainsFunc(st.Subject, func(s subject) bool { return s.Name == sum.name && s.Digest["sha256"] == sum.sha256 }) {
			return nil, fmt.Errorf("the provenance has no %s", sum.name)
		}
		names = append(names, sum.name)
	}
	return names, nil
}

// archiveTarget returns for which system and architecture an archive is.
func archiveTarget(name string) (target string, is bool) {
	base, is := strings.CutSuffix(name, ".tar.gz")
	if !is {
		base, is = strings.CutSuffix(name, ".zip")
	}
	words := strings.Split(base, "_")
	if !is || len(words) < 3 {
		return "", false
	}
	return strings.Join(words[len(words)-2:], "_"), true
}

// programIn returns the program that an archive has.
func programIn(file string) ([]byte, error) {
	text, err := os.ReadFile(file) //nolint:gosec // what the caller names
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(file, ".zip") {
		files, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return nil, err
		}
		for _, f := range files.File {
			if path.Base(f.Name) != "carillon.exe" {
				continue
			}
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		}
		return nil, errors.New("it has no carillon.exe")
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return fileIn(unpacked, "carillon")
}

// fileIn returns the file of a tar archive whose path ends in name.
func fileIn(archive io.Reader, name string) ([]byte, error) {
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("it has no %s", name)
		}
		if err != nil {
			return nil, err
		}
		if path.Base(header.Name) == name && header.Typeflag == tar.TypeReg {
			return io.ReadAll(r)
		}
	}
}

// verifyImage wants the image to have the programs of the archives.
func verifyImage(file string, programs map[string][]byte) error {
	dir, err := os.MkdirTemp("", "carillon-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := unpack(file, dir); err != nil {
		return err
	}
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return err
	}
	list, err := top.IndexManifest()
	if err != nil {
		return err
	}
	if len(list.Manifests) != 1 {
		return fmt.Errorf("it has %d images, want one", len(list.Manifests))
	}
	index, err := top.ImageIndex(list.Manifests[0].Digest)
	if err != nil {
		return err
	}
	of, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range of.Manifests {
		if err := verifyPlatform(index, d, programs); err != nil {
			return fmt.Errorf("%s: %w", d.Platform, err)
		}
	}
	if len(of.Manifests) != len(imageArchitectures) {
		return fmt.Errorf("it is for %d architectures, want %d", len(of.Manifests), len(imageArchitectures))
	}
	return nil
}

func verifyPlatform(index v1.ImageIndex, d v1.Descriptor, programs map[string][]byte) error {
	image, err := index.Image(d.Digest)
	if err != nil {
		return err
	}
	files := mutate.Extract(image) // checks the digests of what it reads
	defer func() { _ = files.Close() }()
	text, err := fileIn(files, "carillon")
	if err != nil {
		return err
	}
	if !bytes.Equal(text, programs[d.Platform.OS+"_"+d.Platform.Architecture]) {
		return errors.New("its program is not that of the archive")
	}
	return nil
}

// unpack unpacks a tar archive of ours.
func unpack(file, dir string) error {
	in, err := os.Open(file) //nolint:gosec // what the caller names
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(header.Name, text, 0o600); err != nil {
			return err
		}
	}
}

// versionOf runs a program, and returns the version that it prints. The commit has to be that
// of the current folder.
func versionOf(ctx context.Context, program []byte) (string, error) {
	dir, err := os.MkdirTemp("", "carillon-release-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "carillon")
	if err := os.WriteFile(file, program, 0o700); err != nil { //nolint:gosec // has to be run
		return "", err
	}
	text, err := output(ctx, file, "version", "--client", "--output", "json")
	if err != nil {
		return "", err
	}
	var said struct{ Client, Commit, Date string }
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return "", err
	}
	s, err := readSource(ctx)
	if err != nil {
		return "", err
	}
	if said.Commit != s.commit {
		return "", fmt.Errorf("the program is of commit %q, want %s", said.Commit, s.commit)
	}
	if version, _, _ := strings.Cut(said.Client, " "); s.version != "" && version != "v"+s.version {
		return "", fmt.Errorf("the program says that it is %s, want v%s", version, s.version)
	}
	return strings.Join([]string{said.Client, said.Commit, said.Date}, ", "), nil
}
