package shell_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
)

func TestATimeoutEndsAChildThatHasLeftTheGroupAndItsParents(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	// The subshell ends at once, so that nothing leads from the task to the child.
	script := `(nohup setsid sh -c 'exec 3> ` + child.path + `; sleep 600' >/dev/null 2>&1 &); sleep 600`
	e, _ := w.Run(sh(script), runnertest.Timeout(begun))
	runnertest.WantEnd(t, e, job.StatusTimedOut, 143, "timeout")
	child.wantCut()
}
