package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// startWait is how long a server may take to answer a start.
const startWait = 10 * time.Second

// Started is a run that a handler has started with [Run.Start].
type Started = bus.StartRequest

// StartOption says more about a run that is started, such as when it is due.
type StartOption func(*Started)

// At starts the run at an instant, at most a week ago and a year ahead.
func At(t time.Time) StartOption { return func(s *Started) { s.At = t } }

// In starts the run after d.
func In(d time.Duration) StartOption { return func(s *Started) { s.In = job.Duration(d) } }

// Expires ends the run as missed if it has not begun d after it was due.
func Expires(d time.Duration) StartOption { return func(s *Started) { s.Expires = job.Duration(d) } }

// Labels asks for instances with these labels, in the place of those that the job asks for.
func Labels(l job.Labels) StartOption { return func(s *Started) { s.Labels = l } }

// Start starts a run of a job of the group, with params as JSON in the place of the job's; nil are the
// job's. It returns the id of the run, whose parent is this one. It needs neither the address of the API nor a
// token, and waits a minute if no server answers.
//
// A further attempt of this run that calls Start with the same job and params gets the run that was started
// before. Two such calls within one attempt start two runs: the first and the second of each attempt are the
// same. So write params that are the same in each attempt, without the time of day.
//
// Errors: [job.ErrNotFound] without such a job, an *[job.InvalidError], [job.ErrConflict] if the run must not
// start it, [job.ErrTooMany] after 1,000 runs, and [job.ErrUnavailable].
func (r *Run) Start(ctx context.Context, name job.Name, params any, options ...StartOption) (job.RunID, error) {
	wish := Started{Job: name}
	if params != nil {
		var err error
		if wish.Params, err = json.Marshal(params); err != nil {
			return "", err
		}
	}
	for _, option := range options {
		option(&wish)
	}
	wish.Count = r.countStart(string(name) + string(wish.Params)) // a name has no character with which JSON begins
	if r.rehearsal != nil {
		return r.rehearsal.start(wish), nil
	}
	m, err := wish.Msg(r.trigger.Job.Group(), r.token, *r.ack.Load())
	if err != nil {
		return "", err
	}
	id, err := fetch(ctx, func() (string, error) {
		ctx, cancel := context.WithTimeout(ctx, startWait)
		defer cancel()
		answer, err := r.log.e.conn.NC.RequestMsgWithContext(ctx, m)
		if err != nil {
			return "", fmt.Errorf("%w: %w", job.ErrUnavailable, err)
		}
		var reply bus.StartReply
		err = bus.DecodeReply(answer, m.Subject, &reply)
		return string(reply.RunID), err
	})
	return job.RunID(id), err
}

// countStart returns how many equal starts there were before.
func (r *Run) countStart(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.starts == nil {
		r.starts = map[string]int{}
	}
	r.starts[what]++
	return r.starts[what] - 1
}
