package main

import (
	"github.com/spf13/cobra"

	"carillon/internal/client"
)

func newGetHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "How far the history has come, and what it takes",
		Long: "Show up to when runs, logs and reports are complete. While the log store is away or slow, what came later waits on the\n" +
			"streams; everything fires meanwhile.",
		Example: "  carillon get history\n  carillon get history -o json",
		Args:    cobra.NoArgs,
	}
	r := newRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		state, err := client.Read[client.HistoryState](api.GetHistory(cmd.Context()))
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), state, func(t *table) {
			t.line("complete up to " + instant(state.AsOf))
			if state.StoreAnswers {
				t.line(size(state.Bytes) + " on disk, the oldest run from " + instant(state.OldestRun))
				if state.DiskBytes > 0 {
					t.line(size(state.DiskFreeBytes) + " free of " + size(state.DiskBytes))
				}
			} else {
				t.line("the log store does not answer")
			}
			t.line("")
			t.row("STREAM", "WAITING", "SINCE")
			for _, b := range state.Backlog {
				t.row(b.Stream, grouped(int64(min(b.Messages, 1<<62))), instant(b.Since))
			}
		})
	}
	return cmd
}
