package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// resultName is the variable that names the file into which a task may write its run's result.
const resultName = "CARILLON_RESULT_FILE"

// directories are where a run lives on this machine.
type directories struct {
	own  string // made for the run, and removed with it
	work string // where the task runs: within own, unless the job says otherwise
	lock *flock.Flock
}

// makeDirectories makes what the run needs.
func (r *runner) makeDirectories(ctx context.Context, run *executor.Run) (*directories, error) {
	given := run.Trigger().Task.Dir
	if given != "" {
		switch stat, err := os.Stat(given); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &job.InvalidError{Field: "task.dir", Reason: fmt.Sprintf("%q does not exist on this executor's machine", given)}
		case err != nil:
			return nil, &job.InvalidError{Field: "task.dir", Reason: fmt.Sprintf("%q cannot be used: %v", given, err)}
		case !stat.IsDir():
			return nil, &job.InvalidError{Field: "task.dir", Reason: fmt.Sprintf("%q is not a directory", given)}
		}
	}
	own, err := os.MkdirTemp(r.cfg.TempDir, directoryPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for the run: %w", err)
	}
	lock, err := lockDirectory(own)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(own))
	}
	d := &directories{own: own, work: given, lock: lock}
	if given == "" {
		d.work = filepath.Join(own, "work")
		if err := os.Mkdir(d.work, 0o700); err != nil {
			d.remove(ctx, run)
			return nil, fmt.Errorf("make a directory for the run: %w", err)
		}
	}
	return d, nil
}

// remove removes what was made.
func (d *directories) remove(ctx context.Context, run *executor.Run) {
	if err := errors.Join(d.lock.Unlock(), os.RemoveAll(d.own)); err != nil {
		run.Log().WarnContext(ctx, "the run's directory could not be removed", "error", err)
	}
}

func (d *directories) resultFile() string { return filepath.Join(d.own, "result") }

// resultVariable tells the task where its result goes. No other process of this machine has it: the id
// of a run, and all else that it is told, may also be those of a run of another cluster.
func (d *directories) resultVariable() string { return resultName + "=" + d.resultFile() }

// maxResultFile bounds what is read of a result. One that is longer than events carry is
// cut by the executor, which says so; the work is done all the same.
const maxResultFile = 8 << 20

// result returns what the task has written as its result: JSON, or text. The error says
// that it is none: a run whose result others wait for has not succeeded without it.
func (d *directories) result() (any, error) {
	stat, err := os.Lstat(d.resultFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", resultName, err)
	case !stat.Mode().IsRegular(): // reading a pipe could take for ever
		return nil, fmt.Errorf("read %s: it is not a plain file any more", resultName)
	}
	file, err := os.Open(d.resultFile())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", resultName, err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxResultFile))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", resultName, err)
	case len(data) == 0:
		return nil, nil
	case json.Valid(data):
		return json.RawMessage(data), nil
	}
	return string(data), nil
}
