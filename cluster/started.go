package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// StartedFor is how long it is kept which runs the code of a run has started, after the last of them.
const StartedFor = bus.ClaimFor

// startedBytes bounds the bucket with that. The code of a run that starts 1,000 takes 32 KiB.
const startedBytes = 1 << 30

// started is which runs the code of a run has started: their fire times in Unix milliseconds, by the request
// without the time in it, which is that of the run.
type started struct {
	Runs map[string]int64 `json:"runs"`
}

var kindStarted = jet.Kind[started]{Bucket: bus.BucketStarted, TTL: StartedFor, Name: func(key string) string {
	return "what run " + key + " has started"
}}

// timeOfRunID is how much of the text of a run's id is its time.
const timeOfRunID = len("019ca945-0a00-")

// Starts are the runs that the code of runs has started.
type Starts struct{ conn *Conn }

// StartsOn returns the runs that the code of runs has started.
func StartsOn(c *Conn) Starts { return Starts{c} }

// Get returns the run that the code of a run has started by a request, see [job.StartID]; "" if it has not.
// The error is job.ErrTooMany if it has started so many others that it may start no more.
func (ss Starts) Get(ctx context.Context, group string, of, request job.RunID) (job.RunID, error) {
	s, _, err := kindStarted.On(ss.conn.Conn).Read(ctx, startedKey(group, of))
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return "", err
	}
	if at, ok := s.Runs[string(request[timeOfRunID:])]; ok {
		return job.LaterRunID(request, at), nil
	}
	if len(s.Runs) >= bus.MaxStarts {
		return "", fmt.Errorf("%w: the code of run %s has started %d runs; start further ones from the code of these", job.ErrTooMany, of, len(s.Runs))
	}
	return "", nil
}

// Put keeps which run, made for the request, the code of a run has started.
func (ss Starts) Put(ctx context.Context, group string, of, request, run job.RunID) error {
	_, err := kindStarted.On(ss.conn.Conn).Edit(ctx, startedKey(group, of), func(s *started, _ uint64) (bool, error) {
		if s.Runs == nil {
			s.Runs = map[string]int64{}
		}
		at := run.Time().UnixMilli()
		if s.Runs[string(request[timeOfRunID:])] == at {
			return false, nil
		}
		s.Runs[string(request[timeOfRunID:])] = at
		return true, nil
	})
	return err
}

func startedKey(group string, of job.RunID) string { return group + "." + string(of) }
