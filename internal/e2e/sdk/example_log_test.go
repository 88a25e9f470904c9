package sdk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/carillon-scheduler/carillon/executor"
)

// What a handler logs, or a library of its prints, is the log of the run, which people
// read while it runs. Progress is for the bar beside it.
func Example_log() {
	dev := startDevBus()
	defer dev.stop()

	e, err := executor.New(dev.conn, executor.Config{Group: "billing"})
	must(err)
	e.Handle("import", executor.HandlerFunc(func(ctx context.Context, run *executor.Run) (any, error) {
		library := log.New(run.Stderr(), "", 0) // anything that writes
		for i, table := range []string{"users", "orders"} {
			run.Progress(float64(50*i), "importing "+table)
			run.Log().InfoContext(ctx, "table imported", "table", table)
		}
		library.Print("2 rows had no e-mail address")
		return nil, nil
	}))

	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()

	dev.fire("billing/import", "import", "")
	for _, line := range dev.lines() {
		fmt.Println(line.Seq, line.Output, line.Level, line.Text)
	}
	stop()
	must(<-done)
	// Output:
	// 1 log info table imported table=users
	// 2 log info table imported table=orders
	// 3 stderr warn 2 rows had no e-mail address
}
