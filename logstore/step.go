package logstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of what is read of the steps of many runs at once.
const (
	// MaxWorkflows is of how many runs of workflows.
	MaxWorkflows = 1000
	// MaxStepAttempts is how many attempts of their steps, in all.
	MaxStepAttempts = 50_000
)

// StepFilter selects the runs of the steps of runs of workflows.
type StepFilter struct {
	Workflows []job.RunID // from 1 to MaxWorkflows
	Limit     int         // of attempts: from 1 to MaxStepAttempts, which is the default
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *StepFilter) Validate() error {
	if n := len(f.Workflows); n < 1 || n > MaxWorkflows {
		return job.Invalid("workflows", "must be from 1 to %d run ids", MaxWorkflows)
	}
	for _, id := range f.Workflows {
		if _, err := job.ParseRunID(string(id)); err != nil {
			return err
		}
	}
	if f.Limit < 0 || f.Limit > MaxStepAttempts {
		return job.Invalid("limit", "must be from 1 to %d", MaxStepAttempts)
	}
	return nil
}

// Most returns how many attempts the filter selects at most.
func (f *StepFilter) Most() int { return cmp.Or(f.Limit, MaxStepAttempts) }

// StepRun is what became of a run of a step, as its newest attempt tells. Each round of a step has one.
type StepRun struct {
	RunID    job.RunID
	Workflow job.RunID // the run of the workflow
	Job      job.Name  // the workflow, or the job that the step calls
	Step     string
	Status   job.Status      // that of [runlog.Run.StepStatus]
	Awaits   runlog.WaitKind // what a queued step waits for; "" if it is no wait
	// StartedAt is when the first attempt or the wait began. Instants are zero while they have not come.
	StartedAt, FinishedAt time.Time
}

// StepPage is the runs of steps of workflows: by the workflow's run, the newest first, and by their ids.
type StepPage struct {
	Runs []StepRun
	// Cut is the newest run of a workflow that was beyond the limit; "" if none was. Its steps are left out, and those
	// of all that are older.
	Cut job.RunID
}

// StepFold makes a StepPage of rows of attempts, which may come in any order. The zero value has none.
type StepFold struct {
	runs map[job.RunID]*foldedStep
}

type foldedStep struct {
	StepRun
	newest, attempts int
}

// Add takes in an attempt of a step's run as a whole.
func (f *StepFold) Add(r *runlog.Run) {
	if f.runs == nil {
		f.runs = map[job.RunID]*foldedStep{}
	}
	s := f.runs[r.RunID]
	if s == nil {
		s = &foldedStep{StepRun: StepRun{RunID: r.RunID, Workflow: r.Parent, Job: r.Job, Step: r.Step}}
		f.runs[r.RunID] = s
	}
	s.attempts++
	began := r.StartedAt
	if began.IsZero() && r.Wait != nil {
		began = r.Wait.Since
	}
	if s.StartedAt.IsZero() || !began.IsZero() && began.Before(s.StartedAt) {
		s.StartedAt = began
	}
	if r.Attempt > s.newest {
		s.newest, s.Status, s.FinishedAt, s.Awaits = r.Attempt, r.StepStatus(), r.FinishedAt, ""
		if r.Wait != nil && s.Status == job.StatusQueued {
			s.Awaits = r.Wait.Kind
		}
	}
}

// Page returns what was taken in, without the workflows that are beyond limit attempts.
func (f *StepFold) Page(limit int) StepPage {
	var page StepPage
	all := make([]*foldedStep, 0, len(f.runs))
	for _, s := range f.runs {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *foldedStep) int {
		return cmp.Or(cmp.Compare(b.Workflow, a.Workflow), cmp.Compare(a.RunID, b.RunID))
	})
	for i, attempts := 0, 0; i < len(all); i++ {
		if attempts += all[i].attempts; attempts > limit {
			page.Cut = all[i].Workflow
			break
		}
		page.Runs = append(page.Runs, all[i].StepRun)
	}
	page.Runs = slices.DeleteFunc(page.Runs, func(s StepRun) bool { return s.Workflow == page.Cut })
	return page
}
