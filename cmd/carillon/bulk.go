package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

// bulkAtOnce is how many things one request changes. More would be taken; so each answers
// soon, also of a cluster that is slow.
const bulkAtOnce = 200

// bulkOptions are the flags of commands that change many things.
type bulkOptions struct {
	dryRun, yes bool
}

func (o *bulkOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show what would be changed")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask before what the filter selects is changed")
}

// settle asks before what a filter has found is changed. Nothing is wrong if it is not to
// be: then go on is false.
func (o *bulkOptions) settle(cmd *cobra.Command, verb, what string, n int) (goOn bool, err error) {
	if n == 0 || o.dryRun {
		return false, nil
	}
	if o.yes {
		return true, nil
	}
	if n != 1 {
		what += "s"
	}
	err = confirm(cmd, fmt.Sprintf("%s %d %s?", verb, n, what))
	return err == nil, err
}

// refusal returns the error of a thing that was refused, among n.
func refusal(name string, n int, p *client.Problem) error {
	switch {
	case p == nil:
		return nil
	case n > 1:
		return fmt.Errorf("%s: %w", name, p)
	}
	return p
}

// jobChoice is the flags that say which jobs to change, in the place of their names.
type jobChoice struct {
	bulkOptions

	group, query string
	last         []string
}

func (c *jobChoice) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.group, "group", "", "all jobs of this executor `group`")
	cmd.Flags().StringVarP(&c.query, "query", "q", "", "all jobs with this `text` in their name or description")
	cmd.Flags().StringSliceVar(&c.last, "last", nil, "all jobs whose last run has this `status`, or one of these")
	complete(cmd, "last", words[string](job.Statuses)...)
	c.bulkOptions.flags(cmd)
}

// given reports whether there is a filter.
func (c *jobChoice) given() bool { return c.group != "" || c.query != "" || len(c.last) > 0 }

// changeJobs changes the jobs that args name, or those of the filter once somebody has said
// yes to it, and shows what became of each.
func (r *remote) changeJobs(cmd *cobra.Command, args []string, c *jobChoice, b client.JobBulk, done string) error {
	names := make([]job.Name, len(args))
	for i, arg := range args {
		var err error
		if names[i], err = jobName(arg); err != nil {
			return err
		}
	}
	api, err := r.api()
	if err != nil {
		return err
	}
	if b.DryRun = c.dryRun; !c.given() {
		items, err := changeJobsByName(cmd.Context(), api, b, names)
		return r.showJobs(cmd, items, b.DryRun, done, err)
	}
	items, err := jobsOfFilter(cmd.Context(), api, b, &client.JobFilter{Group: c.group, Q: c.query, Last: words[job.Status](c.last)})
	if err != nil {
		return err
	}
	var would []job.Name
	for _, item := range items {
		if item.Result == client.BulkOutcomeChanged {
			would = append(would, item.Job)
		}
	}
	goOn, err := c.settle(cmd, string(b.Action), "job", len(would))
	if !goOn {
		return r.showJobs(cmd, items, true, done, err)
	}
	items, err = changeJobsByName(cmd.Context(), api, b, would)
	return r.showJobs(cmd, items, false, done, err)
}

// changeJobsByName changes jobs, some with each request. With an error come the items of
// the requests before.
func changeJobsByName(ctx context.Context, api *client.API, b client.JobBulk, names []job.Name) ([]client.JobBulkItem, error) {
	var items []client.JobBulkItem
	for some := range slices.Chunk(names, bulkAtOnce) {
		b.Jobs = some
		answer, err := client.Read[client.JobBulkResult](api.ChangeJobs(ctx, nil, b))
		if err != nil {
			return items, err
		}
		items = append(items, answer.Items...)
	}
	return items, nil
}

// jobsOfFilter returns what would become of all jobs that match.
func jobsOfFilter(ctx context.Context, api *client.API, b client.JobBulk, f *client.JobFilter) ([]client.JobBulkItem, error) {
	b.Filter, b.DryRun = f, true
	var items []client.JobBulkItem
	for {
		answer, err := client.Read[client.JobBulkResult](api.ChangeJobs(ctx, nil, b))
		if err != nil {
			return nil, err
		}
		items = append(items, answer.Items...)
		if b.Cursor = answer.Next; b.Cursor == "" {
			return items, nil
		}
	}
}

// jobDone is what a command did to a job, or would do.
type jobDone struct {
	Job    job.Name `json:"job"`
	Result string   `json:"result"`
}

// showJobs shows what became of jobs, or would, before failed ended it. The error joins that
// and why some were refused.
func (r *remote) showJobs(cmd *cobra.Command, items []client.JobBulkItem, dryRun bool, done string, failed error) error {
	if failed != nil && len(items) == 0 {
		return failed
	}
	results := []jobDone{}
	var errs []error
	for _, item := range items {
		switch item.Result {
		case client.BulkOutcomeChanged:
			results = append(results, jobDone{item.Job, done})
		case client.BulkOutcomeUnchanged:
			results = append(results, jobDone{item.Job, unchanged})
		case client.BulkOutcomeRefused:
			errs = append(errs, refusal(string(item.Job), len(items), item.Problem))
		}
	}
	err := r.output.show(cmd.OutOrStdout(), results, func(t *table) {
		for _, j := range results {
			t.line(string(j.Job) + " " + j.Result + ofDryRun(dryRun))
		}
		if len(items) == 0 {
			t.line("no jobs")
		}
	})
	return errors.Join(append([]error{err, failed}, errs...)...)
}

