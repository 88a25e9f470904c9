package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	repository = "https://github.com/carillon-scheduler/carillon"
	imageName  = "ghcr.io/carillon-scheduler/carillon"
	imageFile  = "carillon-image.oci.tar"
)

// nobody is the user that the image runs as, the same as in deploy/Dockerfile.
const nobody = 65532

var imageArchitectures = []string{"amd64", "arm64"}

// writeImage writes an OCI archive of the server's image, and returns the digest of its index.
// The image has the program, certificate authorities and an unprivileged user, and nothing
// else: no base image, no shell.
func writeImage(ctx context.Context, dir string, s source, architectures ...string) (digest string, err error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range architectures {
		text, err := buildProgram(ctx, dir, arch)
		if err != nil {
			return "", err
		}
		image, err := imageOf(text, arch, s)
		if err != nil {
			return "", err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	hash, err := index.Digest()
	if err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp("", "carillon-image-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	path, err := layout.Write(temp, empty.Index)
	if err != nil {
		return "", err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": s.name()})); err != nil {
		return "", err
	}
	return hash.String(), archiveFolder(filepath.Join(dir, imageFile), os.DirFS(temp), s.at)
}

// buildProgram builds the program for Linux with a file in a folder.
func buildProgram(ctx context.Context, dir, arch string) ([]byte, error) {
	program := filepath.Join(dir, "carillon-"+arch)
	// The same flags as in .goreleaser.yaml: verify compares the programs.
	env := []string{"GOOS=linux", "GOARCH=" + arch, "CGO_ENABLED=0"}
	if err := show(ctx, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, "./cmd/carillon"); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(program) //nolint:gosec // was just built
	if err != nil {
		return nil, err
	}
	return text, os.Remove(program)
}

func imageOf(program []byte, arch string, s source) (v1.Image, error) {
	text, err := rootFiles(program, s.at)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{
		Created: v1.Time{Time: s.at}, CreatedBy: "internal/release of carillon, " + runtime.Version(),
	}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", arch, v1.Time{Time: s.at}
	file.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", nobody, nobody),
		WorkingDir:   "/var/lib/carillon",
		Entrypoint:   []string{"/usr/bin/carillon"},
		Cmd:          []string{"server"},
		Env:          []string{"PATH=/usr/bin", "HOME=/var/lib/carillon", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		ExposedPorts: map[string]struct{}{"8822/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "carillon",
			"org.opencontainers.image.source":   repository,
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.version":  s.name(),
			"org.opencontainers.image.revision": s.commit,
			"org.opencontainers.image.created":  s.at.UTC().Format(time.RFC3339),
		},
	}
	return mutate.ConfigFile(image, file)
}

// rootFiles returns a tar archive of all files that the image has.
func rootFiles(program []byte, at time.Time) ([]byte, error) {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // a file of certificates cannot say for what an authority counts
		}
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name string
		mode int64
		uid  int
		text []byte
	}{
		{"etc/", 0o755, 0, nil},
		{"etc/passwd", 0o644, 0, fmt.Appendf(nil, "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/var/lib/carillon:/sbin/nologin\n", nobody, nobody)},
		{"etc/group", 0o644, 0, fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", nobody)},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots.Bytes()},
		{"tmp/", 0o1777, 0, nil},
		{"usr/", 0o755, 0, nil},
		{"usr/bin/", 0o755, 0, nil},
		{"usr/bin/carillon", 0o755, 0, program},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{"var/lib/carillon/", 0o755, nobody, nil}, // a volume that is mounted here gets the owner of this folder
	} {
		header := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.uid, Gid: f.uid, Size: int64(len(f.text)), ModTime: at, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

// archiveFolder writes the files of a folder into a tar archive, in the order of their names.
func archiveFolder(file string, folder fs.FS, at time.Time) (err error) {
	out, err := os.Create(file) //nolint:gosec // in our folder
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: at}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
