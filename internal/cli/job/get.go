package job

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newGetJobsCommand() *cobra.Command {
	var group, query, sort string
	var where []string
	var paused, active bool
	var limit int
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List jobs with their next fire and last run",
		Example: "  carillon get jobs\n  carillon get jobs --group ops --paused\n  carillon get jobs -q backup -o json\n" +
			"  carillon get jobs --where owner:lin.wei --where tag:money --sort attention",
		Args: cobra.NoArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&group, "group", "", "only jobs of this executor `group`")
	cmd.Flags().StringVarP(&query, "query", "q", "", "only jobs with this `text` in their name, title, description, owner, handler or tags")
	cmd.Flags().StringArrayVar(&where, "where", nil, "only jobs that match `FIELD:VALUE`; -FIELD:VALUE excludes them: group, owner, tag, type, handler, schedule, state, last, fires, changed")
	cmd.Flags().StringVar(&sort, "sort", "", "sort by `field`: name, attention, next, last, success, p95, owner, changed or version; -FIELD reverses the order")
	cmd.Flags().BoolVar(&paused, "paused", false, "only paused jobs")
	cmd.Flags().BoolVar(&active, "active", false, "only active jobs")
	cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of jobs to show (default all)")
	cmd.MarkFlagsMutuallyExclusive("paused", "active")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 0 {
			return cli.Usage(errors.New("--limit must not be negative"))
		}
		// More than one, as the next may be skipped.
		params := client.ListJobsParams{Group: client.Optional(group), Q: client.Optional(query), Sort: client.Optional(sort), Fires: new(10)}
		if len(where) > 0 {
			params.Where = &where
		}
		if paused || active {
			params.Paused = &paused
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		page, err := api.Jobs(cmd.Context(), params, limit)
		if err != nil {
			return err
		}
		if r.Output.IsData() {
			return r.Show(cmd.OutOrStdout(), page, nil)
		}
		hold, err := client.Read[client.Pause](api.GetPause(cmd.Context()))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), nil, func(t *draw.Table) {
			drawJobs(t, page)
			drawPause(t, hold)
		})
	}
	return cmd
}

func newGetJobCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "job JOB",
		Short:   "Show a job with its next fires and last runs",
		Example: "  carillon get job ops/backup\n  carillon get job ops/backup -o yaml",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		item, err := client.Read[client.JobItem](api.GetJob(cmd.Context(), name.Group(), name.Short(), nil))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), item, func(t *draw.Table) { drawJob(t, item) })
	}
	return cmd
}
