package job

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// jobList is the jobs, and for people whether they are paused together.
type jobList struct {
	client.JobPage
	hold client.Pause
}

func newGetJobsCommand() *cobra.Command {
	var group, query, sort string
	var where []string
	var paused, active bool
	var limit int
	return cli.List[jobList]{
		Use: "jobs", Aliases: []string{"job"},
		Short: "List jobs with their next fire and last run, or show one with its next fires and last runs",
		Example: "  carillon get jobs\n  carillon get jobs ops/backup -o yaml\n  carillon get jobs --group ops --paused\n  carillon get jobs -q backup -o json\n" +
			"  carillon get jobs --where owner:lin.wei --where tag:money --sort attention",
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&group, "group", "", "only jobs of this executor `group`")
			cmd.Flags().StringVarP(&query, "query", "q", "", "only jobs with this `text` in their name, title, description, owner, handler or tags")
			cmd.Flags().StringArrayVar(&where, "where", nil, "only jobs that match `FIELD:VALUE`; -FIELD:VALUE excludes them: group, owner, tag, type, handler, schedule, state, last, fires, changed")
			cmd.Flags().StringVar(&sort, "sort", "", "sort by `field`: name, attention, next, last, success, p95, owner, changed or version; -FIELD reverses the order")
			cmd.Flags().BoolVar(&paused, "paused", false, "only paused jobs")
			cmd.Flags().BoolVar(&active, "active", false, "only active jobs")
			cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of jobs to show (default all)")
			cmd.MarkFlagsMutuallyExclusive("paused", "active")
		},
		Fetch: func(ctx context.Context, api *client.API) (list jobList, err error) {
			if limit < 0 {
				return list, cli.Usage(errors.New("--limit must not be negative"))
			}
			// More than one, as the next may be skipped.
			params := client.ListJobsParams{Group: client.Optional(group), Q: client.Optional(query), Sort: client.Optional(sort), Fires: new(10)}
			if len(where) > 0 {
				params.Where = &where
			}
			if paused || active {
				params.Paused = &paused
			}
			if list.JobPage, err = api.Jobs(ctx, params, limit); err != nil {
				return list, err
			}
			list.hold, err = client.Read[client.Pause](api.GetPause(ctx))
			return list, err
		},
		Columns: func(t *draw.Table, list jobList) {
			drawJobs(t, list.JobPage)
			drawPause(t, list.hold)
		},
		One: cli.Named("JOB", func(ctx context.Context, api *client.API, text string) (none client.JobItem, err error) {
			name, err := cli.JobName(text)
			if err != nil {
				return none, err
			}
			return client.Read[client.JobItem](api.GetJob(ctx, name.Group(), name.Short(), nil))
		}, drawJob),
	}.Command()
}
