//go:build unix

package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
	"github.com/carillon-scheduler/carillon/runner/shell"
)

// stored saves a job with a script, as the API does, and returns the task that its
// triggers carry.
func stored(t *testing.T, w *runnertest.World, language, source string) job.Task {
	t.Helper()
	j := job.Job{Job: "g/job", Task: job.Task{Script: &job.Script{Language: language, Source: source}}}.WithDefaults()
	entry, _, err := w.Conn.Jobs().Put(t.Context(), j, cluster.Edit{At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	task := bus.BodyOf(&entry.Version).Task
	if task.Script.Source != "" || task.Script.Digest != job.DigestOf(source) {
		t.Fatalf("the trigger carries %+v, want the digest alone", task.Script)
	}
	return task
}

func TestAScriptGetsParamsIndexAndTotalAsArguments(t *testing.T) {
	w := newWorld(t)
	prints := func(language, source, params, want string) {
		t.Helper()
		e, got := w.Run(stored(t, w, language, source), runnertest.Params(params), func(t *bus.Trigger) { t.Piece = bus.Piece{Index: 2, Total: 5} })
		runnertest.WantEnd(t, e, job.StatusSucceeded, 0, "")
		if got != "stdout: "+want+"\n" {
			t.Errorf("%s printed %q, want %q", language, got, want)
		}
	}
	prints("shell", `echo "$# $1 $2 $3 $CARILLON_BROADCAST_INDEX $CARILLON_BROADCAST_TOTAL"`, `"north east"`, "3 north east 2 5 2 5")
	prints("shell", `echo "$1"`, `{"region": "north"}`, `{"region":"north"}`)
	prints("shell", `echo "${0##*/} $(ls -A)"`, `1`, "job.sh ") // an empty directory to work in
	prints("python", "import sys\nprint(sys.argv[1:])", `"x"`, "['x', '2', '5']")
	prints("node", "console.log(process.argv.slice(2).join())", `"x"`, "x,2,5")

	e, got := w.Run(stored(t, w, "shell", `echo "[$1] $2 $3 [$CARILLON_PARAMS]"`))
	runnertest.WantEnd(t, e, job.StatusSucceeded, 0, "")
	if got != "stdout: [] 0 1 []\n" {
		t.Errorf("without params it printed %q", got)
	}
}

func TestAScriptIsFetchedOnce(t *testing.T) {
	w := newWorld(t)
	task := stored(t, w, "shell", "echo one")
	if e, got := w.Run(task); e.Status != job.StatusSucceeded || got != "stdout: one\n" {
		t.Fatalf("%s: %q", e.Status, got)
	}
	kv, err := w.Conn.JS.KeyValue(t.Context(), bus.BucketScript)
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(t.Context(), "g."+task.Script.Digest); err != nil {
		t.Fatal(err)
	}
	if e, got := w.Run(task); e.Status != job.StatusSucceeded || got != "stdout: one\n" {
		t.Errorf("the second time: %s, %q, %s", e.Status, got, e.Message)
	}
	other := job.Task{Script: &job.Script{Language: "shell", Digest: job.DigestOf("echo other")}}
	e, _ := w.Run(other)
	runnertest.WantEnd(t, e, job.StatusFailed, -1, "is gone; save the job again with its source")
}

func TestAScriptThatWasChangedPastTheAPIIsNotRun(t *testing.T) {
	w := newWorld(t)
	task := stored(t, w, "shell", "echo mine")
	kv, err := w.Conn.JS.KeyValue(t.Context(), bus.BucketScript)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), "g."+task.Script.Digest, []byte("echo theirs")); err != nil {
		t.Fatal(err)
	}
	e, got := w.Run(task)
	runnertest.WantEnd(t, e, job.StatusFailed, -1, "somebody has written past the API")
	if got != "" {
		t.Errorf("it printed %q", got)
	}
}

