package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// News says that something has changed, not how.
type News struct {
	// Topic is jobs, runs, executors, cluster or alerts; or reload, when more may have
	// changed than can be told.
	Topic string   `json:"topic"`
	Names []string `json:"names,omitempty"` // of jobs, or of groups
	More  bool     `json:"more,omitempty"`  // than is named
}

// Follow calls yield with what changes, of some topics or of all, in this goroutine,
// for as long as ctx lives. Lost connections are made again, after interrupted was told
// why, and go on after the last that was heard. The error is ctx's, yield's, or what the
// server says against the request.
func (a *API) Follow(ctx context.Context, topics []string, interrupted func(error), yield func(News) error) error {
	delay, last := firstRetry, ""
	for {
		before := last
		err := a.follow(ctx, topics, &last, yield)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, job.ErrUnavailable):
			return err
		}
		if last != before {
			delay = firstRetry
		}
		if !errors.Is(err, errBye) {
			interrupted(err)
		}
		if err := pause.For(ctx, delay); err != nil {
			return err
		}
		delay = min(delay*2, lastRetry)
	}
}

var errBye = errors.New("the server stops")

// Watch calls yield with the lines that match what query says, as all runs print them, in this
// goroutine, for as long as ctx lives; and with how many there were within a second, when they
// were more than are sent. Lost connections are made again, after interrupted was told why: what
// was printed meanwhile is not heard. The error is as [API.Follow]'s.
func (a *API) Watch(ctx context.Context, query url.Values, interrupted func(error), yield func([]LogHit, LogRate) error) error {
	delay := firstRetry
	for {
		heard := false
		err := a.events(ctx, "/api/v1/logs/tail?"+query.Encode(), "", func(e event) error {
			heard = true
			var lines []LogHit
			var rate LogRate
			into := any(&lines)
			if e.name == "rate" {
				into = &rate
			}
			if err := json.Unmarshal(e.data, into); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
			return yield(lines, rate)
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, job.ErrUnavailable):
			return err
		case heard:
			delay = firstRetry
		}
		if !errors.Is(err, errBye) {
			interrupted(err)
		}
		if err := pause.For(ctx, delay); err != nil {
			return err
		}
		delay = min(delay*2, lastRetry)
	}
}

// follow reads one connection, and keeps the id of the last event.
func (a *API) follow(ctx context.Context, topics []string, last *string, yield func(News) error) error {
	return a.events(ctx, "/api/v1/events?"+url.Values{"topic": topics}.Encode(), *last, func(e event) error {
		n := News{Topic: e.name}
		if len(e.data) > 0 {
			if err := json.Unmarshal(e.data, &n); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
		}
		n.Topic = e.name
		if err := yield(n); err != nil {
			return err
		}
		if e.id != "" {
			*last = e.id
		}
		return nil
	})
}

// events reads one connection until it ends, after the event with the id last.
func (a *API) events(ctx context.Context, path, last string, yield func(event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	t := tail{api: a} // whose errors are the same
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.address+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask for events: %w", err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	if err := a.sign(ctx, req); err != nil {
		return err
	}
	resp, err := a.stream.Do(req)
	if err != nil {
		return t.lost(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
		if err != nil {
			return t.lost(err)
		}
		return problemOf(resp, body)
	}
	events := eventReader{lines: bufio.NewReader(resp.Body), progress: func() { watchdog.Reset(silence) }}
	for {
		e, err := events.next()
		if err != nil {
			return t.lost(err)
		}
		if e.name == "bye" {
			return t.lost(errBye)
		}
		if err := yield(e); err != nil {
			return err
		}
	}
}
