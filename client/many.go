package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// RunRequest is a run that [Client.RunMany] asks for: the arguments of [Client.Run].
type RunRequest struct {
	Job     string
	Params  any
	Options []Option
}

// RunResult is what became of a RunRequest: a run, or an error.
type RunResult struct {
	Run *Run
	Err error
}

// entry is a RunRequest in a batch.
type entry struct {
	Job string `json:"job"`
	Run wish   `json:"run"`
}

// RunMany makes up to 500 runs by one request. Each is accepted or refused for itself: the results are in the order
// of the requests. If there are none, because no server answered for any of them, the error is an [Error], or that
// of ctx.
func (c *Client) RunMany(ctx context.Context, requests []RunRequest) ([]RunResult, error) {
	results := make([]RunResult, len(requests))
	entries := make([]entry, len(requests))
	var open []int
	for i, r := range requests {
		entries[i] = entry{r.Job, c.wish(r.Params, r.Options)}
		if _, err := pathOf(r.Job); err != nil {
			results[i].Err = err
			continue
		}
		open = append(open, i)
	}
	open, err := c.acceptMany(ctx, entries, open, results)
	if err != nil {
		return nil, err
	}
	begun := c.now()
	for next := againFirst; len(open) > 0 && c.now().Sub(begun)+next <= againFor && c.pause(ctx, next) == nil; next = min(2*next, againMost) {
		if open, err = c.acceptMany(ctx, entries, open, results); err != nil {
			break
		}
	}
	for i, r := range requests {
		if e, ok := errors.AsType[*Error](results[i].Err); ok && e.Status == http.StatusBadRequest && e.Field == "run_id" {
			results[i].Run, results[i].Err = c.Run(ctx, r.Job, r.Params, r.Options...) // with the time of the server
		}
	}
	return results, nil
}

// acceptMany asks for the runs of the entries that are open, sets their results, and returns which of them to ask for
// again.
func (c *Client) acceptMany(ctx context.Context, entries []entry, open []int, results []RunResult) (away []int, err error) {
	if len(open) == 0 {
		return nil, nil
	}
	var body struct {
		Runs []entry `json:"runs"`
	}
	for _, i := range open {
		body.Runs = append(body.Runs, entries[i])
	}
	var answer struct {
		Items []struct {
			Accepted *accepted
			Problem  json.RawMessage
		}
	}
	if err := c.ask(ctx, http.MethodPost, "/api/v1/runs/batch", body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Items) != len(open) {
		return nil, &Error{Status: http.StatusOK, Message: c.server + " did not answer for each run"}
	}
	for n, item := range answer.Items {
		i := open[n]
		if item.Accepted != nil {
			results[i] = RunResult{Run: item.Accepted.run(c)}
			continue
		}
		e := problemIn(c.server, item.Problem)
		results[i].Err = e
		if errors.Is(e, ErrUnavailable) {
			away = append(away, i)
		}
	}
	return away, nil
}
