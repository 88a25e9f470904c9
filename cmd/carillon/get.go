package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "List or show jobs, runs, users and everything else",
		Long: "List or show jobs, runs, nodes, executor groups, incidents, users and all other resources. The\n" +
			"default is a table with times in UTC; -o json and -o yaml print what the API returns.",
		Example: "  carillon get jobs --group ops\n" +
			"  carillon get runs --job ops/backup --status failed --since 24h\n" +
			"  carillon get run 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d\n" +
			"  carillon get nodes -o json",
	}
	cmd.AddCommand(newGetJobsCommand(), newGetJobCommand(), newGetVersionsCommand(), newGetRunsCommand(), newGetRunCommand(),
		newGetNodesCommand(), newGetGroupsCommand(), newGetHandlersCommand(), newGetCalendarsCommand(), newGetFiresCommand(), newGetHistoryCommand(), newGetBusCommand(),
		newGetIncidentsCommand(), newGetIncidentCommand(), newGetDeliveriesCommand(), newGetAlertRulesCommand(), newGetChannelsCommand(), newGetSilencesCommand(),
		newGetDeadLettersCommand(), newGetDeadLetterCommand(), newGetRetentionCommand(),
		newGetSecretsCommand(), newGetCredentialsCommand(), newGetUsersCommand(), newGetTokensCommand(), newGetSessionsCommand(), newGetContextsCommand())
	return cmd
}

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
	r := newRemote(cmd)
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
			return usage(errors.New("--limit must not be negative"))
		}
		// More than one, as the next may be skipped.
		params := client.ListJobsParams{Group: client.Optional(group), Q: client.Optional(query), Sort: client.Optional(sort), Fires: new(10)}
		if len(where) > 0 {
			params.Where = &where
		}
		if paused || active {
			params.Paused = &paused
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		page, err := api.Jobs(cmd.Context(), params, limit)
		if err != nil {
			return err
		}
		if r.output != asTable {
			return r.output.show(cmd.OutOrStdout(), page, nil)
		}
		hold, err := client.Read[client.Hold](api.GetHold(cmd.Context()))
		if err != nil {
			return err
		}
		return asTable.show(cmd.OutOrStdout(), nil, func(t *table) {
			drawJobs(t, page)
			drawHold(t, hold)
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
	r := newRemote(cmd)
	cmd.ValidArgsFunction = r.jobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := jobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		item, err := client.Read[client.JobItem](api.GetJob(cmd.Context(), name.Group(), name.Short(), nil))
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), item, func(t *table) { drawJob(t, item) })
	}
	return cmd
}

func newGetRunsCommand() *cobra.Command {
	var f runFilter
	var export, sort string
	var limit int
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List runs, newest fire first",
		Example: "  carillon get runs\n  carillon get runs --job ops/backup --limit 5\n" +
			"  carillon get runs --status failed,lost --since 24h\n" +
			"  carillon get runs --since 24h --sort -duration --limit 10\n" +
			"  carillon get runs --from 2026-03-01T00:00:00Z --to 2026-03-02T00:00:00Z -o json\n" +
			"  carillon get runs --since 30d --export csv > runs.csv",
		Args: cobra.NoArgs,
	}
	r := newRemote(cmd)
	f.flags(cmd, "only")
	cmd.Flags().BoolVar(&f.attempts, "attempts", false, "one row per attempt instead of per run")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of runs to show; 0 shows all")
	cmd.Flags().StringVar(&export, "export", "", "stream all matching runs in this `format`: ndjson or csv")
	cmd.Flags().StringVar(&sort, "sort", "", "sort by this `field`, ascending; -FIELD is descending: fire_time, started_at, finished_at, duration or delay; with --since or --from")
	cmd.MarkFlagsMutuallyExclusive("export", "limit")
	cmd.MarkFlagsMutuallyExclusive("export", "output")
	cmd.MarkFlagsMutuallyExclusive("export", "sort")
	complete(cmd, "export", exportFormats...)
	complete(cmd, "sort", "-duration", "duration", "-delay", "delay", "-started_at", "started_at", "-finished_at", "finished_at", "fire_time")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 0 {
			return usage(errors.New("--limit must not be negative"))
		}
		params, err := f.params(time.Now())
		if err != nil {
			return usage(err)
		}
		params.Sort = client.Optional(client.ListRunsParamsSort(sort))
		api, err := r.api()
		if err != nil {
			return err
		}
		if export != "" {
			return exportTo(cmd, api, "/api/v1/runs/export", export, runsQuery(&params), nil)
		}
		page, err := api.Runs(cmd.Context(), params, limit)
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), page, func(t *table) { drawRuns(t, page) })
	}
	return cmd
}

// words returns texts of one type as another.
func words[To, From ~string](from []From) []To {
	all := make([]To, len(from))
	for i, w := range from {
		all[i] = To(w)
	}
	return all
}

func newGetNodesCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:     "nodes",
		Short:   "List scheduler nodes and their shards",
		Example: "  carillon get nodes",
	}, func(ctx context.Context, api *client.API) (client.NodeList, error) {
		return client.Read[client.NodeList](api.ListNodes(ctx))
	}, drawNodes)
}

func newGetGroupsCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:     "groups",
		Short:   "List executor groups and their live instances",
		Example: "  carillon get groups",
	}, func(ctx context.Context, api *client.API) (client.GroupList, error) {
		return client.Read[client.GroupList](api.ListGroups(ctx))
	}, drawGroups)
}

func newGetHandlersCommand() *cobra.Command {
	var group string
	cmd := newListCommand(&cobra.Command{
		Use:   "handlers",
		Short: "List the handlers of a group and their parameters",
		Long: "List the handlers that the executors of a group have announced, with a description and their\n" +
			"parameters. -o json and -o yaml include the JSON schemas that the server checks jobs against.",
		Example: "  carillon get handlers --group billing\n  carillon get handlers -g billing -o json",
	}, func(ctx context.Context, api *client.API) (client.HandlerList, error) {
		if err := job.CheckSlug("group", group); err != nil {
			return client.HandlerList{}, usage(err)
		}
		return client.Read[client.HandlerList](api.ListHandlers(ctx, group))
	}, drawHandlers)
	groupFlag(cmd, &group)
	return cmd
}

func newGetCalendarsCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:     "calendars",
		Short:   "List calendars",
		Example: "  carillon get calendars -o yaml",
	}, func(ctx context.Context, api *client.API) (client.CalendarList, error) {
		return client.Read[client.CalendarList](api.ListCalendars(ctx))
	}, drawCalendars)
}

// newListCommand makes cmd show a list that is asked for without any filter.
func newListCommand[L any](cmd *cobra.Command, list func(context.Context, *client.API) (L, error), draw func(*table, L)) *cobra.Command {
	cmd.Args = cobra.NoArgs
	r := newRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		found, err := list(cmd.Context(), api)
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), found, func(t *table) { draw(t, found) })
	}
	return cmd
}
