package main

import (
	"math"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
)

func newGetHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "How far the history has come, and what it takes",
		Long: "Show up to when runs, logs and reports are complete. While the log store is away or slow, what came later waits on the\n" +
			"streams; everything fires meanwhile. Once it catches up, this shows by how many messages fewer wait with each second, and\n" +
			"for how long.",
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
			if !state.CaughtUpAt.IsZero() {
				t.line("caught up in about " + max(time.Until(state.CaughtUpAt), time.Second).Round(time.Second).String() + ", if it goes on so")
			}
			if state.StoreAnswers {
				t.line(size(state.Bytes) + " on disk, the oldest run from " + instant(state.OldestRun))
				if state.DiskBytes > 0 {
					t.line(size(state.DiskFreeBytes) + " free of " + size(state.DiskBytes))
				}
			} else {
				t.line("the log store does not answer")
			}
			if in := state.StandIn; in != nil {
				t.line("runs and logs are shown from the streams, from " + instant(in.Since) + " up to " + instant(in.AsOf))
			}
			if state.DeadLetters > 0 {
				t.line(grouped(int64(min(state.DeadLetters, 1<<62))) + " messages were refused; see carillon get dead-letters")
			}
			t.line("")
			t.row("STREAM", "WAITING", "SINCE", "FEWER A SECOND")
			for _, b := range state.Backlog {
				t.row(b.Stream, grouped(int64(min(b.Messages, 1<<62))), instant(b.Since), fewer(b.PerSecond))
			}
		})
	}
	return cmd
}

// fewer is by how much a backlog shrinks; a dash when it does not, or is none.
func fewer(perSecond float64) string {
	if perSecond <= 0 {
		return "-"
	}
	return grouped(max(int64(math.Round(perSecond)), 1))
}
