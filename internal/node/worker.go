package node

import (
	"context"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/worker"
)

// workerOptions say which worker processes an executor starts.
type workerOptions struct {
	command   string
	processes int
}

func (o *workerOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.command, "worker", "", "start this `command`, a line for /bin/sh, and run the handlers that it registers, such as 'php worker.php'")
	f.IntVar(&o.processes, "worker-processes", 1, "`number` of worker processes to keep running")
}

// start starts the processes; nil if none is configured.
func (o *workerOptions) start(ctx context.Context, log *slog.Logger) (*worker.Workers, error) {
	if o.command == "" {
		return nil, nil
	}
	if o.processes == 0 { // which package worker takes for the default
		return nil, &job.InvalidError{Field: "worker-processes", Reason: "0 must be 1 or more"}
	}
	return worker.Start(ctx, worker.Config{Command: []string{"/bin/sh", "-c", o.command}, Processes: o.processes, Logger: log.With("component", "worker")})
}
