package history

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func newOutcomesCommand() *cobra.Command {
	var f reportFlags
	var parts int
	cmd := newReport(cli.List[client.RunCounts]{
		Use: "outcomes", Short: "Count fires by outcome over time",
		Long: "Count the fires of the last 24 hours by status, in equal intervals. Fires without a run are\n" +
			"counted too.",
		Example: "  carillon report outcomes --since 1h --parts 12\n  carillon report outcomes --job billing/report --since 7d --parts 7",
		Columns: drawOutcomes,
	}, &f, true, func(ctx context.Context, api *client.API, p client.ListRunsParams) (client.RunCounts, error) {
		from, to := past(p, time.Now())
		return client.Read[client.RunCounts](api.CountRuns(ctx, &client.CountRunsParams{From: from, To: to, Parts: &parts, Job: p.Job, Group: p.Group}))
	})
	cmd.Flags().IntVar(&parts, "parts", 24, "number of intervals, up to 120")
	return cmd
}

// past returns the range that a filter asks for, by default the last day.
func past(p client.ListRunsParams, now time.Time) (from, to time.Time) {
	to = now.UTC().Truncate(time.Millisecond)
	if p.To != nil {
		to = *p.To
	}
	from = to.Add(-24 * time.Hour)
	if p.From != nil {
		from = *p.From
	}
	return from, to
}

func drawOutcomes(t *draw.Table, counts client.RunCounts) {
	var statuses []job.Status // that there are
	for _, s := range job.Statuses {
		for _, part := range counts.Items {
			if part[s] > 0 {
				statuses = append(statuses, s)
				break
			}
		}
	}
	if len(statuses) == 0 {
		t.Line("no fires from " + t.Instant(counts.From) + " to " + t.Instant(counts.To))
		return
	}
	t.Row(append([]string{"FROM"}, upper(statuses)...)...)
	step := counts.To.Sub(counts.From) / time.Duration(len(counts.Items))
	for i, part := range counts.Items {
		row := []string{t.Instant(counts.From.Add(time.Duration(i) * step))}
		for _, s := range statuses {
			row = append(row, strconv.Itoa(part[s]))
		}
		t.Row(row...)
	}
}

func upper(statuses []job.Status) []string {
	all := make([]string, len(statuses))
	for i, s := range statuses {
		all[i] = strings.ToUpper(string(s))
	}
	return all
}

// facetDimensions are what runs can be broken down by.
var facetDimensions = []string{"status", "cause", "group", "job", "version", "instance"}

func newBreakdownCommand() *cobra.Command {
	var f reportFlags
	var by []string
	cmd := newReport(cli.List[client.RunFacets]{
		Use: "breakdown", Short: "Count fires by status, cause, group, job, version and instance",
		Example: "  carillon report breakdown --since 7d --by instance\n  carillon report breakdown --job billing/report --by status,version",
		Columns: drawFacets,
	}, &f, true, func(ctx context.Context, api *client.API, p client.ListRunsParams) (client.RunFacets, error) {
		if f.limit > 1000 {
			return client.RunFacets{}, cli.Usage(errors.New("--limit must be at most 1000"))
		}
		from, to := past(p, time.Now())
		return client.Read[client.RunFacets](api.FacetRuns(ctx, &client.FacetRunsParams{
			By: client.OptionalList(cli.Words[runlog.Dimension](by)), From: &from, To: &to, Values: &f.limit, Job: p.Job, Group: p.Group,
		}))
	})
	cmd.Flags().StringSliceVar(&by, "by", nil, "only by this `dimension`; can be repeated: "+strings.Join(facetDimensions, ", "))
	cli.Complete(cmd, "by", facetDimensions...)
	return cmd
}

func drawFacets(t *draw.Table, facets client.RunFacets) {
	for _, d := range facetDimensions {
		values := facets.Items[runlog.Dimension(d)]
		if len(values) == 0 {
			continue
		}
		t.Row(strings.ToUpper(d), "FIRES")
		for _, v := range values {
			t.Row(t.Cell(v.Value, draw.NoteWidth), strconv.Itoa(v.Count))
		}
		t.Line("")
	}
}