// ofDryRun is said after what was not done.
func ofDryRun(dryRun bool) string {
	if dryRun {
		return " (dry run)"
	}
	return ""
}

// runChoice is the flags that say which runs to change, in the place of their ids.
type runChoice struct {
	bulkOptions
	runFilter
}

func (c *runChoice) flags(cmd *cobra.Command) {
	c.runFilter.flags(cmd, "all")
	c.bulkOptions.flags(cmd)
}

// args returns an error unless a command has the ids of runs, or a filter.
func (c *runChoice) args(_ *cobra.Command, args []string) error {
	if exactlyOne(len(args) > 0, c.given()) {
		return nil
	}
	return errors.New("want the ids of runs, or a filter such as --job")
}

// changeRuns is changeJobs, of runs. line says what became of one.
func (r *remote) changeRuns(cmd *cobra.Command, args []string, c *runChoice, b client.RunBulk, line func(client.RunBulkItem) string) error {
	ids := make([]job.RunID, len(args))
	for i, arg := range args {
		var err error
		if ids[i], err = runID(arg); err != nil {
			return err
		}
	}
	filter, err := c.bulk(time.Now())
	if err != nil {
		return usage(err)
	}
	api, err := r.api()
	if err != nil {
		return err
	}
	if b.DryRun = c.dryRun; len(args) > 0 {
		items, err := changeRunsByID(cmd.Context(), api, b, ids)
		return r.showRuns(cmd, items, b.DryRun, line, err)
	}
	items, err := runsOfFilter(cmd.Context(), api, b, filter)
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.Result == client.BulkOutcomeChanged {
			ids = append(ids, item.RunID)
		}
	}
	goOn, err := c.settle(cmd, string(b.Action), "run", len(ids))
	if !goOn {
		return r.showRuns(cmd, items, true, line, err)
	}
	items, err = changeRunsByID(cmd.Context(), api, b, ids)
	return r.showRuns(cmd, items, false, line, err)
}

// changeRunsByID is changeJobsByName, of runs. Those that the history does not have yet are
// asked for again until it should.
func changeRunsByID(ctx context.Context, api *client.API, b client.RunBulk, ids []job.RunID) ([]client.RunBulkItem, error) {
	var items []client.RunBulkItem
	at := map[job.RunID]int{}
	for len(ids) > 0 {
		var again []job.RunID
		for some := range slices.Chunk(ids, bulkAtOnce) {
			b.Runs = some
			answer, err := client.Read[client.RunBulkResult](api.ChangeRuns(ctx, nil, b))
			if err != nil {
				return items, err
			}
			for _, item := range answer.Items {
				if known, ok := at[item.RunID]; ok {
					items[known] = item
				} else {
					at[item.RunID] = len(items)
					items = append(items, item)
				}
				if p := item.Problem; p != nil && p.Code == "not_found" && time.Since(item.RunID.Time()).Abs() <= history {
					again = append(again, item.RunID)
				}
			}
		}
		if ids = again; len(ids) > 0 {
			if err := client.Pause(ctx, historyLook); err != nil {
				return items, err
			}
		}
	}
	return items, nil
}

// runsOfFilter is jobsOfFilter, of runs.
func runsOfFilter(ctx context.Context, api *client.API, b client.RunBulk, f *client.RunFilter) ([]client.RunBulkItem, error) {
	b.Filter, b.DryRun = f, true
	var items []client.RunBulkItem
	for {
		answer, err := client.Read[client.RunBulkResult](api.ChangeRuns(ctx, nil, b))
		if err != nil {
			return nil, err
		}
		items = append(items, answer.Items...)
		if b.Cursor = answer.Next; b.Cursor == "" {
			return items, nil
		}
	}
}

// showRuns is showJobs, of runs.
func (r *remote) showRuns(cmd *cobra.Command, items []client.RunBulkItem, dryRun bool, line func(client.RunBulkItem) string, failed error) error {
	if failed != nil && len(items) == 0 {
		return failed
	}
	changed := []client.RunBulkItem{}
	var errs []error
	for _, item := range items {
		if item.Problem == nil {
			changed = append(changed, item)
			continue
		}
		errs = append(errs, refusal(string(item.RunID), len(items), item.Problem))
	}
	err := r.output.show(cmd.OutOrStdout(), changed, func(t *table) {
		for _, item := range changed {
			if dryRun {
				t.line(fmt.Sprintf("run %s of %s, %s (dry run)", item.RunID, item.Job, item.Status))
			} else {
				t.line(line(item))
			}
		}
		if len(items) == 0 {
			t.line("no runs")
		}
	})
	return errors.Join(append([]error{err, failed}, errs...)...)
}
