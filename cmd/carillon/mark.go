package main

import (
	"errors"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newMarkCommand() *cobra.Command {
	var as, note string
	cmd := &cobra.Command{
		Use:   "mark RUN... --as handled --note NOTE",
		Short: "Say what is to be thought of runs that ended without success",
		Long: "Say what is to be thought of runs that ended without success: handled, somebody has seen to them; succeeded, their\n" +
			"work was done by hand; none takes the mark before it back. The mark and its note stand beside a run's status, which\n" +
			"stays what it is; nothing follows from them.",
		Example: "  carillon mark 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --as handled --note \"the disk was full; see OPS-12\"\n" +
			"  carillon get runs --status failed -o json | jq -r '.items[].run_id' | xargs carillon mark --as handled --note \"outage of the 3rd\"",
		Args: cobra.MinimumNArgs(1),
	}
	r := newRemote(cmd)
	marks := make([]string, len(job.Marks))
	for i, m := range job.Marks {
		marks[i] = string(m)
	}
	cmd.Flags().StringVar(&as, "as", string(job.MarkHandled), "handled, succeeded or none")
	cmd.Flags().StringVar(&note, "note", "", "what was done, or why")
	complete(cmd, "as", marks...)
	if err := cmd.MarkFlagRequired("note"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := job.CheckMark(job.Mark(as), note); err != nil {
			return usage(err)
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		made := []client.RunMark{}
		var marked []job.RunID
		err = eachOf(args, func(arg string) error {
			id, err := runID(arg)
			if err != nil {
				return err
			}
			m, err := soon(cmd.Context(), id, func() (client.RunMark, error) {
				return client.Read[client.RunMark](api.MarkRun(cmd.Context(), string(id), nil, client.MarkRequest{As: job.Mark(as), Note: note}))
			})
			if err == nil {
				made, marked = append(made, m), append(marked, id)
			}
			return err
		})
		return errors.Join(r.output.show(cmd.OutOrStdout(), made, func(t *table) {
			for _, id := range marked {
				if job.Mark(as) == job.MarkNone {
					t.line("run " + string(id) + " is not marked any more")
				} else {
					t.line("run " + string(id) + " is marked as " + as)
				}
			}
		}), err)
	}
	return cmd
}
