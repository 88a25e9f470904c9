package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/carillon-scheduler/carillon/executor"
)

// A handler is a function under a name. Jobs whose task is `handler: greet` call it.
func Example_handler() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	e, err := executor.Connect(ctx, executor.Options{})
	if err != nil {
		log.Print(err)
		return
	}
	e.Handle("greet", executor.HandlerFunc(func(_ context.Context, run *executor.Run) (any, error) {
		fmt.Printf("%s, attempt %d, because of its %s\n", run.Job(), run.Attempt(), run.Cause())
		return nil, nil
	}))
	if err := e.Run(ctx); err != nil {
		log.Print(err)
	}
}

// Parameters are decoded into a type of yours, and what the handler returns is the
// result of the run. The type's fields and the description are shown to those who write
// jobs, and a job whose parameters do not fit is refused when it is saved.
func ExampleRegister() {
	type report struct {
		Region string `json:"region" jsonschema:"where the customers are"`
		Rows   int    `json:"rows"`
	}
	e, err := executor.Connect(context.Background(), executor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	executor.Register(e, "report", func(_ context.Context, _ *executor.Run, p report) (any, error) {
		if p.Region == "" {
			return nil, errors.New("params.region is missing")
		}
		return map[string]int{"written": 2 * p.Rows}, nil
	}, executor.Describe("Writes the report of a region"))
}

// What a handler logs, or a library of its prints, is the log of the run, which people
// read while it runs. Progress is for the bar beside it.
func ExampleRun_Log() {
	_ = executor.HandlerFunc(func(ctx context.Context, run *executor.Run) (any, error) {
		library := log.New(run.Stderr(), "", 0) // anything that writes
		for i, table := range []string{"users", "orders"} {
			run.Progress(float64(50*i), "importing "+table)
			run.Log().InfoContext(ctx, "table imported", "table", table)
		}
		library.Print("2 rows had no e-mail address")
		return nil, nil
	})
}

// A program that stops lets its runs finish for a while, then cancels them. A run
// that returns an error then is given back, and another instance does it.
func Example_stop() {
	_ = executor.HandlerFunc(func(ctx context.Context, _ *executor.Run) (any, error) {
		for ctx.Err() == nil {
			fmt.Println("a step of the work")
		}
		return nil, context.Cause(ctx) // executor.ErrStopping
	})
}
