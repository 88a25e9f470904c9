// Command river does what three examples of River do: see docs/how-to/from-river-and-temporal.md.
package main

import (
	"context"
	"errors"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
)

type params struct {
	Problem bool `json:"problem"`
}

func cron(ctx context.Context, run *executor.Run, _ params) (any, error) {
	run.Log().InfoContext(ctx, "this job runs every hour on the half hour")
	return nil, nil
}

func cancelling(_ context.Context, _ *executor.Run, p params) (any, error) {
	if p.Problem {
		return nil, executor.Final(errors.New("the run ends with this text"))
	}
	return nil, nil
}

func snoozing(_ context.Context, _ *executor.Run, p params) (any, error) {
	if p.Problem {
		return nil, executor.RetryAfter(5*time.Minute, errors.New("not yet"))
	}
	return nil, nil
}

func main() {
	if err := work(); err != nil {
		log.Fatal(err)
	}
}

func work() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	e, err := executor.Connect(ctx, executor.Options{})
	if err != nil {
		return err
	}
	executor.Register(e, "cron", cron)
	executor.Register(e, "cancelling", cancelling)
	executor.Register(e, "snoozing", snoozing)
	return e.Run(ctx)
}
