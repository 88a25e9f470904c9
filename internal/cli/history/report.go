package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func newReportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Reports on runs: trends, slow and failing jobs, load",
		Long: "Reports cover the fires of the last 24 hours, or the range of --since or --from and --to, in full\n" +
			"hours, or beyond 14 days in full days (UTC). A trend by day has the days of your time zone, or of\n" +
			"--zone or --utc. Reports outlive the runs: counts per minute are kept for 8 days, per hour and so per\n" +
			"day of a time zone for 100 days, and per day in UTC for five years.",
		Example: "  carillon report overview\n" +
			"  carillon report month 2026-10 --group billing\n" +
			"  carillon report trend --since 7d --step day\n" +
			"  carillon report runs --order ratio --group billing\n" +
			"  carillon report failures --since 7d\n" +
			"  carillon report load --for 2d\n" +
			"  carillon report usage billing --since 24h",
	}
	cmd.AddCommand(
		newOverviewCommand(), newMonthCommand(), newTrendCommand(),
		newRunsCommand(), newFailuresCommand(), newOutcomesCommand(), newBreakdownCommand(), newLoadCommand(), newUsageCommand(), newRepairCommand(),
	)
	return cmd
}

// zonedFor is how far back servers count by the days of any zone. What reaches back further has
// days in UTC, unless somebody asks for a zone.
const zonedFor = 99 * 24 * time.Hour

// reportFlags are what all reports can be narrowed by.
type reportFlags struct {
	selection.RunFilter
	limit int
	zone  string // whose days a trend has
}

func (f *reportFlags) add(cmd *cobra.Command, jobs bool) {
	cmd.Flags().StringVar(&f.Since, "since", "", "fires of the last `duration`, such as 90m or 7d")
	cmd.Flags().StringVar(&f.From, "from", "", "fires at or after this `time` (RFC 3339)")
	cmd.Flags().StringVar(&f.To, "to", "", "fires before this `time` (RFC 3339)")
	cmd.Flags().StringVar(&f.Group, "group", "", "only this executor `group`")
	cmd.Flags().IntVar(&f.limit, "limit", 20, "maximum number of rows to show")
	if jobs {
		cmd.Flags().StringSliceVar(&f.Jobs, "job", nil, "only this `job`; can be repeated")
	}
	cmd.MarkFlagsMutuallyExclusive("since", "from")
}

// newReport returns the command of a report that ask reads. l has no flags of its own.
func newReport[T any](l cli.List[T], f *reportFlags, jobs bool, ask func(ctx context.Context, api *client.API, p client.ListRunsParams) (T, error)) *cobra.Command {
	var cmd *cobra.Command
	l.Flags = func(c *cobra.Command) {
		cmd = c
		f.add(c, jobs)
	}
	l.Fetch = func(ctx context.Context, api *client.API) (none T, err error) {
		p, err := f.Params(time.Now())
		if err != nil {
			return none, cli.Usage(err)
		}
		if f.limit < 1 {
			return none, cli.Usage(errors.New("--limit must be 1 or more"))
		}
		f.zone = cli.ZoneName(cmd)
		if !cmd.Flags().Changed("zone") && p.From != nil && time.Since(*p.From) > zonedFor {
			f.zone = "UTC"
		}
		return ask(ctx, api, p)
	}
	return l.Command()
}

func newOverviewCommand() *cobra.Command {
	var f reportFlags
	cmd := newReport(cli.List[client.Overview]{
		Use: "overview", Short: "Show an overview: totals, trend, slow and failing jobs",
		Example: "  carillon report overview\n  carillon report overview --group billing --since 7d",
		Columns: drawOverview,
	}, &f, false, func(ctx context.Context, api *client.API, p client.ListRunsParams) (client.Overview, error) {
		return client.Read[client.Overview](api.GetOverview(ctx, &client.GetOverviewParams{From: p.From, To: p.To, Group: p.Group, Top: new(min(f.limit, 5)), Zone: &f.zone}))
	})
	cli.ZoneFlag(cmd)
	return cmd
}

