package worker

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/needed"
	"github.com/carillon-scheduler/carillon/job"
)

// example starts one of the examples. When this machine lacks a program, it skips the test, or fails
// it where nothing may be left out.
func example(t *testing.T, file string, programs ...string) func(handler string, params any) executor.Rehearsed {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if !needed.All() {
				t.Skipf("LEFT OUT: the example %s needs %s, which is not on the PATH", file, program)
			}
			t.Fatalf("the example %s needs %s, which is not on the PATH; Debian has it in the packages php-cli and jq", file, program)
		}
	}
	w := newWorld(t, func(c *Config) {
		c.Command = []string{programs[0], filepath.Join("..", "..", "examples", "worker", file)}
	})
	return func(handler string, params any) executor.Rehearsed {
		t.Helper()
		return w.rehearse(context.WithoutCancel(t.Context()), handler, params, nil)
	}
}

func TestTheExampleInShellWorks(t *testing.T) {
	do := example(t, "worker.sh", "sh", "jq")
	r := do("greet", map[string]any{"name": `Ann "the boss"`})
	if want(t, r, job.StatusSucceeded, ""); string(r.Result) != `{"text":"Hello, Ann \"the boss\"!"}` {
		t.Errorf("result %s", r.Result)
	}
	if text := logOf(r); text != "stdout info: greeting Ann \"the boss\"\n" {
		t.Errorf("log\n%s", text)
	}
	r = do("check-disk", nil)
	if want(t, r, job.StatusSucceeded, ""); len(r.Result) == 0 || strings.Trim(string(r.Result), "0123456789") != "" {
		t.Errorf("result %s", r.Result)
	}
	r = do("check-disk", map[string]any{"path": "/nowhere"})
	if want(t, r, job.StatusFailed, "check-disk failed with exit code 1"); !strings.Contains(logOf(r), "stderr warn: df: ") {
		t.Errorf("log\n%s", logOf(r))
	}
}

func TestTheExampleInPHPWorks(t *testing.T) {
	do := example(t, "worker.php", "php")
	r := do("greet", map[string]any{"name": "Änn"})
	if want(t, r, job.StatusSucceeded, ""); string(r.Result) != `{"text":"Hello, Änn!"}` {
		t.Errorf("result %s", r.Result)
	}
	if text := logOf(r); text != "log info: greeting Änn\n" {
		t.Errorf("log\n%s", text)
	}
	r = do("report", map[string]any{"rows": 4})
	if want(t, r, job.StatusSucceeded, ""); string(r.Result) != `{"rows":4,"day":"2026-01-05"}` || len(r.Progress) != 4 || r.Progress[0].Percent != 25 {
		t.Errorf("result %s, progress %v", r.Result, r.Progress)
	}
	r = do("report", map[string]any{"rows": "many"})
	if want(t, r, job.StatusFailed, "rows must be a whole number"); !r.Final {
		t.Error("the failure is not final")
	}
}
