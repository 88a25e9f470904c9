//go:build unix

package shell_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
	"github.com/carillon-scheduler/carillon/runner/shell"
)

func TestOnlyWhatDeadExecutorsLeftLongAgoIsRemoved(t *testing.T) {
	temp := t.TempDir()
	w := runnertest.New(t, executor.Config{}, func(e *executor.Executor) {
		shell.Register(e, shell.Config{TempDir: temp})
	})
	w.Begin(sh(`dirname "$PWD"; while [ ! -e over ]; do sleep 0.02; done`))
	inUse := w.Line().Text
	old := time.Now().Add(-25 * time.Hour)
	left, fresh, other := filepath.Join(temp, "carillon-run-1"), filepath.Join(temp, "carillon-run-2"), filepath.Join(temp, "else")
	anybodys := filepath.Join(temp, "carillon-run-3")
	for _, dir := range []string{left, fresh, other, anybodys} {
		if err := os.MkdirAll(filepath.Join(dir, "work", "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(anybodys, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{left, other, inUse, anybodys} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := shell.RemoveLeftovers(temp); n != 1 || err != nil {
		t.Errorf("removed %d, %v; want 1", n, err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what was left behind is still there: %v", err)
	}
	for _, dir := range []string{fresh, other, inUse, anybodys} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(inUse, "work", "over"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.End()
}
