//go:build unix

package processgroup_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/processgroup"
)

func TestAGroupWhoseFirstProcessHasEndedIsTerminatedButDone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sleep 600 & exit 0")
	cmd.Stdout = w
	processgroup.Set(cmd)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if err := processgroup.Terminate(cmd.Process); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Terminate returned %v, want %v", err, os.ErrProcessDone)
	}
	if _, err := r.Read(make([]byte, 1)); err == nil { // the end of what the child held open
		t.Error("the child has written")
	}
}
