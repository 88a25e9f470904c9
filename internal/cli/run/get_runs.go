package run

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newGetRunsCommand() *cobra.Command {
	var f selection.RunFilter
	var export, sort string
	var limit int
	var waiting bool
	params := func() (client.ListRunsParams, error) {
		if limit < 0 {
			return client.ListRunsParams{}, cli.Usage(errors.New("--limit must not be negative"))
		}
		p, err := f.Params(time.Now())
		p.Waiting = client.Optional(waiting)
		p.Sort = client.Optional(client.ListRunsParamsSort(sort))
		return p, cli.Usage(err)
	}
	return cli.List[client.RunPage]{
		Use: "runs", Aliases: []string{"run"},
		Short: "List runs, newest fire first, or show one with its attempts, pieces or steps, timeline and related runs",
		Long: "List runs, newest fire first. With a RUN, show its attempts, its pieces or steps, its\n" +
			"timeline, the runs it follows, and the runs that follow it. -o json and -o yaml print what the API\n" +
			"returns.",
		Example: "  carillon get runs\n  carillon get runs 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d\n  carillon get runs --job ops/backup --limit 5\n" +
			"  carillon get runs --status failed,lost --since 24h\n" +
			"  carillon get runs --since 24h --sort -duration --limit 10\n" +
			"  carillon get runs --from 2026-03-01T00:00:00Z --to 2026-03-02T00:00:00Z -o json\n" +
			"  carillon get runs --waiting --job mail/reminder\n" +
			"  carillon get runs --since 30d --export csv > runs.csv",
		Flags: func(cmd *cobra.Command) {
			f.Flags(cmd, "only")
			cmd.Flags().BoolVar(&f.Attempts, "attempts", false, "one row per attempt instead of per run")
			cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of runs to show; 0 shows all")
			cmd.Flags().StringVar(&export, "export", "", "stream all matching runs in this `format`: ndjson or csv")
			cmd.Flags().StringVar(&sort, "sort", "", "sort by this `field`, ascending; -FIELD is descending: fire_time, started_at, finished_at, duration or delay; with --since or --from")
			cmd.Flags().BoolVar(&waiting, "waiting", false, "only runs that wait for a later time at which they were requested")
			for _, other := range []string{"export", "sort", "status"} {
				cmd.MarkFlagsMutuallyExclusive("waiting", other)
			}
			cmd.MarkFlagsMutuallyExclusive("export", "limit")
			cmd.MarkFlagsMutuallyExclusive("export", "output")
			cmd.MarkFlagsMutuallyExclusive("export", "sort")
			cli.Complete(cmd, "export", cli.ExportFormats...)
			cli.Complete(cmd, "sort", "-duration", "duration", "-delay", "delay", "-started_at", "started_at", "-finished_at", "finished_at", "fire_time")
		},
		Fetch: func(ctx context.Context, api *client.API) (client.RunPage, error) {
			p, err := params()
			if err != nil {
				return client.RunPage{}, err
			}
			return api.Runs(ctx, p, limit)
		},
		Columns: drawRuns,
		Export: func(cmd *cobra.Command, api *client.API) (done bool, err error) {
			if export == "" {
				return false, nil
			}
			p, err := params()
			if err != nil {
				return true, err
			}
			return true, cli.ExportTo(cmd, api, "/api/v1/runs/export", export, cli.RunsQuery(&p), nil)
		},
		One: &cli.One{Noun: "RUN", Show: showOne},
	}.Command()
}
