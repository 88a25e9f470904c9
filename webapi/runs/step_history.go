package runs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/internal/percentile"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Defaults of a step history; the contract states them.
const (
	listedRuns  = 30
	figureRange = 30 * 24 * time.Hour
)

// StepHistory returns how the steps of a job did in its latest runs. The error is job.ErrNotFound if there is no such
// job. What it reads is bounded by [logstore.MaxWorkflows] and [logstore.MaxStepAttempts]: of a job with 1,000 steps it
// looks at 50 runs.
func StepHistory(ctx context.Context, rs *Runs, name job.Name, p *api.GetStepHistoryParams) (api.StepHistory, error) {
	entry, err := rs.conn.Jobs().Get(ctx, name)
	if err != nil {
		return api.StepHistory{}, err
	}
	to, listed := cmp.Or(p.To.UTC(), time.Now().UTC()), cmp.Or(p.Runs, listedRuns)
	from := cmp.Or(p.From.UTC(), to.Add(-figureRange))
	if to.Before(from) {
		return api.StepHistory{}, job.Invalid("to", "must not lie before from")
	}
	page, err := rs.store.Runs(ctx, logstore.RunFilter{
		Jobs: []job.Name{name}, Causes: job.CountedCauses, From: p.From.UTC(), To: to,
		Limit: min(max(listed, logstore.MaxStepAttempts/max(len(entry.Steps), 1)), logstore.MaxWorkflows),
	})
	if err != nil {
		return api.StepHistory{}, problem.StoreAway(err)
	}
	all := page.Runs
	counted := countSince(all, from)
	h := &stepHistory{runs: all[:min(listed, len(all))], counted: all[:counted], cut: page.Next != "" && counted == len(all)}
	if all = all[:max(len(h.runs), counted)]; len(all) > 0 {
		filter := logstore.StepFilter{Workflows: make([]job.RunID, len(all))}
		for i := range all {
			filter.Workflows[i] = all[i].RunID
		}
		found, err := rs.store.StepRuns(ctx, filter)
		if err != nil {
			return api.StepHistory{}, problem.StoreAway(err)
		}
		h.add(found)
	}
	return h.answer(&entry.Job, entry.Version.Version), nil
}

// countSince returns how many of runs, the newest first, fired at or after an instant.
func countSince(runs []runlog.Run, from time.Time) int {
	for i := range runs {
		if runs[i].FireTime.Before(from) {
			return i
		}
	}
	return len(runs)
}

// stepHistory is what is known of the steps of runs, both newest first.
type stepHistory struct {
	runs, counted []runlog.Run // those that are listed, and those of which the figures are
	cut           bool         // there are older ones that are not counted
	steps         map[job.RunID][]logstore.StepRun
}

// add takes in what became of the steps.
func (h *stepHistory) add(page logstore.StepPage) {
	if page.Cut != "" {
		for i := range h.counted {
			if h.counted[i].RunID <= page.Cut {
				h.counted, h.cut = h.counted[:i], true
				break
			}
		}
	}
	h.steps = map[job.RunID][]logstore.StepRun{}
	for _, s := range page.Runs {
		h.steps[s.Workflow] = append(h.steps[s.Workflow], s)
	}
}

// answer returns the history of j, whose newest version is given.
func (h *stepHistory) answer(j *job.Job, version int) api.StepHistory {
	cells := make([]map[string]logstore.StepRun, len(h.runs))
	for i := range h.runs {
		cells[i] = newestRounds(h.runs[i].RunID, h.steps[h.runs[i].RunID])
	}
	answer := api.StepHistory{
		Job: j.Job, Version: version, Counted: len(h.counted), Cut: h.cut, Steps: h.figures(namesOf(j, cells)), Runs: make([]api.StepsOfRun, len(h.runs)),
	}
	if n := len(h.counted); n > 0 {
		answer.Since = h.counted[n-1].FireTime
	}
	for i := range h.runs {
		r := &h.runs[i]
		column := api.StepsOfRun{
			RunID: r.RunID, Version: r.Version, Status: r.RunStatus(), FireTime: r.FireTime, StartedAt: r.RunStartedAt(), FinishedAt: r.FinishedAt,
			States: make([]string, len(answer.Steps)), DurationsMs: make([]int64, len(answer.Steps)),
		}
		for k := range answer.Steps {
			step := &answer.Steps[k]
			s, began := cells[i][step.Step]
			switch {
			case began && s.Awaits != "":
				column.States[k] = "awaits_" + string(s.Awaits)
			case began:
				column.States[k] = string(s.Status)
				column.DurationsMs[k], _ = tookOf(&s)
			case !column.Status.Final() && r.Version == version && !step.Gone:
				column.States[k] = string(stepWaiting)
			}
		}
		answer.Runs[i] = column
	}
	return answer
}

