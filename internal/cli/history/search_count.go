package history

import (
	"context"
	"strconv"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// countHits asks how many lines a search finds in each of some parts of its range.
func countHits(ctx context.Context, api *client.API, q client.SearchLogsParams, parts int) (client.LogHistogram, error) {
	return client.Read[client.LogHistogram](api.CountLogs(ctx, &client.CountLogsParams{
		Text: q.Text, Level: q.Level, Job: q.Job, Group: q.Group, RunID: q.RunID, From: q.From, To: q.To, Parts: &parts,
	}))
}

func drawHitCounts(t *draw.Table, h client.LogHistogram) {
	t.Row("FROM", "LINES", "DEBUG", "INFO", "WARN", "ERROR", "OTHER")
	for _, b := range h.Buckets {
		if b.At.Before(h.Since) {
			continue
		}
		cells := []string{t.Instant(b.At), strconv.Itoa(b.Debug + b.Info + b.Warn + b.Error + b.Other)}
		for _, n := range []int{b.Debug, b.Info, b.Warn, b.Error, b.Other} {
			cells = append(cells, strconv.Itoa(n))
		}
		t.Row(cells...)
	}
	if !h.Complete {
		t.Line("Lines of runs before " + t.Instant(h.Since) + " were not counted, because counting took longer than two seconds.")
	}
}
