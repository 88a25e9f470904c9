package runs

import (
	"cmp"
	"context"
	"errors"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	// maxApprovals bounds the listed approvals, of all groups that the caller sees; the contract states it.
	maxApprovals = 1000
	// maxLineage bounds over how many runs it is followed who asked for the first: more than can lead to one by children
	// and by calls.
	maxLineage = 2 * job.MaxChain
)

// Approvals lists the steps that wait for approval in groups that the caller sees, the oldest first; with mine only
// those that the caller may approve.
func (w *Waits) Approvals(ctx context.Context, mine bool) (api.ApprovalList, error) {
	list := api.ApprovalList{Items: []api.Approval{}}
	rows, err := w.runs.store.OpenWaits(ctx, logstore.WaitFilter{Kind: runlog.WaitApproval, Limit: maxApprovals})
	if err != nil {
		return list, problem.StoreAway(err)
	}
	titles := map[job.Name]*job.Job{}
	requesters := map[job.RunID]access.Requester{}
	for i := range rows {
		r := &rows[i]
		by, known := requesters[r.Parent]
		if !known {
			if by, err = requester(ctx, w.runs.history, r); err != nil {
				return list, err
			}
			requesters[r.Parent] = by
		}
		a := api.Approval{
			Job: r.Job, RunID: r.Parent, Step: r.Step, FireTime: r.FireTime, RequestedBy: by.User, RequesterUnknown: by.Unknown, Wait: *r.Wait,
			WhyNot: reason.Text(access.WhyNotDecide(access.Who(ctx), r.Job.Group(), by, r.Wait.By, r.Wait.NotByRequester)),
		}
		if a.May = a.WhyNot == ""; mine && !a.May {
			continue
		}
		if a.Title, err = w.titleOf(ctx, titles, r); err != nil {
			return list, err
		}
		list.Items = append(list.Items, a)
	}
	return list, nil
}

// markApprovals says of the steps of a run that wait for approval whether the caller may approve them.
func markApprovals(ctx context.Context, history logstore.Store, of *runlog.Run, steps []api.RunStep) error {
	asked, by := false, access.Requester{}
	for i := range steps {
		s := &steps[i]
		if s.Wait == nil || s.Wait.Kind != runlog.WaitApproval || s.State != api.RunStepState(job.StatusQueued) {
			continue
		}
		if !asked {
			var err error
			if by, err = requester(ctx, history, of); err != nil {
				return err
			}
			asked = true
		}
		s.WhyNot = reason.Text(access.WhyNotDecide(access.Who(ctx), of.Job.Group(), by, s.Wait.By, s.Wait.NotByRequester))
		s.May = s.WhyNot == ""
	}
	return nil
}

// defined returns what a step waits for, as far as its definition says it: with references, and no instants.
func defined(w *job.Wait) *runlog.Wait {
	shown := &runlog.Wait{Kind: runlog.WaitTime, Signal: w.Signal, Key: w.Key}
	switch {
	case w.Signal != "":
		shown.Kind = runlog.WaitSignal
	case w.Approval != nil:
		shown.Kind, shown.By, shown.NotByRequester, shown.Min = runlog.WaitApproval, w.Approval.Approvers(), w.Approval.NotByRequester, w.Approval.Least()
	case w.Runs != nil:
		shown.Kind, shown.Runs = runlog.WaitRuns, &runlog.AwaitedRuns{Job: w.Runs.Job, Last: w.Runs.Last, Need: w.Runs.Need, Skipped: w.Runs.Skipped}
	}
	return shown
}

// titleOf returns the title that a step has in the newest version of its job, which is read once for all its steps.
func (w *Waits) titleOf(ctx context.Context, read map[job.Name]*job.Job, r *runlog.Run) (string, error) {
	j, known := read[r.Job]
	if !known {
		entry, err := w.runs.conn.Jobs().Get(ctx, r.Job)
		if err != nil && !errors.Is(err, job.ErrNotFound) {
			return "", err
		}
		if j = new(job.Job); err == nil {
			j = &entry.Job
		}
		read[r.Job] = j
	}
	for i := range j.Steps {
		if j.Steps[i].Name == r.Step {
			return j.Steps[i].Title, nil
		}
	}
	return "", nil
}

// requester returns who asked for a run, or for the run that led to it: a step, a called job and a child run for whoever
// began the first of them.
func requester(ctx context.Context, history logstore.Store, of *runlog.Run) (access.Requester, error) {
	by, next := of.By, of.Parent
	if of.Cause == job.CauseStep { // by is who did something to the step
		by = ""
	}
	for range maxLineage {
		if by != "" || next == "" {
			return access.Requester{User: by}, nil
		}
		attempts, err := history.Run(ctx, next)
		if errors.Is(err, job.ErrNotFound) {
			break
		}
		if err != nil {
			return access.Requester{}, problem.StoreAway(err)
		}
		next = attempts[0].Parent
		for i := range attempts {
			by = cmp.Or(by, attempts[i].By)
		}
	}
	return access.Requester{Unknown: true}, nil
}