// newestRounds returns the runs of the steps of a workflow's run, each of the newest round, by step.
func newestRounds(of job.RunID, steps []logstore.StepRun) map[string]logstore.StepRun {
	newest := make(map[string]logstore.StepRun, len(steps))
	var again map[string]map[job.RunID]logstore.StepRun // the steps with several rounds
	for _, s := range steps {
		other, ok := newest[s.Step]
		switch {
		case !ok:
			newest[s.Step] = s
			continue
		case again == nil:
			again = map[string]map[job.RunID]logstore.StepRun{}
		}
		if again[s.Step] == nil {
			again[s.Step] = map[job.RunID]logstore.StepRun{other.RunID: other}
		}
		again[s.Step][s.RunID] = s
	}
	for step, rounds := range again {
		id := newestRound(of, step, func(id job.RunID) bool { _, ok := rounds[id]; return ok })
		if s, ok := rounds[id]; ok {
			newest[step] = s
		}
	}
	return newest
}

// namesOf returns the steps of j, and then those that only listed runs have, with whether they are gone.
func namesOf(j *job.Job, cells []map[string]logstore.StepRun) []api.StepFigures {
	steps := make([]api.StepFigures, 0, len(j.Steps))
	gone := map[string]bool{}
	for i := range cells {
		for step := range cells[i] {
			gone[step] = true
		}
	}
	for i := range j.Steps {
		steps = append(steps, api.StepFigures{Step: j.Steps[i].Name})
		delete(gone, j.Steps[i].Name)
	}
	for _, step := range slices.Sorted(maps.Keys(gone)) {
		steps = append(steps, api.StepFigures{Step: step, Gone: true})
	}
	return steps[:min(len(steps), workflow.MaxSteps)]
}

// figures adds to steps how they did in the counted runs.
func (h *stepHistory) figures(steps []api.StepFigures) []api.StepFigures {
	byStep := make(map[string]*api.StepFigures, len(steps))
	took := make(map[string][]int64, len(steps))
	for i := range steps {
		byStep[steps[i].Step] = &steps[i]
	}
	for i := range h.counted {
		of := h.counted[i].RunID
		for _, s := range h.steps[of] {
			f := byStep[s.Step]
			if f == nil || !ran(&s) {
				continue
			}
			f.Runs++
			if ms, ok := tookOf(&s); ok {
				took[s.Step] = append(took[s.Step], ms)
			}
			if s.Status == job.StatusSucceeded {
				continue
			}
			f.Failures++
			if last := f.LastFailure; last == nil || last.RunID == of && last.At.Before(s.FinishedAt) {
				f.LastFailure = &api.StepFailure{RunID: of, Status: s.Status, At: s.FinishedAt}
			}
		}
	}
	for step, all := range took {
		slices.Sort(all)
		byStep[step].P50Ms, byStep[step].P95Ms = new(percentile.Of(all, 50)), new(percentile.Of(all, 95))
	}
	return steps
}

// ran reports whether a step ended well or badly of its own. One that succeeded without a beginning was taken over from
// another run.
func ran(s *logstore.StepRun) bool {
	switch s.Status { //nolint:exhaustive // the others have not ended, or were not to run
	case job.StatusFailed, job.StatusTimedOut, job.StatusLost, job.StatusMissed:
		return true
	case job.StatusSucceeded:
		return !s.StartedAt.IsZero()
	}
	return false
}

// tookOf returns how many milliseconds a step took; ok is false if it has not ended, or did not begin.
func tookOf(s *logstore.StepRun) (ms int64, ok bool) {
	if s.StartedAt.IsZero() || s.FinishedAt.IsZero() || !s.Status.Final() {
		return 0, false
	}
	return max(s.FinishedAt.Sub(s.StartedAt).Milliseconds(), 0), true
}
