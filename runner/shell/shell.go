package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/processgroup"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Kinds are the kinds of task that are processes.
var Kinds = []string{job.KindShell, job.KindCommand, job.KindScript}

// Config says how tasks are run. The zero value works.
type Config struct {
	// KillAfter is how long, for jobs that do not say it, a task may take to end after SIGTERM, and how long
	// processes that it left behind may hold its output open. It must be less than
	// [executor.Config.Patience]. Defaults to 5 s.
	KillAfter time.Duration
	// TempDir is where the fresh directories of runs are made. Defaults to the system's
	// place for temporary files.
	TempDir string
	// Kinds lists which of [Kinds] to run. Defaults to all.
	Kinds []string
	// Languages lists which of [job.Interpreted] scripts may be in. Defaults to all.
	Languages []string
	// Starlark is the command line of a program that runs a Starlark script, whose path
	// and arguments follow, such as "carillon starlark". Defaults to none: such scripts
	// are not run.
	Starlark []string
}

func (c Config) withDefaults() Config {
	if c.KillAfter <= 0 {
		c.KillAfter = 5 * time.Second
	}
	if c.Kinds == nil {
		c.Kinds = Kinds
	}
	if c.Languages == nil {
		c.Languages = job.Interpreted
	}
	return c
}

// Runner returns what does shell, command and script tasks, for a program that has
// something of its own to do before or after each; see [executor.Executor.HandleKind].
// [Config.Kinds] is of no use to it.
func Runner(cfg Config) executor.Handler { return &runner{cfg: cfg.withDefaults()} }

// Register makes e run shell, command and script tasks.
func Register(e *executor.Executor, cfg Config) {
	cfg = cfg.withDefaults()
	r := Runner(cfg)
	for _, kind := range cfg.Kinds {
		e.HandleKind(kind, r)
	}
}

// runner is the [executor.Handler] of all three kinds.
type runner struct {
	cfg     Config
	scripts scripts
}

// Handle runs the task of run and waits until all of its processes have ended.
func (r *runner) Handle(ctx context.Context, run *executor.Run) (any, error) {
	dir, err := r.makeDirectories(ctx, run)
	if err != nil {
		return nil, err
	}
	defer dir.remove(ctx, run)
	argv, err := r.commandLine(ctx, run, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // running what the job says is the purpose
	cmd.Dir = dir.work
	cmd.Env = r.environment(run, dir)
	stdout, stderr := &tail{Writer: run.Stdout()}, &tail{Writer: run.Stderr()}
	out := &output{}
	defer out.close()
	if err := out.connect(cmd, stdout, stderr); err != nil {
		return nil, err
	}
	task := &run.Trigger().Task
	if task.Stdin != "" {
		cmd.Stdin = strings.NewReader(task.Stdin)
	}
	processgroup.Set(cmd)
	// Cancel is called when ctx is done. WaitDelay later the process is killed. Then, or as long after it has
	// ended by itself, so are those that hold its output open.
	cancelled, until := false, time.Time{}
	cmd.Cancel = func() error {
		until = time.Now().Add(cmd.WaitDelay)
		err := processgroup.Terminate(cmd.Process)
		cancelled = err == nil // it has not ended by itself
		return err
	}
	cmd.WaitDelay = r.cfg.KillAfter
	if grace := run.Trigger().KillGrace.Std(); grace > 0 {
		cmd.WaitDelay = grace
	}

	if err := cmd.Start(); err != nil {
		return nil, explainStart(argv[0], dir.work, err)
	}
	out.started()
	err = cmd.Wait()
	if until.IsZero() {
		until = time.Now().Add(cmd.WaitDelay)
	}
	held := !out.ends(until) && !out.ends(time.Now().Add(lookAgain))
	processgroup.Kill(cmd.Process)
	if ctx.Err() != nil { // its children may hold the output, though it has ended by itself
		processgroup.KillMarked(dir.resultVariable())
	}
	if held {
		_ = out.ends(time.Now().Add(copyFor)) // but one that has left the group may hold it for ever
	}
	out.close() // so that nobody writes any more what is read now
	if err := r.judge(ctx, run, cmd, cancelled, held, err); err != nil {
		return nil, because(err, causeOf(stderr.end, stdout.end))
	}
	return dir.result()
}

// commandLine returns the program that does the run, and its arguments.
func (r *runner) commandLine(ctx context.Context, run *executor.Run, dir *directories) ([]string, error) {
	task := &run.Trigger().Task
	switch task.Kind() {
	case job.KindShell:
		// The job's name is $0, with which the shell begins its own complaints.
		return []string{"/bin/sh", "-c", task.Shell, string(run.Job())}, nil
	case job.KindScript:
		return r.scriptLine(ctx, run, dir)
	default:
		return task.Command, nil
	}
}

// judge says whether the task succeeded, given what Wait returned and whether its output was held open.
func (r *runner) judge(ctx context.Context, run *executor.Run, cmd *exec.Cmd, cancelled, held bool, err error) error {
	code, signal := exitOf(cmd.ProcessState)
	run.SetExitCode(code)
	if cancelled { // a script that traps SIGTERM and exits with 0 has not succeeded
		return context.Cause(ctx)
	}
	if held {
		run.Log().WarnContext(ctx, "processes left behind held the output open and were killed", "after", cmd.WaitDelay)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it has not read all of its input
		err = nil
	}
	switch {
	case signal != "":
		return errors.New(reason.KilledBySignal.With(signal))
	case code != 0:
		return exitError(code)
	case err != nil:
		return fmt.Errorf("run %s: %w", cmd.ProcessState, err)
	}
	return nil
}

// exitError is the exit code with which a program has failed.
type exitError int

func (e exitError) Error() string { return reason.ExitCode.With(int(e)) }

// because returns the error of a program that has failed with its cause, if there is one.
func because(err error, cause string) error {
	if code := exitError(0); cause != "" && errors.As(err, &code) {
		return errors.New(reason.ExitCodeSaid.With(int(code), cause))
	}
	return err
}

// environment returns the executor's environment and what is known of the run. The last
// of two with the same name counts. A Starlark script gets the latter only: it sees all
// of its environment, and no more of the machine.
func (r *runner) environment(run *executor.Run, dir *directories) []string {
	var env []string
	if s := run.Trigger().Task.Script; s == nil || s.Language != starlark {
		env = os.Environ()
	}
	return append(append(env, run.Environ()...), dir.resultVariable())
}

// explainStart says why a program did not start.
func explainStart(program, dir string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New(reason.NoProgram.With(program))
	case errors.Is(err, fs.ErrNotExist):
		return errors.New(reason.NoFile.With(program, dir))
	case errors.Is(err, fs.ErrPermission):
		return errors.New(reason.NotExecutable.With(program))
	}
	return fmt.Errorf("start %q: %w", program, err)
}
