// Command go is an executor with one handler, as docs/how-to/write-a-handler-in-go.md explains it.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/schema"
)

type params struct {
	Region string `json:"region" jsonschema:"where the customers are"`
	Rows   int    `json:"rows"`
}

type result struct {
	Written int `json:"written"`
}

func report(ctx context.Context, run *executor.Run, p params) (result, error) {
	if p.Region == "" {
		return result{}, executor.Final(errors.New("params.region is missing")) // no retry helps
	}
	run.Log().InfoContext(ctx, "begun", "region", p.Region, "of", run.FireTime().Format("2006-01-02"))
	for row := range p.Rows {
		if ctx.Err() != nil { // cancelled, timed out, or the program stops
			return result{}, context.Cause(ctx)
		}
		run.Progress(100*float64(row+1)/float64(p.Rows), p.Region)
	}
	return result{Written: p.Rows}, nil
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := work(log); err != nil {
		log.Error("executor ended", "error", err)
		os.Exit(1)
	}
}

func work(log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e, err := executor.Connect(ctx, executor.Options{
		Config: executor.Config{Logger: log, Schemas: schema.JSON{}},
	})
	if err != nil {
		return err
	}
	executor.Register(e, "report", report, executor.Describe("Writes the report of a region"))
	return e.Run(ctx) // until ctx is done; then it lets its runs end
}
