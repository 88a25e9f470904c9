//go:build unix

package shell_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
	"github.com/carillon-scheduler/carillon/runner/shell"
)

func newWorld(t *testing.T) *runnertest.World {
	t.Helper()
	return runnertest.New(t, executor.Config{}, func(e *executor.Executor) {
		shell.Register(e, shell.Config{KillAfter: 300 * time.Millisecond, TempDir: t.TempDir()})
	})
}

func sh(script string) job.Task { return job.Task{Shell: script} }

func TestTheExitCodeDecides(t *testing.T) {
	w := newWorld(t)
	ends := func(task job.Task, status job.Status, code int, message, text string) {
		t.Helper()
		e, got := w.Run(task)
		runnertest.WantEnd(t, e, status, code, message)
		if got != text {
			t.Errorf("printed %q, want %q", got, text)
		}
	}
	ends(sh("echo hello; printf rest"), job.StatusSucceeded, 0, "", "stdout: hello\nstdout: rest\n")
	ends(sh("exit 3"), job.StatusFailed, 3, "exit code 3", "")
	ends(sh("kill -9 $$"), job.StatusFailed, 137, "killed by signal: killed", "")
	ends(job.Task{Command: []string{"echo", "a  b", "$HOME"}}, job.StatusSucceeded, 0, "", "stdout: a  b $HOME\n")
	ends(job.Task{Shell: "cat", Stdin: "in\nput"}, job.StatusSucceeded, 0, "", "stdout: in\nstdout: put\n")
	ends(sh("cat"), job.StatusSucceeded, 0, "", "") // its input is empty, not the terminal
	ends(sh("./nosuchprogram"), job.StatusFailed, 127, "exit code 127", "stderr: g/job: 1: ./nosuchprogram: not found\n")
}

