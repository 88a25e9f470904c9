package catalog

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Item returns a job with its next fires and last runs.
func (c *Catalog) Item(ctx context.Context, entry *bus.JobEntry, fires, runs int) (api.JobItem, error) {
	items, err := c.Items(ctx, []*bus.JobEntry{entry}, fires, runs, false)
	if err != nil {
		return api.JobItem{}, err
	}
	return items[0], nil
}

// Items returns jobs with their next fires and last runs, and with how they did in the
// last seven days if that is wanted.
func (c *Catalog) Items(ctx context.Context, entries []*bus.JobEntry, fires, runs int, week bool) ([]api.JobItem, error) {
	names := make([]job.Name, len(entries))
	for i, e := range entries {
		names[i] = e.Job.Job
	}
	last := c.lastRuns(ctx, names, runs)
	figures := map[job.Name]api.JobWeek(nil)
	if week {
		figures = c.week.known(ctx)
	}
	forecast := c.forecast(time.Now())
	items := make([]api.JobItem, len(entries))
	for i, e := range entries {
		next, err := forecast.next(ctx, e, fires)
		if err != nil {
			return nil, err
		}
		items[i] = api.JobItem{Definition: e.Version, Revision: e.Revision, NextFires: next}
		if e.Paused && e.Author == cluster.AuthorSelf {
			items[i].PauseReason = reason.Text(e.Note)
		}
		if last != nil {
			items[i].LastRuns = append([]api.Run{}, last[e.Job.Job]...)
		}
		if figures != nil {
			items[i].Week = new(figures[e.Job.Job])
		}
	}
	return items, nil
}

// Titles returns the titles and the owners of the named jobs, as far as they have any.
func (c *Catalog) Titles(ctx context.Context, names []string) (api.JobTitles, error) {
	asked := make([]job.Name, len(names))
	for i, name := range names {
		asked[i] = job.Name(name)
	}
	return c.index.titles(ctx, asked)
}

// Targets returns the targets of those of the named jobs that have one.
func (c *Catalog) Targets(ctx context.Context, names []job.Name) (map[job.Name]*job.Target, error) {
	targets, err := c.index.targets(ctx, names)
	return targets, problem.Explain(err, refusal.JobsNotLoaded.String())
}

// lastRunsTimeout is how long a list of jobs waits for what it can do without.
const lastRunsTimeout = 3 * time.Second

// lastRuns returns the newest n runs of each job, or nil when the log store does not
// answer: jobs must be seen, and can be paused, while it is away.
func (c *Catalog) lastRuns(ctx context.Context, names []job.Name, n int) map[job.Name][]runlog.Run {
	if n == 0 || len(names) == 0 {
		return map[job.Name][]runlog.Run{}
	}
	ctx, cancel := context.WithTimeout(ctx, lastRunsTimeout)
	defer cancel()
	last, err := c.store.LastRuns(ctx, names, n)
	if err == nil {
		lists := slices.Collect(maps.Values(last))
		if err = c.view.MarkSilent(ctx, lists...); err == nil {
			err = logstore.MarkHeld(ctx, c.store, lists...)
		}
		if err == nil {
			err = c.view.MarkWaiting(ctx, lists...)
		}
	}
	if err != nil {
		c.log.WarnContext(ctx, "last runs are not known", "error", err)
		return nil
	}
	return last
}

// UsersOfSecrets returns the jobs of a group by the secrets that their tasks ask for, in
// order of name.
func (c *Catalog) UsersOfSecrets(ctx context.Context, group string) (map[string][]string, error) {
	// Most jobs ask for none, and those need not be decoded.
	entries, err := c.index.containing(ctx, group, []byte(`"secrets":`))
	if err != nil {
		return nil, err
	}
	users := map[string][]string{}
	for _, e := range entries {
		var asked []string
		for _, task := range e.Tasks() {
			asked = slices.AppendSeq(asked, maps.Values(task.Secrets))
		}
		slices.Sort(asked)
		for _, secret := range slices.Compact(asked) {
			users[secret] = append(users[secret], string(e.Job.Job))
		}
	}
	return users, nil
}
