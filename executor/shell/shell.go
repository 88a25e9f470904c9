package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"carillon/executor"
	"carillon/job"
)

// Config says how tasks are run. The zero value works.
type Config struct {
	// KillAfter is how long a task may take to end after SIGTERM, and how long
	// processes that it left behind may hold its output open. It must be less than
	// [executor.Config.Patience]. Defaults to 5 s.
	KillAfter time.Duration
	// TempDir is where the fresh directories of runs are made. Defaults to the system's
	// place for temporary files.
	TempDir string
}

// Register makes e run shell and command tasks.
func Register(e *executor.Executor, cfg Config) {
	if cfg.KillAfter <= 0 {
		cfg.KillAfter = 5 * time.Second
	}
	r := &runner{cfg}
	e.HandleKind("shell", r)
	e.HandleKind("command", r)
}

// runner is the [executor.Handler] of both kinds.
type runner struct {
	cfg Config
}

// Handle runs the task of run and waits until all of its processes have ended.
func (r *runner) Handle(ctx context.Context, run *executor.Run) (any, error) {
	dir, remove, err := r.directory(ctx, run)
	if err != nil {
		return nil, err
	}
	defer remove()

	task := &run.Trigger().Task
	argv := task.Command
	if task.Kind() == "shell" {
		// The job's name is $0, with which the shell begins its own complaints.
		argv = []string{"/bin/sh", "-c", task.Shell, string(run.Job())}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // running what the job says is the purpose
	cmd.Dir = dir
	cmd.Env = environment(run)
	cmd.Stdout, cmd.Stderr = run.Stdout(), run.Stderr()
	if task.Stdin != "" {
		cmd.Stdin = strings.NewReader(task.Stdin)
	}
	setGroup(cmd)
	// Cancel is called when ctx is done. WaitDelay later, or as long after the process
	// has ended by itself, the process is killed and its output closed.
	cmd.Cancel = func() error { return terminate(cmd.Process) }
	cmd.WaitDelay = r.cfg.KillAfter

	if err := cmd.Start(); err != nil {
		return nil, explainStart(argv[0], dir, err)
	}
	err = cmd.Wait()
	killGroup(cmd.Process)
	return nil, r.judge(ctx, run, cmd.ProcessState, err)
}

// judge says whether the task succeeded, given what Wait returned.
func (r *runner) judge(ctx context.Context, run *executor.Run, state *os.ProcessState, err error) error {
	code, signal := exitOf(state)
	run.SetExitCode(code)
	if ctx.Err() != nil { // a script that traps SIGTERM and exits with 0 has not succeeded
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		run.Log().WarnContext(ctx, "processes left behind held the output open and were killed", "after", r.cfg.KillAfter)
		err = nil
	}
	switch {
	case signal != "":
		return fmt.Errorf("killed by signal: %s", signal)
	case code != 0:
		return fmt.Errorf("exit code %d", code)
	case err != nil:
		return fmt.Errorf("run %s: %w", state, err)
	}
	return nil
}

// directory returns where the task runs, and what to call afterwards.
func (r *runner) directory(ctx context.Context, run *executor.Run) (dir string, remove func(), err error) {
	if dir = run.Trigger().Task.Dir; dir != "" {
		switch stat, err := os.Stat(dir); {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil, &job.InvalidError{Field: "task.dir", Reason: fmt.Sprintf("%q does not exist on this executor's machine", dir)}
		case err != nil:
			return "", nil, &job.InvalidError{Field: "task.dir", Reason: fmt.Sprintf("%q cannot be used: %v", dir, err)}
		case !stat.IsDir():
			return "", nil, &job.InvalidError{Field: "task.dir", Reason: fmt.Sprintf("%q is not a directory", dir)}
		}
		return dir, func() {}, nil
	}
	dir, err = os.MkdirTemp(r.cfg.TempDir, "carillon-run-")
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for the run: %w", err)
	}
	return dir, func() {
		if err := os.RemoveAll(dir); err != nil {
			run.Log().WarnContext(ctx, "the run's directory could not be removed", "error", err)
		}
	}, nil
}

// environment returns the executor's environment, the task's, and what is known of
// the run. The last of two with the same name counts.
func environment(run *executor.Run) []string {
	t := run.Trigger()
	env := os.Environ()
	for k, v := range t.Task.Env {
		env = append(env, k+"="+v)
	}
	return append(env,
		"CARILLON_RUN_ID="+string(t.RunID),
		"CARILLON_JOB="+string(t.Job),
		"CARILLON_VERSION="+strconv.Itoa(t.Version),
		"CARILLON_CAUSE="+string(t.Cause),
		"CARILLON_FIRE_TIME="+t.FireTime.UTC().Format("2006-01-02T15:04:05.000Z"),
		"CARILLON_ATTEMPT="+strconv.Itoa(t.Attempt),
		"CARILLON_DELIVERY="+strconv.Itoa(run.Delivered()),
		"CARILLON_PARAMS="+string(t.Params),
	)
}

// explainStart says why a program did not start.
func explainStart(program, dir string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("start %q: there is no such program in the executor's PATH", program)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("start %q: there is no such file, seen from %s, or its interpreter is missing", program, dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("start %q: the file is not executable for the executor's user", program)
	}
	return fmt.Errorf("start %q: %w", program, err)
}
