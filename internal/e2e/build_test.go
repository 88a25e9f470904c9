//go:build unix

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/chserver"
)

// bin is the folder of the built programs, made by TestMain.
var bin string

func TestMain(m *testing.M) {
	chserver.ServeIfAsked()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if bin, err = os.MkdirTemp("", "carillon-e2e-"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(bin) }()
	return m.Run(), nil
}

// build builds the programs at the first call, so that a run without these tests
// does not wait for it.
var build = sync.OnceValue(func() error {
	if err := seeSources(); err != nil {
		return err
	}
	command := []string{"build", "-o", bin + string(filepath.Separator)}
	for _, folder := range []string{"cmd/carillon", "internal/e2e/natsd", "internal/e2e/mortal", "internal/e2e/load"} {
		command = append(command, "github.com/carillon-scheduler/carillon/"+folder)
	}
	out, err := exec.Command("go", command...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})

// seeSources reads the folders that the programs are built from. go test takes note
// of it; else it would not know what a result depends on, and serve a stale one.
func seeSources() error {
	return filepath.WalkDir(filepath.Join("..", ".."), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		return err
	})
}

// program returns the path of a built program.
func program(t *testing.T, name string) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(bin, name)
}
