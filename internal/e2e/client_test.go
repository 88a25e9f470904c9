//go:build unix

package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// An application runs jobs of a real server with the client.
func TestAnApplicationRunsJobsWithTheClient(t *testing.T) {
	d := newDev(t)
	d.Begin(t)
	d.save(t, "welcome", `"task": {"shell": "echo '{\"sent\": 3}' > $CARILLON_RESULT_FILE"}`)
	c, err := client.New(client.Config{Server: d.api.Address()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), processtest.Patience)
	defer cancel()

	run, err := c.Run(ctx, "default/welcome", map[string]int{"user": 42}, client.Expires(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	end, err := run.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ Sent int }
	if err := end.Decode(&result); err != nil || end.Status != client.Succeeded || result.Sent != 3 {
		t.Errorf("the run ended as %+v with %+v: %v", end, result, err)
	}
	if err := run.Cancel(ctx, ""); !errors.Is(err, client.ErrEnded) {
		t.Errorf("cancelled after its end: %v", err)
	}

	later, err := c.Run(ctx, "default/welcome", nil, client.In(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	processtest.Await(t, processtest.Patience, "list the run that waits", func() error {
		for waiting, err := range c.Waiting(ctx, "default/welcome") {
			if err != nil || waiting.ID == later.ID && waiting.Due.Equal(later.Due) {
				return err
			}
		}
		return errors.New("it is not listed")
	})
	if err := later.Cancel(ctx, "typo"); err != nil {
		t.Fatal(err)
	}
	if end, err := later.Wait(ctx); err != nil || end.Status != client.Cancelled {
		t.Errorf("the cancelled run ended as %+v: %v", end, err)
	}
	if _, err := c.Run(ctx, "default/none", nil); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("a job that does not exist: %v", err)
	}
	d.Interrupt(t)
}
