package runs

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Start makes a run of a job as somebody wishes.
func (rs *Runs) Start(ctx context.Context, name job.Name, wish *api.RunRequest) (api.RunAccepted, error) {
	var none api.RunAccepted
	request := bus.TriggerRequest{Job: name, Cause: wish.Cause, Params: wish.Params, Labels: wish.Labels, By: access.Author(ctx)}
	now := time.Now().UTC().Truncate(time.Millisecond)
	if err := setTimes(&request, wish, now); err != nil {
		return none, err
	}
	wanted := wish.RunID
	if wanted == "" {
		wanted = job.NewRunID(now)
	}
	// Never the wish itself: it may be the id of a fire of another group, which is still
	// to come.
	request.RunID = job.WantedRunID(name, wanted)
	if wish.RunID != "" {
		if known, found, err := rs.repeated(ctx, wanted, request.RunID); err != nil || found {
			known.Existed = found
			return known, err
		}
	}
	if request.Cause == "" {
		request.Cause = job.CauseAPI
	}
	if err := setKey(ctx, &request, wish); err != nil {
		return none, err
	}
	if len(request.Params) > 0 && !access.Who(ctx).Access.Sees(rights.Params, name.Group()) {
		return none, problem.Explain(problem.ErrForbidden, refusal.NeedsParams.With(name.Group()))
	}
	if len(request.Params) > job.MaxParams {
		return none, &job.InvalidError{Field: "params", Reason: reason.TooManyBytes.With(len(request.Params), job.MaxParams)}
	}
	// The owner of the shard knows too, but answers only while there is one.
	entry, err := rs.conn.Jobs().Get(ctx, name)
	if err != nil {
		return none, err
	}
	if err := rs.view.CheckGiven(ctx, &entry.Job, request.Params); err != nil {
		return none, err
	}
	if err := labelsOf(&entry.Job, request.Labels); err != nil {
		return none, err
	}
	reply, err := askForRun(ctx, rs, &request, entry.Revision)
	if err != nil {
		return none, err
	}
	started := refusal.StartedRun.With(reply.RunID)
	if request.Cause == job.CauseTest {
		started = refusal.StartedTestRun.With(reply.RunID)
	}
	auditlog.Entry(ctx).Detail = reason.Text(started)
	return rs.asItIs(ctx, &request, &reply), nil
}

// labelsOf returns an *InvalidError for labels of a run of a workflow, whose steps have labels of their own.
func labelsOf(j *job.Job, labels job.Labels) error {
	if len(labels) > 0 && len(j.Steps) > 0 {
		return job.Invalid("labels", "do not go with steps, each of which has its own")
	}
	return nil
}

// accepted returns a run that its owner has committed, which can be read from now on.
func (rs *Runs) accepted(ctx context.Context, request *bus.TriggerRequest, reply *bus.TriggerReply) api.RunAccepted {
	a := api.RunAccepted{RunID: reply.RunID, Job: request.Job, Version: reply.Version, Status: reply.Status, Reason: reason.Text(reply.Reason)}
	rs.recent.add(&a, request.Cause, request.RetryOf, access.Author(ctx))
	return a
}

const (
	// maxIDAge is how old the time of an id may be that a caller chooses. It is less than
	// shard.AskedFor, for which the owner knows an id again, by what clocks may differ.
	maxIDAge = 5 * time.Minute
	// maxIDAhead is how far ahead that time may be.
	maxIDAhead = time.Minute
)

// repeated returns the run that was made before for an id that the caller chose, if the history has it. The
// error is an *InvalidError for an id whose owner may have forgotten it: it could make a second run.
func (rs *Runs) repeated(ctx context.Context, wanted, id job.RunID) (known api.RunAccepted, found bool, err error) {
	if _, err := job.ParseRunID(string(wanted)); err != nil {
		return known, false, err
	}
	now, at := time.Now(), wanted.Time()
	if at.After(now.Add(maxIDAhead)) {
		return known, false, &job.InvalidError{Field: "run_id", Reason: refusal.RunIDAhead.With(at)}
	}
	old := at.Before(now.Add(-maxIDAge))
	known, found, err = rs.acceptedBefore(ctx, id)
	switch {
	case err != nil && !old: // the owner of the shard knows
		return known, false, nil
	case err != nil || found || !old:
		return known, found, err
	}
	return known, false, &job.InvalidError{Field: "run_id", Reason: refusal.RunIDOld.With(at)}
}

// askTimeout is how long the owner of a shard may take to answer.
const askTimeout = 5 * time.Second

// ask sends a request to the owner of the job's shard, which answers it when it has heard
// of the given revision of the job.
func (rs *Runs) ask(ctx context.Context, name job.Name, verb string, revision uint64, request, reply any) error {
	err := rs.conn.Shards().AskOwner(ctx, name, verb, revision, request, reply, askTimeout)
	if errors.Is(err, job.ErrUnavailable) {
		shard := name.Shard(rs.conn.Cluster().Shards)
		return problem.Explain(err, refusal.ShardSilent.With(shard, name))
	}
	return err
}

// StartEarly runs a fire of a job now. One write calls the fire off
// and names the run in its place, which the owner of the job's shard makes when it hears
// of that; it is asked only what became of it. Asked again, the same run is meant.
func (rs *Runs) StartEarly(ctx context.Context, name job.Name, r *api.SkipRequest) (accepted api.RunAccepted, err error) {
	fireTime := r.FireTime.UTC().Truncate(time.Millisecond)
	id, again := job.NewRunID(time.Now()), false
	entry, err := rs.catalog.ChangeSkips(ctx, name, fireTime, r.Reason, func(v *job.Version, s job.Skip) error {
		if was := v.SkipOf(s.FireTime); was != nil && was.RunID != "" {
			id, again = was.RunID, true
			return nil
		}
		s.RunID = id
		v.Skip(s)
		return nil
	})
	if err != nil {
		return accepted, err
	}
	if again {
		// The owner remembers a few minutes long what it has made, the history longer.
		known, found, err := rs.acceptedBefore(ctx, id)
		if err != nil || found {
			return known, err
		}
	}
	request := bus.TriggerRequest{RunID: id, Job: name, Cause: job.CauseManual, By: access.Author(ctx), InsteadOf: fireTime}
	var reply bus.TriggerReply
	if err := rs.ask(ctx, name, "trigger", entry.Revision, request, &reply); err != nil {
		return accepted, err
	}
	auditlog.Entry(ctx).Detail = reason.Text(refusal.StartedRun.With(reply.RunID))
	return rs.accepted(ctx, &request, &reply), nil
}

// acceptedBefore returns a run as it was accepted, if the history has it.
func (rs *Runs) acceptedBefore(ctx context.Context, id job.RunID) (accepted api.RunAccepted, found bool, err error) {
	attempts, err := rs.store.Run(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		return accepted, false, nil
	}
	if err != nil {
		return accepted, false, problem.StoreAway(err)
	}
	newest := &attempts[0]
	return api.RunAccepted{RunID: id, Job: newest.Job, Version: newest.Version, Status: newest.RunStatus(), Reason: newest.Reason}, true, nil
}
