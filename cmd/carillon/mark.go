package main

import (
	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newMarkCommand() *cobra.Command {
	var as, note string
	var c runChoice
	cmd := &cobra.Command{
		Use:   "mark RUN... | --job JOB | --group GROUP ... --as handled --note NOTE",
		Short: "Say what is to be thought of runs that ended without success",
		Long: "Say what is to be thought of runs that ended without success: handled, somebody has seen to them; succeeded, their\n" +
			"work was done by hand; none takes the mark before it back. The mark and its note stand beside a run's status, which\n" +
			"stays what it is; nothing follows from them. Runs are named, or all that a filter selects, after a question.",
		Example: "  carillon mark 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --as handled --note \"the disk was full; see OPS-12\"\n" +
			"  carillon mark --group billing --from 2026-03-03T09:00:00Z --to 2026-03-03T11:00:00Z --note \"outage of the 3rd\"",
		Args: c.args,
	}
	r := newRemote(cmd)
	marks := make([]string, len(job.Marks))
	for i, m := range job.Marks {
		marks[i] = string(m)
	}
	cmd.Flags().StringVar(&as, "as", string(job.MarkHandled), "handled, succeeded or none")
	cmd.Flags().StringVar(&note, "note", "", "what was done, or why")
	complete(cmd, "as", marks...)
	c.flags(cmd)
	if err := cmd.MarkFlagRequired("note"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := job.CheckMark(job.Mark(as), note); err != nil {
			return usage(err)
		}
		b := client.RunBulk{Action: client.RunBulkActionMark, As: job.Mark(as), Note: note}
		return r.changeRuns(cmd, args, &c, b, func(item client.RunBulkItem) string {
			if job.Mark(as) == job.MarkNone {
				return "run " + string(item.RunID) + " is not marked any more"
			}
			return "run " + string(item.RunID) + " is marked as " + as
		})
	}
	return cmd
}
