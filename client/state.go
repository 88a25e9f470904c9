package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Status is the status of a run.
type Status string

// The statuses of runs.
const (
	Pending   Status = "pending" // for an executor
	Queued    Status = "queued"  // for its time, for other runs or for its next attempt
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	TimedOut  Status = "timed_out"
	Cancelled Status = "cancelled"
	Lost      Status = "lost"    // its executor died
	Skipped   Status = "skipped" // it did not run, because of other runs or of a rule of its job
	Missed    Status = "missed"  // it did not begin in time
	Ended     Status = "ended"   // its key is known, and the history does not keep the run any more
)

// Ended reports whether a run with this status has ended.
func (s Status) Ended() bool {
	return slices.Contains([]Status{Succeeded, Failed, TimedOut, Cancelled, Lost, Skipped, Missed, Ended}, s)
}

// ErrNoResult means that a run has no result: it has not ended, or its handler returned none.
var ErrNoResult = errors.New("it has no result")

// State is what a run is like.
type State struct {
	ID     string
	Job    string
	Status Status
	Reason string          // why it failed, waits or did not run
	Result json.RawMessage // of the handler; nil if there is none
}

// Decode decodes the result of a run that has ended. The error is an [ErrNoResult] if it has none.
func (s *State) Decode(into any) error {
	if len(s.Result) == 0 {
		return fmt.Errorf("run %s is %s: %w", s.ID, s.Status, ErrNoResult)
	}
	if err := json.Unmarshal(s.Result, into); err != nil {
		return fmt.Errorf("decode the result of run %s: %w", s.ID, err)
	}
	return nil
}

const (
	// How often a run is looked up while somebody waits for its end: after pauses that double.
	waitFirst = 250 * time.Millisecond
	waitMost  = 5 * time.Second
	// newFor is how long the history may need to show a run.
	newFor = 30 * time.Second
)

// Status returns what a run is like now. The error is an [Error], or that of ctx.
func (c *Client) Status(ctx context.Context, id string) (*State, error) {
	return c.state(ctx, id, c.ask)
}

// Wait waits for the end of a run. It goes on while servers are away: ctx decides how long. Its error is then
// that of ctx; others are an [Error].
func (r *Run) Wait(ctx context.Context) (*State, error) { return r.client.Wait(ctx, r.ID) }

// Wait waits for the end of the run with an id, as [Run.Wait] does.
func (c *Client) Wait(ctx context.Context, id string) (*State, error) {
	begun := c.now()
	for next := waitFirst; ; next = min(2*next, waitMost) {
		state, err := c.state(ctx, id, c.send)
		if err == nil && state.Status.Ended() {
			return state, nil
		}
		wait, again := repeatAfter(err, next)
		again = again || err == nil || errors.Is(err, ErrNotFound) && c.now().Sub(begun) < newFor
		if !again {
			return nil, err
		}
		if err := c.pause(ctx, max(wait, next)); err != nil {
			return nil, err
		}
	}
}

// state reads a run.
func (c *Client) state(ctx context.Context, id string, ask func(context.Context, string, string, any, any) error) (*State, error) {
	var answer struct {
		RunID    string `json:"run_id"`
		Job      string
		Status   Status
		Attempts []struct {
			Message, Reason sentence
			Result          json.RawMessage
		}
	}
	if err := ask(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(id), nil, &answer); err != nil {
		return nil, err
	}
	s := &State{ID: answer.RunID, Job: answer.Job, Status: answer.Status}
	if len(answer.Attempts) > 0 {
		newest := &answer.Attempts[0]
		s.Reason = newest.Message.Text
		if s.Reason == "" {
			s.Reason = newest.Reason.Text
		}
		s.Result = newest.Result
	}
	return s, nil
}

// Waiting lists the runs of a job that wait for their time, the latest first. An error ends the list.
func (c *Client) Waiting(ctx context.Context, job string) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		if _, err := pathOf(job); err != nil {
			yield(nil, err)
			return
		}
		query := url.Values{"waiting": {"true"}, "job": {job}}
		for {
			var page struct {
				Items []struct {
					Run
					FireTime time.Time `json:"fire_time"`
					Reason   sentence  `json:"reason"`
				}
				Next string
			}
			if err := c.ask(ctx, http.MethodGet, "/api/v1/runs?"+query.Encode(), nil, &page); err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				run := page.Items[i].Run
				run.Due, run.Reason, run.client = page.Items[i].FireTime, page.Items[i].Reason.Text, c
				if !yield(&run, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("cursor", page.Next)
		}
	}
}
