package cluster

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newGetHistoryCommand() *cobra.Command {
	return cli.List[client.HistoryState]{
		Use:   "history",
		Short: "Show the state of the history: completeness, backlog and disk usage",
		Long: "Show up to which time runs, logs and reports are complete. While the log store is away or slow,\n" +
			"new records wait in the streams; jobs keep firing. While it catches up, the command shows the\n" +
			"drain rate (records per second) and the estimated time until the backlog is empty. If the backlog\n" +
			"does not shrink, it shows no estimate.",
		Example: "  carillon get history\n  carillon get history -o json",
		Fetch: func(ctx context.Context, api *client.API) (client.HistoryState, error) {
			return client.Read[client.HistoryState](api.GetHistory(ctx))
		},
		Columns: drawHistory,
	}.Command()
}

func drawHistory(t *draw.Table, state client.HistoryState) {
	complete := "complete up to " + t.Instant(state.AsOf)
	if silent := silentOf(state.Backlog); len(silent) > 0 {
		complete += ", except for streams that do not answer: " + strings.Join(silent, ", ")
	}
	t.Line(complete)
	if !state.CaughtUpAt.IsZero() {
		t.Line("backlog empty in about " + max(time.Until(state.CaughtUpAt), time.Second).Round(time.Second).String() + " at this rate")
	}
	if state.StoreAnswers {
		t.Line(draw.Bytes(state.Bytes) + " on disk, the oldest run from " + t.Instant(state.OldestRun))
		if state.DiskBytes > 0 {
			t.Line(draw.Bytes(state.DiskFreeBytes) + " free of " + draw.Bytes(state.DiskBytes))
		}
	} else {
		t.Line("the log store does not answer")
	}
	if in := state.StandIn; in != nil {
		t.Line("runs and logs come from the streams, since " + t.Instant(in.Since) + " up to " + t.Instant(in.AsOf))
	}
	if state.DeadLetters > 0 {
		t.Line(draw.Thousands(int64(min(state.DeadLetters, 1<<62))) + " messages were refused; list them with carillon get dead-letters")
	}
	t.Line("")
	t.Row("STREAM", "WAITING", "SINCE", "DRAINED/S")
	for _, b := range state.Backlog {
		if b.Unavailable {
			t.Row(b.Stream, "unknown", "-", "-")
			continue
		}
		t.Row(b.Stream, draw.Thousands(int64(min(b.Messages, 1<<62))), t.Instant(b.Since), fewer(b.PerSecond))
	}
}

// silentOf returns the streams that do not answer.
func silentOf(backlog []client.IngestBacklog) (streams []string) {
	for _, b := range backlog {
		if b.Unavailable {
			streams = append(streams, b.Stream)
		}
	}
	return streams
}

// fewer is by how much a backlog shrinks; a dash when it does not, or is none.
func fewer(perSecond float64) string {
	if perSecond <= 0 {
		return "-"
	}
	return draw.Thousands(max(int64(math.Round(perSecond)), 1))
}
