package sdk_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/executor"
)

// Parameters are decoded into a type of yours, and what the handler returns is the
// result of the run. The type's fields and the description are shown to those who write
// jobs, and a job whose parameters do not fit is refused when it is saved.
func Example_params() {
	dev := startDevBus()
	defer dev.stop()

	type report struct {
		Region string `json:"region" jsonschema:"where the customers are"`
		Rows   int    `json:"rows"`
	}
	e, err := executor.New(dev.conn, executor.Config{Group: "billing"})
	must(err)
	executor.Register(e, "report", func(_ context.Context, _ *executor.Run, p report) (any, error) {
		if p.Region == "" {
			return nil, errors.New("params.region is missing")
		}
		return map[string]int{"written": 2 * p.Rows}, nil
	}, executor.Describe("Writes the report of a region"))

	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()

	for _, params := range []string{`{"region":"north","rows":21}`, `{}`, `{"rows":"many"}`} {
		dev.fire("billing/report", "report", params)
		end := dev.finished()
		fmt.Printf("%s %s%s\n", end.Status, end.Result, end.Message)
	}
	stop()
	must(<-done)
	// Output:
	// succeeded {"written":42}
	// failed params.region is missing
	// failed decode params of handler report: json: cannot unmarshal string into Go struct field report.rows of type int
}
