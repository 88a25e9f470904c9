package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// kill ends a run, if it is here, and says which of its pieces are.
func (l *loop) kill(life context.Context, m *nats.Msg) (answer fleet.Answer, pieces []int, err error) {
	req, err := decodeKill(m)
	if err != nil {
		return "", nil, err
	}
	answer = fleet.AnswerGone
	for key, r := range l.live {
		if key.run != req.RunID {
			continue
		}
		answer = fleet.AnswerAccepted
		if r.trigger.Total > 0 {
			pieces = append(pieces, r.trigger.Index)
		}
		cause := killedBy(req)
		if r.begun {
			l.cancel(r, cause)
			continue
		}
		l.forget(r)
		l.conclude(life, r, outcome{status: job.StatusCancelled, message: cause.Error()})
	}
	// Of a run that is done in pieces, others may yet come here.
	l.killed.add(attemptKey{run: req.RunID})
	slices.Sort(pieces)
	return answer, pieces, nil
}

// decodeKill reads a [bus.VerbKill] request.
func decodeKill(m *nats.Msg) (bus.KillRequest, error) {
	var req bus.KillRequest
	if err := json.Unmarshal(m.Data, &req); err != nil {
		return req, &job.InvalidError{Reason: fmt.Sprintf("the request names no run: %v", err)}
	}
	_, err := job.ParseRunID(string(req.RunID))
	return req, err
}

// killedBy returns the cause with which a killed run's context is cancelled. Its
// text is the run's message.
func killedBy(req bus.KillRequest) error {
	text := reason.RunCancelled.String()
	switch {
	case req.By != "" && req.Reason != "":
		text = reason.RunCancelledByNote.With(req.By, req.Reason)
	case req.By != "":
		text = reason.RunCancelledBy.With(req.By)
	case req.Reason != "":
		text = reason.RunCancelledNote.With(req.Reason)
	}
	return &killedError{text}
}

// killedError is [ErrCancelled] with who cancelled the run, and why.
type killedError struct{ text string }

func (e *killedError) Error() string { return e.text }
func (e *killedError) Unwrap() error { return ErrCancelled }
