// Command load is an executor of the Go SDK that is put under load, like those of the other SDKs
// with the same handlers: the test of all of them in one group, and "carillon bench run
// --executor", start them.
//
//	noop     does nothing
//	journal  writes "RUN DELIVERY" into the file JOURNAL, and a line into the run's log; sleeps for
//	         params.seconds; fails in the attempts before params.attempts
//	halt     writes the former, and ends the process
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
)

type params struct {
	Seconds  float64 `json:"seconds"`
	Attempts int     `json:"attempts"`
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := work(log); err != nil {
		log.Error("executor ended", "error", err)
		os.Exit(1)
	}
}

func work(log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // it is a main
	defer stop()
	e, err := executor.Connect(ctx, executor.Options{Config: executor.Config{Logger: log}})
	if err != nil {
		return err
	}
	executor.Register(e, "noop", func(context.Context, *executor.Run, struct{}) (any, error) { return nil, nil })
	executor.Register(e, "journal", journal)
	executor.Register(e, "halt", halt)
	return e.Run(ctx)
}

// begun writes that an attempt has begun into the journal.
func begun(run *executor.Run) error {
	file, err := os.OpenFile(os.Getenv("JOURNAL"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // the file that the test names
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(file, "%s %d\n", run.ID(), run.Delivered()); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

func halt(_ context.Context, run *executor.Run, _ struct{}) (any, error) {
	if err := begun(run); err != nil {
		return nil, err
	}
	os.Exit(3)
	return nil, nil
}

func journal(ctx context.Context, run *executor.Run, p params) (any, error) {
	if err := begun(run); err != nil {
		return nil, err
	}
	run.Log().InfoContext(ctx, "journal written")
	end := time.NewTimer(time.Duration(p.Seconds * float64(time.Second)))
	defer end.Stop()
	select {
	case <-end.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if run.Attempt() < p.Attempts {
		return nil, errors.New("this attempt has to fail")
	}
	return nil, nil
}
