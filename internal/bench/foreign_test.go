//go:build unix

package bench

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v4/process"
)

func TestAForeignExecutorThatEndsIsNamed(t *testing.T) {
	w, err := newBenchWorld(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if _, err = w.startForeign(t.Context(), "exit 3", 2, 1); err == nil || !strings.Contains(err.Error(), `"exit 3" ended before it was online`) {
		t.Errorf("got %v", err)
	}
}

// The shell's child has used CPU until it says so; it lives until its standard input ends.
func TestTheCPUOfAProcessIsThatOfItsChildrenToo(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `(i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo done; read line); true`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	p, err := process.NewProcess(int32(cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	own, err := p.Times()
	if err != nil {
		t.Fatal(err)
	}
	if all := cpuOfTree(p).Seconds(); all <= own.User+own.System {
		t.Errorf("%v s with children, and %v s alone", all, own.User+own.System)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
