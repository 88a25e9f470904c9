package run

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newGetRunsCommand() *cobra.Command {
	var f selection.RunFilter
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
	r := cli.NewRemote(cmd)
	f.Flags(cmd, "only")
	cmd.Flags().BoolVar(&f.Attempts, "attempts", false, "one row per attempt instead of per run")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of runs to show; 0 shows all")
	cmd.Flags().StringVar(&export, "export", "", "stream all matching runs in this `format`: ndjson or csv")
	cmd.Flags().StringVar(&sort, "sort", "", "sort by this `field`, ascending; -FIELD is descending: fire_time, started_at, finished_at, duration or delay; with --since or --from")
	cmd.MarkFlagsMutuallyExclusive("export", "limit")
	cmd.MarkFlagsMutuallyExclusive("export", "output")
	cmd.MarkFlagsMutuallyExclusive("export", "sort")
	cli.Complete(cmd, "export", cli.ExportFormats...)
	cli.Complete(cmd, "sort", "-duration", "duration", "-delay", "delay", "-started_at", "started_at", "-finished_at", "finished_at", "fire_time")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 0 {
			return cli.Usage(errors.New("--limit must not be negative"))
		}
		params, err := f.Params(time.Now())
		if err != nil {
			return cli.Usage(err)
		}
		params.Sort = client.Optional(client.ListRunsParamsSort(sort))
		api, err := r.API()
		if err != nil {
			return err
		}
		if export != "" {
			return cli.ExportTo(cmd, api, "/api/v1/runs/export", export, cli.RunsQuery(&params), nil)
		}
		page, err := api.Runs(cmd.Context(), params, limit)
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), page, func(t *draw.Table) { drawRuns(t, page) })
	}
	return cmd
}
