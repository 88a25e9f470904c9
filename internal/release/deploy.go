package main

import (
	"archive/tar"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"time"
)

const deployFile = "carillon-deploy.tar.gz"

// ofServer is where a file of deploy names the server's image.
var ofServer = regexp.MustCompile(`(?m)^(\s*image: )carillon(:latest)?$`)

// ofBuild is where Compose is told to build that image from a checkout.
var ofBuild = regexp.MustCompile(`(?m)^\s*build: .*target: server.*\n`)

// ofStages is what deploy/Dockerfile builds from a checkout: the program, and the server's image.
var ofStages = regexp.MustCompile(`(?ms)^#[^\n]*--target server[^\n]*\n|^FROM golang:.*^CMD \["server"\]\n\n`)

// ofStage is where the executor's image takes its files from the server's.
var ofStage = regexp.MustCompile(`(?m)^(COPY --from=)server `)

// pin makes a file of deploy name the server's image by its digest, so that it needs no checkout.
func pin(text []byte, s source, digest string) []byte {
	image := imageName + ":" + s.name() + "@" + digest
	text = ofStages.ReplaceAll(ofBuild.ReplaceAll(text, nil), nil)
	text = ofStage.ReplaceAll(text, []byte("${1}"+image+" "))
	return ofServer.ReplaceAll(text, []byte("${1}"+image))
}

// writeDeploy writes an archive of the folder deploy, in which the server's image has its digest.
func writeDeploy(file, folder string, s source, digest string) (err error) {
	out, err := os.Create(file) //nolint:gosec // in our folder
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(out)
	w := tar.NewWriter(packed)
	root := os.DirFS(folder)
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "secrets": // which setup.sh made here
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		text = pin(text, s, digest)
		mode := int64(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := w.WriteHeader(&tar.Header{Name: path.Join("deploy", name), Mode: mode, Size: int64(len(text)), ModTime: s.at}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	for _, end := range []func() error{w.Close, packed.Close, out.Close} {
		if failed := end(); err == nil {
			err = failed
		}
	}
	return err
}

// writeArchive writes an archive of one program.
func writeArchive(file, name string, program []byte, at time.Time) (err error) {
	out, err := os.Create(file) //nolint:gosec // in our folder
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(out)
	w := tar.NewWriter(packed)
	if err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(program)), ModTime: at}); err == nil {
		_, err = w.Write(program)
	}
	for _, end := range []func() error{w.Close, packed.Close, out.Close} {
		if failed := end(); err == nil {
			err = failed
		}
	}
	return err
}
