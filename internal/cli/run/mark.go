package run

import (
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newMarkCommand() *cobra.Command {
	var as, note string
	var c selection.Runs
	cmd := &cobra.Command{
		Use:   "mark RUN... | --job JOB | --group GROUP ... --as handled --note NOTE",
		Short: "Mark failed runs as handled",
		Long: "Mark failed, timed-out, cancelled, lost or missed runs: as handled (someone has taken care of them), as\n" +
			"succeeded (the work was done by hand), or as none (remove the mark). The mark and its note are\n" +
			"shown next to the status; the status does not change. Name the runs, or select them with a filter,\n" +
			"which asks for confirmation.",
		Example: "  carillon mark 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --as handled --note \"the disk was full; see OPS-12\"\n" +
			"  carillon mark --group billing --from 2026-03-03T09:00:00Z --to 2026-03-03T11:00:00Z --note \"outage of the 3rd\"",
		Args: c.Args,
	}
	r := cli.NewRemote(cmd)
	marks := make([]string, len(job.Marks))
	for i, m := range job.Marks {
		marks[i] = string(m)
	}
	cmd.Flags().StringVar(&as, "as", string(job.MarkHandled), "the `mark`: handled, succeeded or none")
	cmd.Flags().StringVar(&note, "note", "", "what was done, or the reason")
	cli.Complete(cmd, "as", marks...)
	c.Flags(cmd)
	if err := cmd.MarkFlagRequired("note"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := job.CheckMark(job.Mark(as), note); err != nil {
			return cli.Usage(err)
		}
		b := client.RunBulk{Action: client.RunBulkActionMark, As: job.Mark(as), Note: note}
		return selection.ChangeRuns(r, cmd, args, &c, b, func(item client.RunBulkItem) string {
			if job.Mark(as) == job.MarkNone {
				return "run " + string(item.RunID) + " is no longer marked"
			}
			return "run " + string(item.RunID) + " marked as " + as
		})
	}
	return cmd
}