func TestATaskKnowsItsRun(t *testing.T) {
	w := newWorld(t)
	task := sh(`echo "$CARILLON_RUN_ID $CARILLON_JOB $CARILLON_VERSION $CARILLON_CAUSE $CARILLON_FIRE_TIME $CARILLON_ATTEMPT $CARILLON_DELIVERY $CARILLON_PARAMS $CARILLON_STEP $OWN"`)
	task.Env = map[string]string{"OWN": "mine", "CARILLON_JOB": "forged/one"}
	e, got := w.Run(task, func(t *bus.Trigger) { t.Params, t.Attempt, t.Step = []byte(`{"a": "b"}`), 2, "load" })
	want := fmt.Sprintf("stdout: %s g/job 3 schedule 2026-01-05T02:00:01.000Z 2 1 {\"a\":\"b\"} load mine\n", e.RunID)
	if got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestATaskRunsInItsDirectoryOrAFreshOne(t *testing.T) {
	w := newWorld(t)
	own, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	task := sh("pwd; ls -A; echo x > file")
	_, fresh := w.Run(task)
	fresh = strings.TrimSuffix(strings.TrimPrefix(fresh, "stdout: "), "\n")
	if _, err := os.Stat(fresh); !os.IsNotExist(err) || !strings.Contains(fresh, "carillon-run-") {
		t.Errorf("the fresh directory %q: %v, want it gone", fresh, err)
	}
	task.Dir = own
	if _, got := w.Run(task); got != "stdout: "+own+"\n" {
		t.Errorf("printed %q, want %q", got, own)
	}
	if _, err := os.Stat(filepath.Join(own, "file")); err != nil {
		t.Error(err)
	}
}

func TestATaskThatCannotStartSaysWhy(t *testing.T) {
	w := newWorld(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails := func(task job.Task, message string) {
		t.Helper()
		e, _ := w.Run(task)
		runnertest.WantEnd(t, e, job.StatusFailed, -1, message)
	}
	fails(job.Task{Command: []string{"no-such-program"}}, `start "no-such-program": there is no such program in the executor's PATH`)
	fails(job.Task{Command: []string{"/no/such"}}, `start "/no/such": there is no such file`)
	fails(job.Task{Command: []string{plain}}, "not executable")
	fails(job.Task{Shell: "true", Dir: "/no/such"}, `task.dir "/no/such" does not exist`)
	fails(job.Task{Shell: "true", Dir: plain}, "is not a directory")
}

func TestLinesComeAsTheyArePrinted(t *testing.T) {
	w := newWorld(t)
	fifo := filepath.Join(t.TempDir(), "go-on")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Begin(sh("echo first; read x < " + fifo + "; echo $x >&2"))
	if l := w.Line(); l.Text != "first" {
		t.Errorf("line %q, want first", l.Text)
	}
	// The task waits for this, so the line above came while it ran.
	if err := os.WriteFile(fifo, []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := w.Line(); l.Text != "second" || l.Output != bus.OutputStderr || l.Level != bus.LevelWarn {
		t.Errorf("line %v, want second on stderr", l)
	}
	runnertest.WantEnd(t, w.End(), job.StatusSucceeded, 0, "")
}

// lifeline is a file that a process opens to be watched: whoever reads it waits until
// all who have it open have ended.
type lifeline struct {
	t    *testing.T
	path string
	over chan error
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	l := &lifeline{t, filepath.Join(t.TempDir(), "lifeline"), make(chan error, 1)}
	if err := syscall.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := os.ReadFile(l.path)
		l.over <- err
	}()
	return l
}

// wantCut waits until the processes have ended.
func (l *lifeline) wantCut() {
	l.t.Helper()
	select {
	case err := <-l.over:
		if err != nil {
			l.t.Error(err)
		}
	case <-time.After(5 * time.Minute): // no machine is as slow
		l.t.Error("a process of the task outlived the run, or none has had the lifeline")
	}
}

// overdue runs a script that prints "up" when it is where its timeout is to end it. On a busy machine the
// timeout may come before that: then the script runs again, with a longer one.
func overdue(w *runnertest.World, script string, change ...func(*bus.Trigger)) (*bus.Event, string) {
	for timeout := 2 * time.Second; ; timeout *= 2 {
		e, text := w.Run(sh(script), append([]func(*bus.Trigger){runnertest.Timeout(timeout)}, change...)...)
		if strings.Contains(text, "stdout: up\n") || timeout > time.Minute {
			return e, text
		}
	}
}

func TestATimeoutEndsTheTaskAndAllItsChildren(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	script := `exec 3> ` + child.path + `; sh -c 'trap "" TERM; echo up; while :; do sleep 0.05; done' & wait`
	e, _ := overdue(w, script)
	runnertest.WantEnd(t, e, job.StatusTimedOut, 143, "took longer than its timeout of ")
	child.wantCut()
}

func TestSIGTERMComesFirstAndSIGKILLToThoseWhoIgnoreIt(t *testing.T) {
	w := newWorld(t)
	e, text := overdue(w, `trap 'echo cleaned up; exit 0' TERM; echo up; while :; do sleep 0.02; done`, func(t *bus.Trigger) { t.KillGrace = job.Duration(time.Minute) })
	runnertest.WantEnd(t, e, job.StatusTimedOut, 0, "timeout") // though it says that all is well
	if !strings.Contains(text, "stdout: cleaned up\n") {
		t.Errorf("printed %q", text)
	}
	e, _ = overdue(w, `trap "" TERM; echo up; while :; do sleep 0.02; done`)
	runnertest.WantEnd(t, e, job.StatusTimedOut, 137, "timeout")
}

func TestAKillReachesTheTask(t *testing.T) {
	w := newWorld(t)
	tr := w.Begin(sh("echo up; sleep 600"))
	w.Line()
	accepted := 0
	err := w.Conn.Instances().Ask(t.Context(), "g", bus.VerbKill, fmt.Appendf(nil, `{"run_id":%q,"by":"ann"}`, tr.RunID), time.Minute, func(r *fleet.InstanceReply) bool {
		if r.Answer == fleet.AnswerAccepted {
			accepted++
		}
		return true
	})
	if err != nil || accepted != 1 {
		t.Fatalf("%d instances ended the run, %v", accepted, err)
	}
	runnertest.WantEnd(t, w.End(), job.StatusCancelled, 143, "cancelled by ann")
}

func TestAChildThatKeepsTheOutputOpenDoesNotHoldTheRun(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	e, text := w.Run(sh("exec 3> " + child.path + "; sleep 600 & true"))
	runnertest.WantEnd(t, e, job.StatusSucceeded, 0, "")
	if !strings.Contains(text, "log: processes left behind") {
		t.Errorf("nothing is said of it: %q", text)
	}
	child.wantCut()
}

// TestOutputIsWholeThoughTheTimeToWaitForItIsOver is what becomes of a task that ends while its executor
// stands still: the time is over before the executor goes on.
func TestOutputIsWholeThoughTheTimeToWaitForItIsOver(t *testing.T) {
	w := runnertest.New(t, executor.Config{}, func(e *executor.Executor) {
		shell.Register(e, shell.Config{KillAfter: time.Nanosecond, TempDir: t.TempDir()})
	})
	for range 30 {
		e, text := w.Run(sh("echo printed; echo and more >&2"))
		runnertest.WantEnd(t, e, job.StatusSucceeded, 0, "")
		if !strings.Contains(text, "stdout: printed\n") || !strings.Contains(text, "stderr: and more\n") {
			t.Fatalf("the output is %q", text)
		}
	}
}

func TestATaskThatHasEndedWellIsNotGivenBackByAStop(t *testing.T) {
	e, err := executor.Detached(executor.Config{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	shell.Register(e, shell.Config{KillAfter: 2 * time.Second, TempDir: t.TempDir()})
	gone := filepath.Join(t.TempDir(), "gone")
	if err := syscall.Mkfifo(gone, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		_, err := os.ReadFile(gone)
		stop(errors.Join(executor.ErrStopping, err))
	}()
	// Its child holds the output open, so that the run has not ended when the task has.
	script := `(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; echo > ` + gone + `; sleep 600) & exit 0`
	r, err := e.Rehearse(ctx, &bus.Trigger{Job: "g/job", Attempt: 1, TriggerBody: bus.TriggerBody{Task: sh(script)}}, nil)
	if err != nil || ctx.Err() == nil {
		t.Fatal(err, ctx.Err())
	}
	if r.Status != job.StatusSucceeded {
		t.Errorf("the run ended as %q: %s", r.Status, r.Message)
	}
}

func TestAGigabyteOfOutputIsContained(t *testing.T) {
	w := newWorld(t)
	w.Begin(sh("yes | tr -d '\\n' | head -c 500000000; yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -c 500000000"))
	e := w.End()
	runnertest.WantEnd(t, e, job.StatusSucceeded, 0, "")
	// The log ends where its bound is, and the lines beyond are counted, not kept.
	if e.LogLines > 1_000_000 {
		t.Errorf("%d lines were logged", e.LogLines)
	}
	stored := 0
	if err := w.Conn.Scan(t.Context(), bus.StreamLog, "log.*", func(m *jet.Stored) bool { stored += len(m.Data); return true }); err != nil {
		t.Fatal(err)
	}
	if most := 2 * 64 << 20; stored > most {
		t.Errorf("%d bytes are stored, of at most %d", stored, most)
	}
}

func TestBinaryOutputAndAFloodAreHarmless(t *testing.T) {
	w := newWorld(t)
	w.Begin(sh("head -c 1000000 /dev/urandom"))
	runnertest.WantEnd(t, w.End(), job.StatusSucceeded, 0, "")
	w.Begin(sh("yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -n 200000"))
	e := w.End()
	runnertest.WantEnd(t, e, job.StatusSucceeded, 0, "")
	if e.LogLines != 200000 {
		t.Errorf("%d lines logged, want 200000", e.LogLines)
	}
}
