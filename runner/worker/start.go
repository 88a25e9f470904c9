package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// maxUnanswered is how many starts of a run may wait for their answers.
const maxUnanswered = 64

// started answers a message "start".
type started struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Ref   json.RawMessage `json:"ref,omitempty"` // as the process gave it
	RunID job.RunID       `json:"run_id,omitempty"`
	Error *startError     `json:"error,omitempty"`
}

// startError says why a run was not started.
type startError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// await returns the answer of a run, and does its starts until then, in their order. It returns false if until
// is closed first.
func (p *process) await(ctx context.Context, c *call, until <-chan struct{}) (answer, bool) {
	for {
		select {
		case a := <-c.answer:
			if a.err == nil {
				p.startRest(ctx, c)
			}
			return a, true
		case m := <-c.starts:
			p.start(ctx, c, m)
		case <-until:
			return answer{}, false
		}
	}
}

// startRest does the starts of a run that has succeeded without waiting for them.
func (p *process) startRest(ctx context.Context, c *call) {
	for {
		select {
		case m := <-c.starts:
			p.start(ctx, c, m)
		default:
			return
		}
	}
}

// want notes a start that the process asks for.
func (p *process) want(c *call, m *message) {
	select {
	case c.starts <- m:
	default:
		p.refuse(c, m.Ref, fmt.Errorf("%w: %d starts of the run wait for their answers; read those first", job.ErrTooMany, maxUnanswered))
	}
}

// start starts a run, and answers the process with its id, or with the reason for which it was refused.
func (p *process) start(ctx context.Context, c *call, m *message) {
	id, err := startOf(ctx, c.run, m.Request)
	if err != nil {
		p.refuse(c, m.Ref, err)
		return
	}
	p.stdin.send(started{Type: typeStarted, ID: c.id, Ref: m.Ref, RunID: id})
}

// refuse answers the process that a run was not started. It also writes that to the log of the run, since the
// process may not read the answer.
func (p *process) refuse(c *call, ref json.RawMessage, err error) {
	c.log.Warn("start of a run refused", "error", err)
	p.stdin.send(started{Type: typeStarted, ID: c.id, Ref: ref, Error: &startError{Kind: job.KindOf(err), Message: err.Error()}})
}

// startOf starts what a request asks for. Equal parameters have one text, whatever the order of their keys.
func startOf(ctx context.Context, run *executor.Run, request json.RawMessage) (job.RunID, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	var r executor.Started
	if len(request) == 0 {
		return "", job.Invalid("request", "is missing")
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return "", job.Invalid("request", "is wrong: %v", err)
	}
	var params any
	if len(r.Params) > 0 {
		d := json.NewDecoder(bytes.NewReader(r.Params))
		d.UseNumber()
		if err := d.Decode(&params); err != nil {
			return "", job.Invalid("params", "is wrong: %v", err)
		}
	}
	return run.Start(ctx, r.Job, params, func(s *executor.Started) {
		s.At, s.In, s.Expires, s.Labels = r.At, r.In, r.Expires, r.Labels
	})
}