func drawOverview(t *draw.Table, o client.Overview) {
	t.Line(fmt.Sprintf("%s to %s", t.Instant(o.From), t.Instant(o.To)))
	t.Line(fmt.Sprintf("now: %d running, %d pending, %d queued", o.Alive[job.StatusRunning], o.Alive[job.StatusPending], o.Alive[job.StatusQueued]))
	t.Line("")
	drawRows(t, "", []runlog.ReportRow{o.Total}, func(*runlog.ReportRow) string { return "all" })
	for _, part := range []struct {
		title string
		rows  []runlog.ReportRow
		name  func(*runlog.ReportRow) string
	}{
		{"TREND", o.Trend, rowTime(t)}, {"BUSIEST MINUTES", o.Busiest, rowTime(t)}, {"SLOWEST JOBS", o.Slowest, rowJob}, {"FAILING JOBS", o.Failing, rowJob},
	} {
		if len(part.rows) > 0 {
			t.Line("")
			drawRows(t, part.title, part.rows, part.name)
		}
	}
	if len(o.Failures) > 0 {
		t.Line("")
		drawFailures(t, o.Failures)
	}
}

func newTrendCommand() *cobra.Command {
	var f reportFlags
	step := "hour"
	cmd := newReport(cli.List[client.Report]{
		Use: "trend", Short: "Show runs over time",
		Example: "  carillon report trend --since 7d --step day\n  carillon report trend --job ops/backup --limit 200\n" +
			"  carillon report trend --since 30d --step day --zone Asia/Kolkata",
		Columns: func(t *draw.Table, r client.Report) { drawRows(t, "TIME", r.Items, rowTime(t)) },
	}, &f, true, func(ctx context.Context, api *client.API, p client.ListRunsParams) (client.Report, error) {
		ask := client.ReportRunsParams{From: p.From, To: p.To, Group: p.Group, Job: p.Job, Step: new(runlog.Step(step)), Limit: &f.limit}
		if *ask.Step == runlog.StepDay {
			ask.Zone = &f.zone
		}
		return client.Read[client.Report](api.ReportRuns(ctx, &ask))
	})
	cmd.Flags().Lookup("limit").DefValue = "100"
	f.limit = 100
	cmd.Flags().StringVar(&step, "step", step, "length of a `step`: minute, hour or day")
	cli.Complete(cmd, "step", "minute", "hour", "day")
	cli.ZoneFlag(cmd)
	return cmd
}

// reportedBy are the things that a report of runs has a row for. Instances and minutes are counted by group
// alone.
var reportedBy = []string{"job", "group", "instance", "version", "minute"}

