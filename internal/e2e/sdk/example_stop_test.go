package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
)

// A program that stops lets its runs finish for a while, then cancels them. A run
// that returns an error then is given back, and another instance does it.
func Example_stop() {
	dev := startDevBus()
	defer dev.stop()

	begun := make(chan bool, 1)
	work := executor.HandlerFunc(func(ctx context.Context, _ *executor.Run) (any, error) {
		begun <- true
		<-ctx.Done() // a loop would look at ctx.Err() between two steps
		why := context.Cause(ctx)
		fmt.Println(why, errors.Is(why, executor.ErrStopping))
		return nil, why
	})

	instance := func() (stop func()) {
		e, err := executor.New(dev.conn, executor.Config{Group: "billing", Grace: 10 * time.Millisecond})
		must(err)
		e.Handle("work", work)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		return func() { cancel(); must(<-done) }
	}

	stop := instance()
	dev.fire("billing/nightly", "work", "")
	<-begun
	stop()

	fmt.Println("triggers for another instance:", dev.waiting())
	// Output:
	// the executor is stopping true
	// triggers for another instance: 1
}
