// Command subject is an executor of the Go SDK for the cases of package conformance.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/schema"
	"github.com/carillon-scheduler/carillon/job"
)

type params struct {
	Message string  `json:"message,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Count   int     `json:"count,omitempty"`
	Bytes   int     `json:"bytes,omitempty"`

	Jobs []job.Name `json:"jobs,omitempty"`
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if err := work(log); err != nil {
		log.Error("executor ended", "error", err)
		os.Exit(1)
	}
}

func work(log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // it is a main
	defer stop()
	e, err := executor.Connect(ctx, executor.Options{Config: executor.Config{Logger: log, Schemas: schema.JSON{}, Slots: 4, Grace: 2 * time.Second, Patience: 2 * time.Second}})
	if err != nil {
		return err
	}
	executor.Register(e, "echo", func(_ context.Context, _ *executor.Run, p json.RawMessage) (json.RawMessage, error) { return p, nil })
	executor.Register(e, "item", func(_ context.Context, run *executor.Run, _ json.RawMessage) (json.RawMessage, error) {
		return run.Item(), nil
	})
	executor.Register(e, "fail", func(_ context.Context, _ *executor.Run, p params) (any, error) { return nil, errors.New(p.Message) })
	executor.Register(e, "sleep", func(ctx context.Context, run *executor.Run, p params) (any, error) { return nil, sleep(ctx, run, p) })
	executor.Register(e, "lines", func(_ context.Context, run *executor.Run, p params) (any, error) {
		out := run.Stdout()
		for i := range p.Count {
			if _, err := fmt.Fprintf(out, "line %d\n", i+1); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	executor.Register(e, "long", func(ctx context.Context, run *executor.Run, _ params) (any, error) {
		run.Log().InfoContext(ctx, strings.Repeat("x", 100_000)) //nolint:sloglint // so long a line is the point
		return nil, nil
	})
	executor.Register(e, "large", func(ctx context.Context, run *executor.Run, p params) (string, error) {
		text := strings.Repeat("x", p.Bytes)
		run.Progress(50, text)
		timer := time.NewTimer(time.Duration(p.Seconds * float64(time.Second)))
		defer timer.Stop()
		select {
		case <-timer.C:
			return text, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	executor.Register(e, "stubborn", func(ctx context.Context, run *executor.Run, p params) (any, error) {
		return nil, sleep(context.WithoutCancel(ctx), run, p)
	})
	executor.Register(e, "start", func(ctx context.Context, run *executor.Run, p params) ([]job.RunID, error) {
		var ids []job.RunID
		for _, name := range p.Jobs {
			id, err := run.Start(ctx, name, map[string]int{"n": 1})
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	})
	executor.Register(e, "nan", func(context.Context, *executor.Run, params) (map[string]float64, error) {
		return map[string]float64{"ratio": math.NaN()}, nil
	})
	return e.Run(ctx)
}

func sleep(ctx context.Context, run *executor.Run, p params) error {
	end := time.NewTimer(time.Duration(p.Seconds * float64(time.Second)))
	defer end.Stop()
	for beat := time.NewTicker(200 * time.Millisecond); ; {
		select {
		case <-end.C:
			beat.Stop()
			return nil
		case <-ctx.Done():
			beat.Stop()
			return context.Cause(ctx)
		case <-beat.C:
			run.Progress(50, "asleep")
		}
	}
}