// newRunsCommand returns a report with a row for each of some things.
func newRunsCommand() *cobra.Command {
	var f reportFlags
	by, order := "job", string(runlog.OrderRuns)
	orders := cli.Words[string](runlog.Orders[1:])
	cmd := newReport(cli.List[client.Report]{
		Use: "runs", Short: "Report runs by job, group, instance, version or minute",
		Long: "Report runs by job, executor group, instance, version of a job, or minute. --order sorts them: by runs,\n" +
			"failures, ratio (the share that fails), duration (p95), or lateness (p95 of the start), which also shows how\n" +
			"late each stage was.",
		Example: "  carillon report runs --since 7d\n  carillon report runs --order ratio --group billing\n" +
			"  carillon report runs --order duration --limit 5\n  carillon report runs --by instance\n  carillon report runs --by minute --since 7d",
		Columns: func(t *draw.Table, r client.Report) {
			name := rowName
			if by == "minute" {
				name = rowTime(t)
			}
			if order == string(runlog.OrderLateness) {
				drawStages(t, strings.ToUpper(by), r.Items, name)
				return
			}
			drawRows(t, strings.ToUpper(by), r.Items, name)
		},
	}, &f, true, func(ctx context.Context, api *client.API, p client.ListRunsParams) (client.Report, error) {
		o := runlog.Order(order)
		ask := client.ReportRunsParams{From: p.From, To: p.To, Group: p.Group, Job: p.Job, Order: &o, Limit: &f.limit}
		switch by {
		case "job", "group":
			ask.By = &[]runlog.Dimension{runlog.Dimension(by)}
		case "instance":
			ask.By = &[]runlog.Dimension{runlog.ByGroup, runlog.ByInstance}
		case "version":
			ask.By = &[]runlog.Dimension{runlog.ByJob, runlog.ByVersion}
		case "minute":
			ask.Step = new(runlog.StepMinute)
		default:
			return client.Report{}, cli.Usage(fmt.Errorf("--by %q must be one of %s", by, strings.Join(reportedBy, ", ")))
		}
		if len(f.Jobs) > 0 && (by == "instance" || by == "minute") {
			return client.Report{}, cli.Usage(fmt.Errorf("--by %s is counted by group; choose with --group, not with --job", by))
		}
		return client.Read[client.Report](api.ReportRuns(ctx, &ask))
	})
	cmd.Flags().StringVar(&by, "by", by, "one row for each of these: "+strings.Join(reportedBy, ", "))
	cmd.Flags().StringVar(&order, "order", order, "sort `order`: "+strings.Join(orders, ", "))
	cli.Complete(cmd, "by", reportedBy...)
	cli.Complete(cmd, "order", orders...)
	return cmd
}

func rowTime(t *draw.Table) func(*runlog.ReportRow) string {
	return func(r *runlog.ReportRow) string { return t.Instant(r.At) }
}

func rowJob(r *runlog.ReportRow) string { return string(r.Job) }

func rowName(r *runlog.ReportRow) string {
	switch {
	case r.Version != 0:
		return string(r.Job) + " v" + strconv.Itoa(r.Version)
	case r.Job != "":
		return string(r.Job)
	case r.Instance != "":
		return r.Group + "/" + r.Instance
	}
	return r.Group
}

func drawRows(t *draw.Table, title string, rows []runlog.ReportRow, name func(*runlog.ReportRow) string) {
	heads := []string{title, "RUNS", "SUCCEEDED", "FAILED", "NOT RUN", "SUCCESS", "P50", "P95", "MAX", "WAITED P50", "WAITED P95"}
	judged := slices.ContainsFunc(rows, func(r runlog.ReportRow) bool { return r.Target != nil })
	if judged {
		heads = append(heads, "TARGET")
	}
	t.Row(heads...)
	for i := range rows {
		r := &rows[i]
		cells := []string{
			t.Cell(name(r), draw.NoteWidth), strconv.Itoa(r.Runs), strconv.Itoa(r.Statuses[job.StatusSucceeded]), strconv.Itoa(r.Failed()),
			strconv.Itoa(r.Statuses[job.StatusSkipped] + r.Statuses[job.StatusMissed]), successOf(r),
			lasted(r.Duration, r.Duration.P50), lasted(r.Duration, r.Duration.P95), lasted(r.Duration, r.Duration.Max), lasted(r.Started, r.Started.P50), lasted(r.Started, r.Started.P95),
		}
		if judged {
			cells = append(cells, verdictOf(r))
		}
		t.Row(cells...)
	}
}

// successOf writes the success rate, and of which runs it is: those of the schedule, or all if the
// schedule asked for none.
func successOf(r *runlog.ReportRow) string {
	if r.SuccessRate == nil {
		return "-"
	}
	rate := strconv.FormatFloat(100**r.SuccessRate, 'f', 1, 64) + " % of "
	if r.Scheduled > 0 {
		return rate + strconv.Itoa(r.Scheduled) + " scheduled"
	}
	return rate + strconv.Itoa(r.Statuses[job.StatusSucceeded]+r.Failed()+r.Statuses[job.StatusMissed])
}

