package history

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// ahead is the range of the future that a forecast is of.
type ahead struct {
	span time.Duration
	from string
}

func (a *ahead) flags(cmd *cobra.Command) {
	a.span = 24 * time.Hour
	cmd.Flags().Var(cli.OptionalDuration(&a.span), "for", "how far to look ahead, at most 31d")
	cmd.Flags().StringVar(&a.from, "from", "", "start at this `time` (RFC 3339; default now)")
}

// bounds returns the range, from now on unless another beginning was given.
func (a *ahead) bounds(now time.Time) (from, to time.Time, err error) {
	from = now.UTC().Truncate(time.Millisecond)
	if a.from != "" {
		if from, err = cli.ParseInstant("--from", a.from); err != nil {
			return from, to, err
		}
	}
	return from, from.Add(a.span), nil
}

func newGetFiresCommand() *cobra.Command {
	var a ahead
	var group, query string
	var each int
	return cli.List[client.FirePage]{
		Use:   "fires",
		Short: "List upcoming fires by job",
		Long: "List the fires of the next 24 hours by job, without paused jobs and without fires that a calendar\n" +
			"skips, and the runs that were requested for a time in that range. \"carillon ledger show JOB\" lists\n" +
			"past fires. \"carillon report load\" counts upcoming ones.",
		Example: "  carillon get fires --for 2h\n  carillon get fires --group billing --from 2026-12-24T00:00:00Z --for 3d --each 3",
		Flags: func(cmd *cobra.Command) {
			a.flags(cmd)
			cmd.Flags().StringVar(&group, "group", "", "only jobs of this executor `group`")
			cmd.Flags().StringVarP(&query, "query", "q", "", "only jobs with this `text` in their name or description")
			cmd.Flags().IntVar(&each, "each", 5, "maximum number of fires per job, up to 500")
		},
		Fetch: func(ctx context.Context, api *client.API) (client.FirePage, error) {
			all := client.FirePage{Items: []client.JobFires{}}
			from, to, err := a.bounds(time.Now())
			if err != nil {
				return all, cli.Usage(err)
			}
			p := client.ListFiresParams{From: &from, To: to, Group: client.Optional(group), Q: client.Optional(query), PerJob: &each, Limit: new(500), Requested: new(true)}
			for {
				page, err := client.Read[client.FirePage](api.ListFires(ctx, &p))
				if err != nil {
					return all, err
				}
				all.From, all.To, all.Items = page.From, page.To, append(all.Items, page.Items...)
				if page.Requested != nil { // only the first page tells
					all.Requested = page.Requested
				}
				if page.Next == "" {
					return all, nil
				}
				p.Cursor = &page.Next
			}
		},
		Columns: drawFires,
	}.Command()
}

func drawFires(t *draw.Table, page client.FirePage) {
	requested := client.RequestedRuns{}
	if page.Requested != nil {
		requested = *page.Requested
	}
	if len(page.Items)+len(requested.Runs)+len(requested.Hours) == 0 {
		t.Line("nothing fires from " + t.Instant(page.From) + " to " + t.Instant(page.To))
		return
	}
	t.Row("JOB", "FIRES")
	for _, j := range page.Items {
		var fires []string
		for _, f := range j.Fires {
			fires = append(fires, t.Instant(f))
		}
		if j.More {
			fires = append(fires, "…")
		}
		t.Row(string(j.Job), strings.Join(fires, "  "))
	}
	if len(requested.Runs)+len(requested.Hours) == 0 {
		return
	}
	t.Line("")
	if len(requested.Hours) > 0 {
		t.Row("HOUR", "REQUESTED RUNS")
		for _, h := range requested.Hours {
			t.Row(t.Instant(h.From), strconv.Itoa(h.Runs))
		}
		return
	}
	t.Row("REQUESTED FOR", "JOB", "RUN")
	for _, r := range requested.Runs {
		t.Row(t.Instant(r.FireTime), string(r.Job), string(r.RunID))
	}
}

func newLoadCommand() *cobra.Command {
	var a ahead
	var group string
	var parts int
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Forecast how many fires are due",
		Long: "Forecast how many fires are due in the next 24 hours, in equal intervals, and how many runs were\n" +
			"requested for them. Paused jobs are left out, and fires that a calendar skips.",
		Example: "  carillon report load\n  carillon report load --for 1h --parts 60 --group billing",
		Args:    cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	a.flags(cmd)
	cmd.Flags().StringVar(&group, "group", "", "only of this executor `group`")
	cmd.Flags().IntVar(&parts, "parts", 24, "number of intervals, up to 1000")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		from, to, err := a.bounds(time.Now())
		if err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		load, err := client.Read[client.FireCounts](api.CountFires(cmd.Context(), &client.CountFiresParams{From: &from, To: to, Parts: &parts, Group: client.Optional(group), Requested: new(true)}))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), load, func(t *draw.Table) { drawLoad(t, load) })
	}
	return cmd
}

// barWidth is how many characters the longest bar has.
const barWidth = 40

func drawLoad(t *draw.Table, load client.FireCounts) {
	most, sum, requested := 1, 0, 0
	for i, n := range load.Counts {
		r := requestedIn(load, i)
		most, sum, requested = max(most, n+r), sum+n, requested+r
	}
	heads := []string{"FROM", "FIRES"}
	if requested > 0 {
		heads = append(heads, "REQUESTED")
	}
	t.Row(append(heads, "")...)
	step := load.To.Sub(load.From) / time.Duration(max(len(load.Counts), 1))
	for i, n := range load.Counts {
		r := requestedIn(load, i)
		row := []string{t.Instant(load.From.Add(time.Duration(i) * step)), strconv.Itoa(n)}
		if requested > 0 {
			row = append(row, strconv.Itoa(r))
		}
		t.Row(append(row, strings.Repeat("█", ((n+r)*barWidth+most-1)/most))...)
	}
	t.Line("")
	note := fmt.Sprintf("%s of %s", draw.Count(sum, "fire"), draw.Count(load.Jobs, "job"))
	if requested > 0 {
		note += ", and " + draw.Count(requested, "requested run")
	}
	if !load.Complete {
		note += "; further fires were not counted"
	}
	t.Line(note)
}

// requestedIn returns how many runs were requested for a time in an interval, 0 if that is not known.
func requestedIn(load client.FireCounts, i int) int {
	if load.Requested == nil {
		return 0
	}
	return load.Requested[i]
}
