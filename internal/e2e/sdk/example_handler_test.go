package sdk_test

import (
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/executor"
)

// A handler is a function under a name. Jobs whose task is `handler: greet` call it.
func Example_handler() {
	dev := startDevBus() // your program calls jet.Connect
	defer dev.stop()

	e, err := executor.New(dev.conn, executor.Config{Group: "billing", Slots: 8})
	must(err)
	e.Handle("greet", executor.HandlerFunc(func(_ context.Context, run *executor.Run) (any, error) {
		fmt.Printf("%s, attempt %d, because of its %s\n", run.Job(), run.Attempt(), run.Cause())
		return nil, nil
	}))

	ctx, stop := context.WithCancel(context.Background()) // signal.NotifyContext in a program
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()

	dev.fire("billing/hello", "greet", "")
	fmt.Println(dev.finished().Status)
	stop()
	fmt.Println(<-done)
	// Output:
	// billing/hello, attempt 1, because of its schedule
	// succeeded
	// <nil>
}
