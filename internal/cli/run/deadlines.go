package run

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newGetDeadlinesCommand() *cobra.Command {
	return cli.List[client.DeadlineList]{
		Use: "deadlines", Aliases: []string{"deadline"},
		Short: "List deadlines of live runs",
		Long: "List by when live runs must end, and when they will likely end, late runs first. A deadline is set by `timeout` or " +
			"`total_timeout` of the job, or by an alert rule with `ends_within`. The expected end is estimated from the last successful runs.",
		Example: "  carillon get deadlines\n  carillon get deadlines -o json | jq -r '.items[] | select(.late) | .run_id'",
		Fetch: func(ctx context.Context, api *client.API) (client.DeadlineList, error) {
			return client.Read[client.DeadlineList](api.ListDeadlines(ctx, &client.ListDeadlinesParams{}))
		},
		Columns: drawDeadlines,
	}.Command()
}

func drawDeadlines(t *draw.Table, list client.DeadlineList) {
	if len(list.Items) == 0 {
		t.Line("no live runs with a deadline")
		return
	}
	t.Row("JOB", "RUN", "DEADLINE", "SET BY", "EXPECTED END", "USUAL", "LATE")
	for i := range list.Items {
		d := &list.Items[i]
		by, usual, late := string(d.By), "-", "no"
		if d.Alert != "" {
			by = "alert " + d.Alert
		}
		if d.Runs > 0 {
			usual = job.Duration(time.Duration(d.UsualMs) * time.Millisecond).String()
		}
		if d.Late {
			late = "yes"
		}
		t.Row(string(d.Job), string(d.RunID), t.Instant(d.At), by, t.Instant(d.ExpectedEnd), usual, late)
	}
}
