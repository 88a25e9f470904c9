//go:build unix

package processtest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// bin is the folder of the built programs, and packages what they are built from. Main sets both.
var (
	bin      string
	packages []string
)

// Main runs the tests of a package, which start programs of these packages.
func Main(m *testing.M, programs ...string) (code int) {
	var err error
	if bin, err = os.MkdirTemp("", "carillon-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(bin) }()
	packages = programs
	return m.Run()
}

// Folder returns the folder of the programs, which is gone after the tests.
func Folder() string { return bin }

// build builds the programs at the first call, so that a run without these tests
// does not wait for it.
var build = sync.OnceValue(func() error {
	root, err := exec.Command("go", "list", "-f", "{{.Module.Dir}}", packages[0]).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	if err := seeSources(strings.TrimSpace(string(root))); err != nil {
		return err
	}
	out, err := exec.Command("go", append([]string{"build", "-o", bin + string(filepath.Separator)}, packages...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})

// seeSources reads the folders that the programs are built from. go test takes note
// of it; else it would not know what a result depends on, and serve a stale one.
func seeSources(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		return err
	})
}

// Program returns the path of a built program, which is named after its package.
func Program(t *testing.T, name string) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(bin, name)
}
