package executor

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// kill ends a run, if it is here, and says which of its pieces are.
func (l *loop) kill(life context.Context, m *nats.Msg) (answer fleet.Answer, pieces []int, err error) {
	req, err := bus.DecodeKill(m.Data)
	if err != nil {
		return "", nil, err
	}
	answer = fleet.AnswerGone
	for key, a := range l.attempts.live {
		if key.run != req.RunID {
			continue
		}
		answer = fleet.AnswerAccepted
		if a.trigger.Total > 0 {
			pieces = append(pieces, a.trigger.Index)
		}
		cause := &killedError{req.Text()}
		if a.begun {
			a.ending.kill(cause)
			a.cancel(cause)
			continue
		}
		l.attempts.unqueue(a)
		l.conclude(life, a, outcome{status: job.StatusCancelled, message: cause.Error()})
	}
	// Of a run that is done in pieces, others may yet come here.
	l.attempts.killed.Add(attemptKey{run: req.RunID})
	slices.Sort(pieces)
	return answer, pieces, nil
}

// killedError is [ErrCancelled] with who cancelled the run, and why: the run's message.
type killedError struct{ text string }

func (e *killedError) Error() string { return e.text }
func (e *killedError) Unwrap() error { return ErrCancelled }
