package shell_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
	"github.com/carillon-scheduler/carillon/runner/shell"
)

func TestATimeoutEndsAChildThatHasLeftTheGroupAndItsParents(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	// The subshell ends at once, so that nothing leads from the task to the child.
	script := `mkfifo up; (nohup setsid sh -c 'exec 3> ` + child.path + `; echo >up; sleep 600' >/dev/null 2>&1 &); read -r x <up; echo up; sleep 600`
	e, _ := overdue(w, script)
	runnertest.WantEnd(t, e, job.StatusTimedOut, 143, "timeout")
	child.wantCut()
}

// It holds the output, so that the run has not ended when the task has.
func TestATimeoutEndsAChildThatHasLeftTheGroupOfATaskThatHasEnded(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	script := `setsid sh -c 'exec 3> ` + child.path + `; echo up; sleep 600' & exit 0`
	e, _ := overdue(w, script, func(t *bus.Trigger) { t.KillGrace = 2 * t.Timeout })
	runnertest.WantEnd(t, e, job.StatusTimedOut, 0, "timeout")
	child.wantCut()
}

// It prints on while it is found out why the task has failed.
func TestTheEndOfTheOutputIsReadThoughAChildThatHasLeftTheGroupPrintsOn(t *testing.T) {
	w := runnertest.New(t, executor.Config{MaxLogLines: 1}, func(e *executor.Executor) {
		shell.Register(e, shell.Config{KillAfter: time.Millisecond, TempDir: t.TempDir()})
	})
	script := `mkfifo up; setsid sh -c 'echo >up; while echo an error >&2; do :; done' & read -r x <up; exit 3`
	for range 3 {
		e, _ := w.Run(sh(script))
		runnertest.WantEnd(t, e, job.StatusFailed, 3, "an error")
	}
}

// The id of a run follows from its job and its fire time: two clusters that have the same job have
// runs with the same ids.
func TestATimeoutSparesARunOfTheSameIDFromAnotherCluster(t *testing.T) {
	clusterOf := func() *runnertest.World {
		return runnertest.New(t, executor.Config{Instance: "one"}, func(e *executor.Executor) { shell.Register(e, shell.Config{}) })
	}
	over := filepath.Join(t.TempDir(), "over")
	staging, production := clusterOf(), clusterOf()
	paid := production.Begin(sh("echo up; while [ ! -e " + over + " ]; do sleep 0.02; done"))
	production.Line()
	tried := staging.Begin(sh("sleep 600"), runnertest.Timeout(2*time.Second))
	if tried.RunID != paid.RunID {
		t.Fatalf("the runs are %s and %s", tried.RunID, paid.RunID)
	}
	runnertest.WantEnd(t, staging.End(), job.StatusTimedOut, 143, "timeout")
	if err := os.WriteFile(over, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runnertest.WantEnd(t, production.End(), job.StatusSucceeded, 0, "")
}
