package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Steps returns the steps of a workflow's run, with what the history has of each. The error is
// job.ErrNotFound if the version of the run has no steps, or is not kept any more.
func (rs *Runs) Steps(ctx context.Context, id string) (api.RunSteps, error) {
	attempts, err := rs.Attempts(ctx, id)
	if err != nil {
		return api.RunSteps{}, err
	}
	of := &attempts[0]
	if of.Cause == job.CauseStep {
		return api.RunSteps{}, problem.Explain(job.ErrNotFound, refusal.RunIsStep.With(of.RunID, of.Parent))
	}
	entry, err := rs.pinned(ctx, of)
	if err != nil {
		return api.RunSteps{}, err
	}
	if len(entry.Steps) == 0 {
		return api.RunSteps{}, problem.Explain(job.ErrNotFound, refusal.RunHasNoSteps.With(entry.Version.Version, of.Job))
	}
	rows, err := rs.stepRuns(ctx, of)
	if err != nil {
		return api.RunSteps{}, err
	}
	shown := entry.Job
	shown.Steps = slices.Clone(shown.Steps)
	for i := range shown.Steps {
		s := &shown.Steps[i]
		s.Task = access.HiddenJob(access.Who(ctx).Access, s.Effective(&entry.Job)).Task
	}
	list := stepsOf(&shown, of, rows)
	if err := countPieces(ctx, rs.store, &list); err != nil {
		return list, err
	}
	if err := WaitsOf(rs).markAwaited(ctx, of, list.Steps); err != nil {
		return list, err
	}
	return list, markApprovals(ctx, rs.history, of, list.Steps)
}

// maxCounted bounds of how many steps the pieces are counted that are not over.
const maxCounted = 20

// countPieces adds how many pieces of each step have ended.
func countPieces(ctx context.Context, history logstore.Store, list *api.RunSteps) error {
	counted := 0
	for i := range list.Steps {
		s := &list.Steps[i]
		if s.Pieces == 0 {
			continue
		}
		if job.Status(s.State).Final() {
			s.PiecesEnded = s.Pieces
			continue
		}
		if counted++; counted > maxCounted {
			return nil
		}
		page, err := history.Pieces(ctx, logstore.PieceFilter{RunID: s.RunID, Limit: 1})
		if err != nil {
			return problem.StoreAway(err)
		}
		for status, n := range page.Counts {
			if status.Final() {
				s.PiecesEnded += n
			}
		}
	}
	return nil
}

// countSteps returns how many steps the version of a run has; none if it is not kept any more.
func (rs *Runs) countSteps(ctx context.Context, of *runlog.Run) (int, error) {
	if of.Cause == job.CauseStep {
		return 0, nil
	}
	entry, err := rs.pinned(ctx, of)
	if errors.Is(err, job.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return len(entry.Steps), nil
}

// pinned returns the version of the job that a run does. The error is job.ErrNotFound if it is not kept any more.
func (rs *Runs) pinned(ctx context.Context, of *runlog.Run) (*bus.JobEntry, error) {
	newest, err := rs.conn.Jobs().Get(ctx, of.Job)
	switch {
	case err == nil && newest.Version.Version == of.Version:
		return newest, nil
	case err != nil && !errors.Is(err, job.ErrNotFound):
		return nil, err
	}
	versions, err := rs.conn.Jobs().Versions(ctx, of.Job)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nil, err
	}
	for _, v := range versions {
		if v.Version.Version == of.Version && !v.Deleted {
			return v, nil
		}
	}
	return nil, problem.Explain(job.ErrNotFound, refusal.VersionNotKept.With(of.Version, of.Job))
}

// stepRuns returns what the history has of the runs of steps of a workflow's run, by step. They have its fire time.
// That of a step that calls a job is a run of that job.
func (rs *Runs) stepRuns(ctx context.Context, of *runlog.Run) (map[string]*runlog.Run, error) {
	at := of.RunID.Time()
	filter := logstore.RunFilter{
		Parent: of.RunID, Causes: []job.Cause{job.CauseStep, job.CauseParent}, From: at, To: at.Add(time.Millisecond), Limit: logstore.MaxRuns,
	}
	byID := map[job.RunID]*runlog.Run{}
	for more := true; more; more = filter.Cursor != "" {
		page, err := rs.store.Runs(ctx, filter)
		if err != nil {
			return nil, problem.StoreAway(err)
		}
		if err := rs.explain(ctx, page.Runs); err != nil {
			return nil, err
		}
		for i := range page.Runs {
			if r := &page.Runs[i]; r.Step != "" && (r.Job == of.Job || r.Cause == job.CauseParent) {
				byID[r.RunID] = r
			}
		}
		filter.Cursor = page.Next
	}
	rows := make(map[string]*runlog.Run, len(byID))
	for _, r := range byID {
		if rows[r.Step] == nil {
			rows[r.Step] = cmp.Or(byID[newestRound(of.RunID, r.Step, func(id job.RunID) bool { return byID[id] != nil })], r)
		}
	}
	return rows, nil
}

// newestRound returns the run of a step in its newest round; "" if not even the first is known. Each has left a row.
func newestRound(of job.RunID, step string, isKnown func(job.RunID) bool) (newest job.RunID) {
	for round := 1; ; round++ {
		id := job.RoundRunID(of, step, round)
		if !isKnown(id) {
			return newest
		}
		newest = id
	}
}

// roundOf returns of which round of its step a row is; 0 is the first.
func roundOf(of job.RunID, row *runlog.Run) (round int) {
	for round = 1; round <= maxRounds; round++ {
		if job.RoundRunID(of, row.Step, round) == row.RunID {
			break
		}
	}
	if round == 1 || round > maxRounds {
		return 0
	}
	return round
}

