package runs

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// statusEnded is that of a run that is known only by its key.
const statusEnded job.Status = "ended"

// setKey sets the key of a run that somebody wishes. The error is an *InvalidError.
func setKey(ctx context.Context, r *bus.TriggerRequest, wish *api.RunRequest) error {
	switch {
	case wish.Key == "" && wish.Reset:
		return job.Invalid("reset", "needs key")
	case wish.Key == "":
		return nil
	case len(wish.Key) > bus.MaxKey || !utf8.ValidString(wish.Key):
		return job.Invalid("key", "must be at most %d bytes of UTF-8", bus.MaxKey)
	case r.Cause == job.CauseTest:
		return job.Invalid("key", "does not go with cause test")
	}
	r.Key, r.Reset = wish.Key, wish.Reset
	r.OwnKey = r.Reset && len(access.Who(ctx).Only) > 0
	return nil
}

// askForRun asks the owner of a job for a run, and keeps what that is given. With a key, only the answer tells
// which run it is: if that cannot be kept then, a repeat of the request keeps it.
func askForRun(ctx context.Context, rs *Runs, r *bus.TriggerRequest, revision uint64) (reply bus.TriggerReply, err error) {
	if r.Key == "" {
		if err := rs.keepGiven(ctx, r); err != nil {
			return reply, err
		}
		return reply, rs.ask(ctx, r.Job, "trigger", revision, r, &reply)
	}
	if len(r.Params)+len(r.Labels) > 0 {
		if err := rs.conn.Overrides().CheckRoom(ctx, r.Job.Group()); err != nil {
			return reply, err
		}
	}
	if err := rs.ask(ctx, r.Job, "trigger", revision, r, &reply); err != nil {
		return reply, keyRefused(err)
	}
	if reply.Differs != "" {
		return reply, &problem.KeyInUseError{RunID: reply.RunID, Text: refusal.KeyInUse.With(reply.RunID, reply.Differs)}
	}
	made := bus.TriggerRequest{RunID: reply.RunID, Job: r.Job, Params: r.Params, Labels: r.Labels}
	if err := rs.keepGiven(ctx, &made); err != nil && !errors.Is(err, job.ErrInvalid) { // there was room just now
		return reply, err
	}
	return reply, nil
}

// keyRefused returns the error of a request whose key its owner refused, as clients are to see it.
func keyRefused(err error) error {
	if errors.Is(err, job.ErrUnavailable) && strings.HasSuffix(err.Error(), refusal.NoRoomForKeys.String()) {
		return problem.Explain(err, refusal.NoRoomForKeys.String())
	}
	switch said := reason.Read(problem.WithoutKind(err.Error(), job.ErrConflict)); said.Code {
	case refusal.KeyRunAlive.Code, refusal.KeyOfAnother.Code:
		return &problem.KeyInUseError{RunID: job.RunID(said.Params["run_id"]), Text: said.Text}
	}
	return err
}