// verdictOf tells whether the target of a job is met, or by how much it is missed.
func verdictOf(r *runlog.ReportRow) string {
	v := r.Target
	switch {
	case v == nil:
		return "-"
	case v.Met && v.SuccessRate > 0:
		return fmt.Sprintf("met, %d more may fail", v.Budget)
	case v.Met:
		return "met"
	}
	var missed []string
	if v.Budget < 0 {
		missed = append(missed, draw.Count(-v.Budget, "run"))
	}
	if late := r.Started.P95 - v.StartDelay.Std(); v.StartDelay > 0 && late > 0 {
		missed = append(missed, lasted(r.Started, late)+" of waiting")
	}
	return "missed by " + strings.Join(missed, " and ")
}

// drawStages shows how late the stages of runs were.
func drawStages(t *draw.Table, title string, rows []runlog.ReportRow, name func(*runlog.ReportRow) string) {
	t.Row(title, "RUNS", "COMMITTED P50", "P95", "DELIVERED P50", "P95", "STARTED P50", "P95", "FINISHED P50", "P95")
	for i := range rows {
		r := &rows[i]
		cells := []string{t.Cell(name(r), draw.NoteWidth), strconv.Itoa(r.Runs)}
		for _, s := range []runlog.Spread{r.Committed, r.Delivered, r.Started, r.Finished} {
			cells = append(cells, lasted(s, s.P50), lasted(s, s.P95))
		}
		t.Row(cells...)
	}
}

// lasted writes one of the times of a spread.
func lasted(s runlog.Spread, d time.Duration) string {
	if s.Count == 0 {
		return "-"
	}
	return draw.Took(time.UnixMilli(1), time.UnixMilli(1).Add(d))
}

func newFailuresCommand() *cobra.Command {
	var f reportFlags
	return newReport(cli.List[client.FailureList]{
		Use: "failures", Short: "Group failures by message, most frequent first",
		Long:    "Group failed, timed-out and lost attempts by the first line of their message. Ids, addresses and numbers\nare replaced by #.",
		Example: "  carillon report failures --since 7d\n  carillon report failures --job ops/backup",
		Columns: func(t *draw.Table, l client.FailureList) { drawFailures(t, l.Items) },
	}, &f, true, func(ctx context.Context, api *client.API, p client.ListRunsParams) (client.FailureList, error) {
		return client.Read[client.FailureList](api.ReportFailures(ctx, &client.ReportFailuresParams{From: p.From, To: p.To, Group: p.Group, Job: p.Job, Limit: &f.limit}))
	})
}

func drawFailures(t *draw.Table, failures []runlog.Failure) {
	t.Row("FAILURE", "ATTEMPTS", "FIRST", "LAST", "JOBS", "LAST RUN")
	for _, f := range failures {
		jobs := make([]string, len(f.Jobs))
		for i, name := range f.Jobs {
			jobs[i] = string(name)
		}
		t.Row(t.Cell(f.Fingerprint, draw.NoteWidth), strconv.Itoa(f.Attempts), t.Instant(f.First), t.Instant(f.Last), t.Cell(strings.Join(jobs, " "), draw.NoteWidth), string(f.LastRun))
	}
}

func newRepairCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair DAY",
		Short: "Rebuild the reports of a day",
		Long: "Rebuild the reports of a day (UTC) from the runs in the history. You need this only after changing\n" +
			"the database by hand. With ClickHouse, the day must have ended at least an hour ago.",
		Example: "  carillon report repair 2026-03-01",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := time.Parse(time.DateOnly, args[0]); err != nil {
			return cli.Usage(fmt.Errorf("%q must be a day such as 2026-03-01", args[0]))
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if _, err := client.Read[client.None](api.RepairReports(cmd.Context(), args[0])); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "reports of %s rebuilt\n", args[0])
		return err
	}
	return cmd
}
