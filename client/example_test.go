package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/client"
)

// An application runs a job, and waits at most a minute for its result.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.FromEnvironment()
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := c.Run(ctx, "mail/welcome", map[string]int{"user": 42}, client.Expires(time.Hour))
	if errors.Is(err, client.ErrUnavailable) {
		fmt.Println("no server answers, and nobody knows whether there is a run:", err)
	}
	if err != nil {
		return
	}
	end, err := run.Wait(ctx)
	if err != nil {
		return // the run goes on
	}
	var sent struct{ Messages int }
	if end.Status != client.Succeeded || end.Decode(&sent) != nil {
		fmt.Println("the run", end.Status, end.Reason)
	}
}
