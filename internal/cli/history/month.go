package history

import (
	"fmt"
	"net/url"
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

const monthLayout = "2006-01"

func newMonthCommand() *cobra.Command {
	var group, owner, tag string
	var csv bool
	cmd := &cobra.Command{
		Use:   "month [MONTH]",
		Short: "Report a month beside the month before",
		Long: "Report a calendar month, by default the last full one, beside the month before: counts, success,\n" +
			"lateness, targets, causes of failures, slowest jobs, and what was changed. The month is that of your\n" +
			"time zone, or of --zone or --utc; if one of the two months began more than 99 days ago, that of UTC.\n" +
			"Owners and tags are those of the jobs as they are now.",
		Example: "  carillon report month\n  carillon report month 2026-10 --group billing\n  carillon report month 2026-10 --owner lin.wei --csv > october.csv",
		Args:    cobra.MaximumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVarP(&group, "group", "g", "", "only this executor `group`")
	cmd.Flags().StringVar(&owner, "owner", "", "only jobs of this `owner`")
	cmd.Flags().StringVar(&tag, "tag", "", "only jobs with this `tag`")
	cmd.Flags().BoolVar(&csv, "csv", false, "print CSV: a line for each figure, with its value in both months")
	cli.ZoneFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		month, err := monthOf(args, cli.ClockOf(cmd).Format(time.Now(), monthLayout))
		if err != nil {
			return cli.Usage(err)
		}
		name, zone := month.Format(monthLayout), cli.ZoneName(cmd)
		if before := month.AddDate(0, -1, 0); !cmd.Flags().Changed("zone") && time.Since(before) > zonedFor {
			zone = "UTC"
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if csv {
			q := url.Values{"month": {name}, "zone": {zone}}
			for field, value := range map[string]string{"group": group, "owner": owner, "tag": tag} {
				if value != "" {
					q.Set(field, value)
				}
			}
			return cli.CopyTo(cmd, api, "/api/v1/reports/month/export?"+q.Encode(), nil)
		}
		report, err := client.Read[client.MonthReport](api.ReportMonth(cmd.Context(), &client.ReportMonthParams{
			Month: name, Zone: &zone, Group: client.Optional(group), Owner: client.Optional(owner), Tag: client.Optional(tag),
		}))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), report, func(t *draw.Table) { drawMonth(t, &report) })
	}
	return cmd
}

// monthOf returns the first day of the month that is asked for, by default of the one before the present
// one.
func monthOf(args []string, present string) (time.Time, error) {
	if len(args) == 0 {
		month, err := time.Parse(monthLayout, present)
		return month.AddDate(0, -1, 0), err
	}
	month, err := time.Parse(monthLayout, args[0])
	if err != nil {
		return month, fmt.Errorf("%q must be a month such as 2026-10", args[0])
	}
	return month, nil
}

func drawMonth(t *draw.Table, m *client.MonthReport) {
	of := []string{m.Month + " (" + m.Zone + ")"}
	for _, part := range []struct{ name, value string }{{"group", m.Group}, {"owner", m.Owner}, {"tag", m.Tag}} {
		if part.value != "" {
			of = append(of, part.name+" "+part.value)
		}
	}
	t.Line(strings.Join(append(of, draw.Count(m.Jobs, "job")), ", "))
	t.Line("")
	t.Row("", "MONTH", "BEFORE")
	drawMonthTotals(t, &m.Total, &m.Before)
	section := func(rows int, heads ...string) {
		if rows > 0 {
			t.Line("")
			t.Row(heads...)
		}
	}
	section(len(m.Reasons), "NOT RUN", "REASON", "FIRES", "BEFORE")
	for _, r := range m.Reasons {
		t.Row(string(r.Status), t.Cell(string(r.Reason), draw.NoteWidth), strconv.Itoa(r.Fires), strconv.Itoa(r.Before))
	}
	section(len(m.Targets), "JOB WITH A TARGET", "SUCCESS", "BEFORE", "TARGET", "BEFORE")
	for i := range m.Targets {
		r := &m.Targets[i]
		t.Row(string(r.Job), successOf(&r.Total), successOf(&r.Before), verdictOf(&r.Total), verdictOf(&r.Before))
	}
	section(len(m.Failures), "FAILURE", "ATTEMPTS", "BEFORE", "JOBS")
	for i := range m.Failures {
		f := &m.Failures[i]
		t.Row(t.Cell(f.Failure.Fingerprint, draw.NoteWidth), strconv.Itoa(f.Failure.Attempts), strconv.Itoa(f.Before), strconv.Itoa(f.Failure.JobCount))
	}
	section(len(m.Slowest), "SLOWEST JOB", "P50", "P95", "P95 BEFORE")
	for i := range m.Slowest {
		now, before := m.Slowest[i].Total.Duration, m.Slowest[i].Before.Duration
		t.Row(string(m.Slowest[i].Job), lasted(now, now.P50), lasted(now, now.P95), lasted(before, before.P95))
	}
	section(len(m.Changes), "CHANGED", "BY", "WHAT", "NOTE")
	for _, c := range m.Changes {
		t.Row(t.Instant(c.At), t.Cell(c.User, draw.NoteWidth), c.Operation+" "+c.Object, t.Cell(c.Note, draw.NoteWidth))
	}
	if m.MoreChanges {
		t.Line("There were more changes; \"carillon audit-log\" lists them.")
	}
	if !m.RunsSince.IsZero() {
		t.Line("")
		t.Line("Reasons and failures are not known of runs before " + t.Instant(m.RunsSince) + ".")
	}
}

func drawMonthTotals(t *draw.Table, month, before *runlog.ReportRow) {
	line := func(name string, of func(*runlog.ReportRow) string) { t.Row(name, of(month), of(before)) }
	status := func(statuses ...job.Status) func(*runlog.ReportRow) string {
		return func(r *runlog.ReportRow) string {
			n := 0
			for _, s := range statuses {
				n += r.Statuses[s]
			}
			return strconv.Itoa(n)
		}
	}
	line("fires and other runs", func(r *runlog.ReportRow) string { return strconv.Itoa(r.Runs) })
	line("succeeded", status(job.StatusSucceeded))
	line("failed", status(job.StatusFailed, job.StatusTimedOut, job.StatusLost))
	line("cancelled", status(job.StatusCancelled))
	line("skipped", status(job.StatusSkipped))
	line("missed", status(job.StatusMissed))
	line("success", successOf)
	for _, s := range []struct {
		name string
		of   func(*runlog.ReportRow) runlog.Spread
	}{
		{"fired late", func(r *runlog.ReportRow) runlog.Spread { return r.Committed }},
		{"started after", func(r *runlog.ReportRow) runlog.Spread { return r.Started }},
		{"duration", func(r *runlog.ReportRow) runlog.Spread { return r.Duration }},
	} {
		line(s.name+" p50", func(r *runlog.ReportRow) string { return lasted(s.of(r), s.of(r).P50) })
		line(s.name+" p99", func(r *runlog.ReportRow) string { return lasted(s.of(r), s.of(r).P99) })
	}
}
