package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAProcessAndItsChildrenCount(t *testing.T) {
	s := &server{cmd: exec.CommandContext(t.Context(), "/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo; read line")}
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	before, err := cpuOfAll(&server{cmd: &exec.Cmd{Process: &os.Process{Pid: -1}}}) // of none
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if with, err := cpuOfAll(s); err != nil || with < before+10*time.Millisecond {
		t.Errorf("%v with a shell that has worked, %v before (%v)", with, before, err)
	}
	_ = stdin.Close()
	_ = s.cmd.Wait() // read has found no line
}

func TestTheTimesOfAProcessAreReadBehindItsName(t *testing.T) {
	pid, parent, cpu, err := parseStat("42 (a) b (c) S 7 42 42 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 5\n")
	if pid != 42 || parent != 7 || cpu != time.Second || err != nil {
		t.Errorf("process %d of %d has used %v (%v); want 42 of 7, 1s", pid, parent, cpu, err)
	}
	for _, line := range []string{"", "1 (a) S 2", "x (a) S 7 42 42 0 -1 4194304 1 2 3 4 10 20 30 40 20"} {
		if _, _, _, err := parseStat(line); err == nil {
			t.Errorf("%q has no error", line)
		}
	}
}

func TestRoundsGoInTurnsAndTheMedianCounts(t *testing.T) {
	var order []string
	one := func(name string, rates ...int) peer {
		return peer{name, "", func(_ context.Context, _ string, jobs int) (result, error) {
			order = append(order, name)
			took := time.Second * time.Duration(jobs) / time.Duration(rates[0])
			rates = rates[1:]
			return result{jobs: jobs, took: took}, nil
		}}
	}
	if err := compare(t.Context(), []peer{one("a", 30, 10, 20), one("b", 1, 1, 1)}, 60, 3); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "ababab" {
		t.Errorf("they were measured in the order %s", got)
	}
	results := []result{{jobs: 60, took: 2 * time.Second}, {jobs: 60, took: 6 * time.Second}, {jobs: 60, took: 3 * time.Second}}
	if got := median(results, result.rate); got != 20 {
		t.Errorf("the median is %v, want 20", got)
	}
}

func TestTheConfigurationHasTheLineThatIsReplaced(t *testing.T) {
	file, err := withSync(filepath.Join("..", "..", "..", "nats.conf"), t.TempDir(), "always")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), "\n  sync_interval: always\n") {
		t.Errorf("no such line in %s (%v)", file, err)
	}
}