func TestAMissingInterpreterIsNamed(t *testing.T) {
	w := newWorld(t)
	t.Setenv("PATH", t.TempDir())
	fails := func(language, message string) {
		t.Helper()
		e, _ := w.Run(job.Task{Script: &job.Script{Language: language, Source: "x"}})
		runnertest.WantEnd(t, e, job.StatusFailed, -1, message)
	}
	fails("python", "no interpreter for python scripts: the executor's PATH has no python3 and no python")
	fails("php", "no interpreter for php scripts: the executor's PATH has no php")
	fails("starlark", "this executor has no interpreter for starlark scripts")
	fails("groovy", "groovy scripts run only at XXL-JOB executors behind the bridge; turn this one into a handler")
	fails("cobol", "cobol scripts are not allowed on this executor; it runs shell, python,")
}

func TestWhatIsNotAllowedFailsAtOnce(t *testing.T) {
	w := runnertest.New(t, executor.Config{}, func(e *executor.Executor) {
		shell.Register(e, shell.Config{Kinds: []string{"command", "script"}, Languages: []string{"python"}})
	})
	fails := func(task job.Task, message string) {
		t.Helper()
		e, _ := w.Run(task)
		runnertest.WantEnd(t, e, job.StatusFailed, -1, message)
	}
	// A kind of task that it does not run it hands to a server, as another instance may.
	fails(job.Task{Script: &job.Script{Language: "shell", Source: "true"}}, "shell scripts are not allowed on this executor; it runs python")
}

func TestATaskWritesItsResultToAFile(t *testing.T) {
	w := newWorld(t)
	ends := func(script string, status job.Status, result, message string) {
		t.Helper()
		e, _ := w.Run(sh(script))
		if e.Status != status || string(e.Result) != result || !strings.Contains(e.Message, message) {
			t.Errorf("%s: %s, result %s, message %q; want %s, %s, %q", script, e.Status, e.Result, e.Message, status, result, message)
		}
	}
	ends(`echo '{"rows": 7}' > $CARILLON_RESULT_FILE`, job.StatusSucceeded, `{"rows":7}`, "")
	ends(`printf 'seven rows' > $CARILLON_RESULT_FILE`, job.StatusSucceeded, `"seven rows"`, "")
	ends(`: > $CARILLON_RESULT_FILE`, job.StatusSucceeded, "", "")
	ends(`echo 1 > $CARILLON_RESULT_FILE; exit 1`, job.StatusFailed, "", "exit code 1")
	long, _ := bus.CutResult([]byte(`"` + strings.Repeat("x", 70_000) + `"`))
	ends(`head -c 70000 /dev/zero | tr '\0' x > $CARILLON_RESULT_FILE`, job.StatusSucceeded, string(long), "the result has 70002 bytes, more than 65536")
	ends(`mkfifo $CARILLON_RESULT_FILE`, job.StatusFailed, "", "it is not a plain file any more")
	ends(`ln -s /etc/passwd $CARILLON_RESULT_FILE`, job.StatusFailed, "", "it is not a plain file any more")
}

// A script that makes children faster than they end: all of them are in its process
// group, and none outlives the run.
func TestAScriptThatForksForEverIsContained(t *testing.T) {
	w := newWorld(t)
	child := newLifeline(t)
	script := `exec 3> ` + child.path + `; echo up
spawn() { while :; do sh -c 'trap "" TERM; sleep 600' & sleep 0.05; done; }
spawn & spawn & wait`
	e, _ := overdue(w, script)
	runnertest.WantEnd(t, e, job.StatusTimedOut, 143, "took longer than its timeout of ")
	child.wantCut()
}

func TestNothingIsLeftOfARun(t *testing.T) {
	temp := t.TempDir()
	w := runnertest.New(t, executor.Config{}, func(e *executor.Executor) {
		shell.Register(e, shell.Config{TempDir: temp})
	})
	w.Run(stored(t, w, "shell", "echo x > file; mkdir -p a/b; echo 1 > $CARILLON_RESULT_FILE"))
	w.Run(job.Task{Command: []string{"no-such-program"}})
	left, err := filepath.Glob(filepath.Join(temp, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(temp); err != nil {
		t.Error(err)
	}
}
