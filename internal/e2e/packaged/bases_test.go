//go:build linux

package packaged

import (
	"archive/tar"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The images of others that deploy names, and what stands for them here.
const (
	debianImage     = "docker.io/library/debian:bookworm-slim"
	natsImage       = "docker.io/library/nats:2.15"
	clickhouseImage = "docker.io/clickhouse/clickhouse-server:26.2"
)

// has reports whether there is an image of that name.
func (e *engine) has(image string) bool { return e.command("image", "exists", image).Run() == nil }

// add makes an image of a tar archive of its files.
func (e *engine) add(t *testing.T, image string, files io.Reader, changes ...string) {
	t.Helper()
	args := []string{"import", "--quiet"}
	for _, c := range changes {
		args = append(args, "--change", c)
	}
	cmd := e.command(append(args, "-", image)...)
	cmd.Stdin = files
	output(t, cmd)
}

// addFiles makes an image of files, which are programs of everybody.
func (e *engine) addFiles(t *testing.T, image string, files map[string][]byte, changes ...string) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	w := tar.NewWriter(file)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	e.add(t, image, file, changes...)
}

// build builds an image from a file of instructions and a folder. Steps use this machine's network:
// they install Debian's packages.
func (e *engine) build(t *testing.T, image, file, folder string, options ...string) {
	t.Helper()
	args := append([]string{"build", "--pull=never", "--isolation", "chroot", "--network", "host", "--tag", image, "--file", file}, options...)
	output(t, e.command(append(args, folder)...))
}

// addDebian makes the image of Debian.
func (e *engine) addDebian(t *testing.T) {
	t.Helper()
	if e.has(debianImage) {
		return
	}
	files, err := os.Open(debian(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	e.add(t, debianImage, files, `CMD ["bash"]`)
}

// built builds a program of a package, and returns it.
func built(t *testing.T, pkg string, env ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", "build", "-o", file, pkg)
	cmd.Env = append(os.Environ(), env...)
	output(t, cmd)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