// earlierRuns returns the runs of a step in its rounds before one, oldest first.
func earlierRuns(of job.RunID, step string, round int) (earlier []job.RunID) {
	for r := 1; r < round; r++ {
		earlier = append(earlier, job.RoundRunID(of, step, r))
	}
	return earlier
}

// maxRounds bounds for how many rounds of a step it is told which one a row is of.
const maxRounds = 100

// The states of a step of which the history has no run.
const (
	stepWaiting = api.RunStepState("waiting")
	stepReady   = api.RunStepState("ready")
	stepUnknown = api.RunStepState("unknown")
)

// stepsOf returns the steps of a run of j, of whose runs the history has rows.
func stepsOf(j *job.Job, of *runlog.Run, rows map[string]*runlog.Run) api.RunSteps {
	list := api.RunSteps{RunID: of.RunID, Job: of.Job, Version: of.Version, Status: of.RunStatus(), Hold: of.Hold, Steps: make([]api.RunStep, len(j.Steps))}
	states := make([]workflow.State, len(j.Steps))
	for i := range j.Steps {
		list.Steps[i] = definedStep(j, &j.Steps[i])
		states[i] = workflow.Waiting
		row := rows[j.Steps[i].Name]
		if row == nil {
			continue
		}
		addRun(&list.Steps[i], row)
		list.Steps[i].Round = roundOf(of.RunID, row)
		list.Steps[i].EarlierRuns = earlierRuns(of.RunID, row.Step, list.Steps[i].Round)
		if waitsAgain(row) && !list.Status.Final() {
			list.Steps[i].State = "" // is decided below, as in the first round
			continue
		}
		states[i] = stateOf(row.StepStatus())
	}
	graph, _ := job.Graph(j.Steps) // nil if a newer server has taken what this one would not
	for i := range list.Steps {
		s := &list.Steps[i]
		switch {
		case s.State != "":
		case neverBegan(of) && len(rows) == 0: // and so no step did
			s.State, s.Reason = api.RunStepState(list.Status), of.Reason
		case list.Status.Final():
			s.State = stepUnknown
		case graph != nil && list.Status != job.StatusQueued && graph.Decide(i, states).Runs:
			if s.State = stepReady; of.Hold.Held() {
				s.Reason = of.Hold.Why()
			}
		default:
			s.State = stepWaiting
		}
	}
	return list
}

// waitsAgain reports whether a row is of a round of a step that has not begun: the step, or one that it follows, was
// retried or resolved, and its graph decides again.
func waitsAgain(row *runlog.Run) bool {
	code := reason.Read(string(row.Reason)).Code
	return row.StepStatus() == job.StatusQueued && (code == reason.StepDecidedAgain.Code || code == reason.StepRetried.Code)
}

// neverBegan reports whether a run has ended without a beginning: overlap skipped it, or it came too late.
func neverBegan(of *runlog.Run) bool {
	switch of.RunStatus() { //nolint:exhaustive // the others are of runs that began, or may begin
	case job.StatusSkipped, job.StatusMissed, job.StatusCancelled:
		return of.StartedAt.IsZero()
	}
	return false
}

// maxDetail bounds what is told of a task, in bytes.
const maxDetail = 200

// definedStep returns a step of j as its definition has it, without what is as usual: a run may have 1,000 steps.
func definedStep(j *job.Job, s *job.Step) api.RunStep {
	of := s.Effective(j)
	step := api.RunStep{
		Step: s.Name, Title: s.Title, Task: api.RunStepTask(s.Task.Kind()), Detail: clip.Text(strings.Join(strings.Fields(s.Task.Brief()), " "), maxDetail), After: s.After, If: s.If, Finally: s.Finally, MayFail: s.MayFail,
		Attempts: of.Retry.Limit + 1,
	}
	switch {
	case s.Call != "":
		step.Task, step.Detail, step.Attempts = api.RunStepTaskCall, string(s.Call), 0
	case s.Wait != nil:
		step.Task, step.Detail, step.Attempts = api.RunStepTaskWait, clip.Text(s.Wait.Kind()+" "+s.Wait.Brief(), maxDetail), 0
		step.Wait = defined(s.Wait)
	}
	if step.Detail == s.Name {
		step.Detail = "" // a handler is often called as its step
	}
	if step.Attempts == 1 {
		step.Attempts = 0
	}
	if len(s.After) > 1 {
		step.Join = fmt.Sprint(s.Join)
	}
	return step
}

// addRun adds to a step what the history has of its run.
func addRun(s *api.RunStep, r *runlog.Run) {
	s.State = api.RunStepState(r.StepStatus())
	s.RunID, s.Instance, s.ExitCode, s.Message, s.Reason = r.RunID, r.Instance, r.ExitCode, r.Message, r.Reason
	s.DecidedAt, s.StartedAt, s.FirstStartedAt, s.FinishedAt = r.RunDecidedAt(), r.StartedAt, r.FirstStartedAt, r.FinishedAt
	s.Pieces, s.Percent, s.Text = r.Total, r.Progress, r.ProgressText
	if r.Attempt > 1 {
		s.Attempt = r.Attempt
	}
	if r.Wait != nil {
		s.Wait = r.Wait
	}
}

// stateOf returns what the status of a step's run means for the steps that follow it.
func stateOf(s job.Status) workflow.State {
	for _, state := range []workflow.State{
		workflow.Succeeded, workflow.Failed, workflow.TimedOut, workflow.Lost, workflow.Missed, workflow.Cancelled, workflow.Skipped,
	} {
		if state.Word() == string(s) {
			return state
		}
	}
	return workflow.Begun
}
