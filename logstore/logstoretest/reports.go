package logstoretest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// reportDay is a day that is over, and not so long ago that a store forgets it.
func reportDay() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(-48 * time.Hour) }

// told is what the bus says of a day: 120 runs of three jobs in two groups, done by
// three instances, one in five failed; one that was tried again, one that a record
// calls lost though an event says that it succeeded, 12 fires that were missed, one that
// waits, and a piece.
func told(day time.Time) []logstore.Update {
	jobs := []job.Name{"billing/day", "billing/week", "bill/day"}
	var all []logstore.Update
	for i := range 120 {
		r := newRun().of(jobs[i%3]).ofVersion(3 + i/90).at(day.Add(3*time.Hour + time.Duration(i)*90*time.Second))
		end := r.finished(job.StatusSucceeded, fmt.Sprintf("worker-%d", i%2), ms(10+100*(i+1)))
		if i%5 == 0 {
			end.Status, end.Message = job.StatusFailed, fmt.Sprintf("disk sda%d is full\nat 0x%x", i%2, i)
		}
		start := r.started(end.Instance, 1, ms(10))
		if r.job != "billing/week" { // whose executor does not tell
			start, end = delivered(start, ms(8)), delivered(end, ms(8))
		}
		all = append(all, r.recorded(job.StatusPending), start, end)
	}
	again := newRun().of("billing/again").at(day.Add(8 * time.Hour))
	failed := again.finished(job.StatusFailed, "worker-2", time.Second)
	failed.Retry, failed.Message = true, "no answer from 10.0.0.7:5432"
	done := again.try(2).finished(job.StatusSucceeded, "worker-2", time.Minute)
	done.StartedAt = again.fire.Add(30 * time.Second)
	lost := newRun().of("billing/lost").at(day.Add(9 * time.Hour))
	missed := newRun().of("bill/day").at(day.Add(10 * time.Hour)).recorded(job.StatusMissed)
	missed.Count, missed.Until = 12, day.Add(10*time.Hour+11*time.Minute)
	return append(all, failed, again.try(2).record(job.StatusQueued, 2*time.Second, "the next is due"), done,
		lost.finished(job.StatusSucceeded, "worker-2", 5*time.Second), lost.record(job.StatusLost, 5*time.Second, "its executor vanished"),
		missed, newRun().of("bill/day").at(day.Add(11*time.Hour)).recorded(job.StatusPending),
		ofPiece(newRun().of("bill/broad").at(day.Add(11*time.Hour)).finished(job.StatusFailed, "worker-2", time.Second), 0, 2))
}

// writeDay writes what is told of a day in some cuts, with repeats under other tokens
// and ends that come too late.
func writeDay(t *testing.T, s logstore.Store, day time.Time) {
	t.Helper()
	all := told(day)
	w := &writes{store: s}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	w.runs(t, all[:100]...)
	w.runs(t, backwards[:200]...)
	w.runs(t, all...)
	for i := 0; i < len(all); i += 70 {
		w.runs(t, all[i:min(i+90, len(all))]...)
	}
	late := newRun().of("billing/day").at(day.Add(3*time.Hour)).finished(job.StatusSucceeded, "worker-7", time.Hour)
	write(t, s, late, late)
}

func reportOf(t *testing.T, s logstore.Store, f logstore.ReportFilter) logstore.Report {
	t.Helper()
	r, err := s.Report(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// final are the counts of final statuses, without those that are 0.
func final(counts map[job.Status]int) map[job.Status]int {
	counts = maps.Clone(counts)
	maps.DeleteFunc(counts, func(s job.Status, n int) bool { return !s.Final() || n == 0 })
	return counts
}

// compareReports compares the reports of the day that writeDay has written, by time and by
// dimension, with the runs that the store lists.
func compareReports(t *testing.T, s logstore.Store, whole logstore.ReportFilter) {
	t.Helper()
	runs := logstore.RunFilter{From: whole.From, To: whole.To}
	for step, parts := range map[runlog.Step]int{runlog.StepDay: 1, runlog.StepHour: 24, runlog.StepMinute: 720} {
		f, half := whole, runs
		f.Step = step
		if step == runlog.StepMinute {
			f.To, half.To = whole.From.Add(12*time.Hour), whole.From.Add(12*time.Hour)
		}
		counts, err := s.Histogram(t.Context(), half, parts)
		if err != nil {
			t.Fatal(err)
		}
		want := counts.All
		got := make([]map[job.Status]int, parts)
		for i := range got {
			got[i], want[i] = map[job.Status]int{}, final(want[i])
		}
		for _, row := range reportOf(t, s, f).Rows {
			got[int(row.At.Sub(whole.From)/step.Length())] = row.Statuses
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the report by %s differs from the runs (-runs +report):\n%s", step, diff)
		}
	}
	rows := 0
	for _, by := range [][]runlog.Dimension{{}, {runlog.ByGroup}, {runlog.ByJob}, {runlog.ByJob, runlog.ByVersion}, {runlog.ByGroup, runlog.ByInstance}} {
		f := whole
		f.By = by
		for _, row := range reportOf(t, s, f).Rows {
			of := runs
			of.Group, of.Version, of.Instance = row.Group, row.Version, row.Instance
			of.AllAttempts = row.Instance != ""
			if row.Job != "" {
				of.Jobs = []job.Name{row.Job}
			}
			want, err := s.Counts(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(final(want), row.Statuses); diff != "" {
				t.Errorf("by %v, the row of %q %q %d %q differs from the runs (-runs +report):\n%s", by, row.Group, row.Job, row.Version, row.Instance, diff)
			}
			rows++
		}
	}
	if rows != 1+2+5+8+5 {
		t.Errorf("there are %d rows", rows)
	}
}

// reports compares reports with what the runs themselves say, to the last one.
func reports(t *testing.T, s logstore.Store) {
	day := reportDay()
	writeDay(t, s, day)
	whole := logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), Limit: 2000}
	compareReports(t, s, whole)
	if t.Failed() {
		return
	}

	total := reportOf(t, s, whole).Rows[0]
	if total.Runs != 134 || total.Attempts != 123 || total.Failed() != 25 || math.Abs(total.FailureRatio-25.0/122) > 1e-9 {
		t.Errorf("in total there are %d runs, %d attempts, %d failures, %g of them", total.Runs, total.Attempts, total.Failed(), total.FailureRatio)
	}
	near := func(what string, got, want time.Duration) {
		t.Helper()
		if math.Abs(got.Seconds()-want.Seconds()) > 0.03*want.Seconds()+0.001 {
			t.Errorf("%s is %s; want about %s", what, got, want)
		}
	}
	if total.Duration.Count != 123 || total.Started.Count != 122 || total.Finished.Count != 122 || total.Committed.Count != 122 {
		t.Errorf("%d attempts were measured, %d, %d and %d for lateness; want 123 and 122", total.Duration.Count, total.Started.Count, total.Finished.Count, total.Committed.Count)
	}
	if total.Delivered.Count != 80 {
		t.Errorf("of %d attempts it is known when they were delivered; want 80", total.Delivered.Count)
	}
	near("delivery", total.Delivered.P95, ms(8))
	near("the median duration", total.Duration.P50, 6200*time.Millisecond)
	near("the 95th percentile", total.Duration.P95, 11700*time.Millisecond)
	near("the longest", total.Duration.Max, 30*time.Second)
	near("lateness", total.Started.P50, ms(10))
	near("commit", total.Committed.P99, ms(5))
	near("the time to the end", total.Finished.P50, 6200*time.Millisecond+ms(10))

	before := reportOf(t, s, logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), By: []runlog.Dimension{runlog.ByJob, runlog.ByVersion}})
	for range 2 { // the second makes the same again
		if err := s.Repair(t.Context(), day.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	compareReports(t, s, whole)
	after := reportOf(t, s, logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), By: []runlog.Dimension{runlog.ByJob, runlog.ByVersion}})
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a repair has changed what was right (-before +after):\n%s", diff)
	}
	wantInvalid(t, s.Repair(t.Context(), day.Add(-24*time.Hour)), "day")
}

// percentilesWithinMax writes a run for each of many jobs, whose percentiles are its duration as
// far as a store is exact.
func percentilesWithinMax(t *testing.T, s logstore.Store) {
	day := reportDay()
	w := &writes{store: s}
	var ends []logstore.Update
	for i := range 60 {
		r := newRun().of(job.Name(fmt.Sprintf("within/job-%d", i))).at(day)
		ends = append(ends, r.finished(job.StatusSucceeded, "worker-1", time.Second+time.Duration(i)*ms(37)))
	}
	w.runs(t, ends...)
	for _, row := range reportOf(t, s, logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), Group: "within", By: []runlog.Dimension{runlog.ByJob}, Limit: 60}).Rows {
		if d := row.Duration; d.P50 > d.Max || d.P95 > d.Max || d.P99 > d.Max || d.P50 < d.Max*95/100 {
			t.Errorf("%s took %s, of which the percentiles are %s, %s and %s", row.Job, d.Max, d.P50, d.P95, d.P99)
		}
	}
}

func reportOrders(t *testing.T, s logstore.Store) {
	day := reportDay()
	writeDay(t, s, day)
	want := func(f logstore.ReportFilter, want ...string) {
		t.Helper()
		f.From, f.To = day, day.Add(24*time.Hour)
		var got []string
		for _, r := range reportOf(t, s, f).Rows {
			got = append(got, r.Group+string(r.Job)+r.Instance)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows of %+v differ (-want +got):\n%s", f, diff)
		}
	}
	byJob := []runlog.Dimension{runlog.ByJob}
	want(logstore.ReportFilter{By: byJob}, "bill/day", "billing/day", "billing/week", "billing/again", "billing/lost")
	want(logstore.ReportFilter{By: byJob, Order: runlog.OrderRatio, Limit: 2}, "billing/lost", "bill/day")
	want(logstore.ReportFilter{By: byJob, Order: runlog.OrderDuration, Limit: 1}, "billing/again")
	for _, order := range []runlog.Order{runlog.OrderRuns, runlog.OrderFailures, runlog.OrderRatio, runlog.OrderDuration, runlog.OrderLateness} {
		for _, step := range []runlog.Step{runlog.StepNone, runlog.StepHour} {
			f := logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), By: byJob, Step: step, Order: order, Limit: logstore.MaxReportRows}
			all := reportOf(t, s, f)
			f.Limit = 2
			if diff := cmp.Diff(all.Rows[:2], reportOf(t, s, f).Rows); diff != "" {
				t.Errorf("the first two rows by %s are others than those of all (-all +two):\n%s", order, diff)
			}
		}
	}
	want(logstore.ReportFilter{By: byJob, Group: "bill"}, "bill/day")
	want(logstore.ReportFilter{By: byJob, Groups: []string{"bill"}}, "bill/day")
	want(logstore.ReportFilter{By: byJob, Groups: []string{"nobody", "bi*"}, Group: "bill"}, "bill/day")
	want(logstore.ReportFilter{By: byJob, Groups: []string{"bills*"}})
	want(logstore.ReportFilter{By: byJob, Groups: []string{}})
	want(logstore.ReportFilter{By: byJob, Jobs: []job.Name{"billing/lost", "billing/unknown"}}, "billing/lost")
	want(logstore.ReportFilter{By: byJob, Jobs: []job.Name{"billing/unknown"}})
	want(logstore.ReportFilter{By: []runlog.Dimension{runlog.ByInstance}, Group: "billing"}, "worker-0", "worker-1", "worker-2")
	busiest := reportOf(t, s, logstore.ReportFilter{From: day.Add(time.Second), To: day.Add(12*time.Hour - time.Second), Step: runlog.StepMinute, Order: runlog.OrderRuns, Limit: 1, Times: []runlog.Timing{runlog.TimeNone}})
	if !busiest.From.Equal(day) || !busiest.To.Equal(day.Add(12*time.Hour)) || len(busiest.Rows) != 1 || busiest.Rows[0].Runs != 12 || !busiest.Rows[0].At.Equal(day.Add(10*time.Hour)) {
		t.Errorf("the busiest minute is %+v; want that of the 12 that were missed", busiest)
	}
	if busiest.Rows[0].Duration.Count != 0 || busiest.Rows[0].Statuses[job.StatusMissed] != 12 {
		t.Errorf("a brief row is %+v", busiest.Rows[0])
	}
	reportTimes(t, s, day)
	hours := logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), Step: runlog.StepHour, Limit: 1, Total: true}
	all := hours
	all.Step = runlog.StepNone
	total := reportOf(t, s, hours)
	if diff := cmp.Diff(reportOf(t, s, all).Rows[0], total.Total); diff != "" || len(total.Rows) != 1 {
		t.Errorf("the total of %d hours differs (-whole +total):\n%s", len(total.Rows), diff)
	}
	if none := reportOf(t, s, logstore.ReportFilter{From: day, To: day.Add(time.Hour), Total: true}).Total; none.Runs != 0 || none.Statuses == nil {
		t.Errorf("the total of nothing is %+v", none)
	}
	month := reportOf(t, s, logstore.ReportFilter{From: day.Add(-20 * 24 * time.Hour), To: day.Add(5 * time.Hour)})
	if len(month.Rows) != 1 || month.Rows[0].Runs != 134 || !month.To.Equal(day.Add(24*time.Hour)) {
		t.Errorf("a long range has %+v; want whole days", month)
	}

	refuse := func(field string, f logstore.ReportFilter) {
		t.Helper()
		if f.From.IsZero() {
			f.From, f.To = day, day.Add(time.Hour)
		}
		_, err := s.Report(t.Context(), f)
		wantInvalid(t, err, field)
	}
	refuse("by", logstore.ReportFilter{By: []runlog.Dimension{runlog.ByCause}})
	refuse("by", logstore.ReportFilter{By: []runlog.Dimension{runlog.ByVersion}})
	refuse("by", logstore.ReportFilter{By: []runlog.Dimension{runlog.ByJob, runlog.ByInstance}})
	refuse("step", logstore.ReportFilter{Step: runlog.StepMinute, By: byJob})
	refuse("step", logstore.ReportFilter{Step: "year"})
	refuse("order", logstore.ReportFilter{Order: "colour"})
	refuse("limit", logstore.ReportFilter{Limit: -1})
	refuse("group", logstore.ReportFilter{Group: "A B"})
	refuse("to", logstore.ReportFilter{From: day, To: day})
	refuse("to", logstore.ReportFilter{From: day, To: day.Add(20 * 366 * 24 * time.Hour)})
}

func failures(t *testing.T, s logstore.Store) {
	day := reportDay()
	writeDay(t, s, day)
	type line struct {
		print, message string
		n              int
		jobs           []job.Name
		first, last    time.Duration
	}
	const parts = 24
	want := func(f logstore.FailureFilter, want ...line) {
		t.Helper()
		f.From, f.To, f.Parts = day, day.Add(24*time.Hour), parts
		found, err := s.Failures(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		got := []line{}
		for _, f := range found {
			if sum(f.Counts) != f.Attempts || len(f.Counts) != parts || f.Counts[f.First.Sub(day)/time.Hour] == 0 || f.Counts[f.Last.Sub(day)/time.Hour] == 0 {
				t.Errorf("%d attempts from %v to %v are counted as %v", f.Attempts, f.First, f.Last, f.Counts)
			}
			if f.JobCount != len(f.Jobs) || (len(f.Versions) > 0) != (f.JobCount == 1) {
				t.Errorf("versions %v of %d jobs: %v", f.Versions, f.JobCount, f.Jobs)
			}
			got = append(got, line{f.Fingerprint, string(f.Message), f.Attempts, f.Jobs, f.First.Sub(day), f.Last.Sub(day)})
			if !f.LastRun.Time().Equal(f.Last) {
				t.Errorf("the newest is of %v, and its run of %v", f.Last, f.LastRun.Time())
			}
		}
		if diff := cmp.Diff(append([]line{}, want...), got, cmp.AllowUnexported(line{})); diff != "" {
			t.Errorf("failures of %+v differ (-want +got):\n%s", f, diff)
		}
	}
	full := line{"disk sda# is full", "disk sda1 is full\nat 0x73", 24, []job.Name{"bill/day", "billing/day", "billing/week"}, 3 * time.Hour, 3*time.Hour + 115*90*time.Second}
	lost := line{"its executor vanished", "its executor vanished", 1, []job.Name{"billing/lost"}, 9 * time.Hour, 9 * time.Hour}
	answer := line{"no answer from #", "no answer from 10.0.0.7:5432", 1, []job.Name{"billing/again"}, 8 * time.Hour, 8 * time.Hour}
	want(logstore.FailureFilter{}, full, lost, answer)
	want(logstore.FailureFilter{Limit: 1}, full)
	want(logstore.FailureFilter{Jobs: []job.Name{"billing/again"}}, answer)
	want(logstore.FailureFilter{Groups: []string{"other"}})
	want(logstore.FailureFilter{Statuses: []job.Status{job.StatusLost}}, lost)
	want(logstore.FailureFilter{Statuses: []job.Status{job.StatusFailed, job.StatusTimedOut}}, full, answer)
	want(logstore.FailureFilter{Causes: []job.Cause{job.CauseManual}})
	want(logstore.FailureFilter{Version: 99})
	want(logstore.FailureFilter{Instance: "nobody"})
	want(logstore.FailureFilter{MinAttempt: 99})
	want(logstore.FailureFilter{Error: "no answer from #"}, answer)
	want(logstore.FailureFilter{Error: "its executor vanished"}, lost)
	want(logstore.FailureFilter{Error: "no answer"})
	runsWithAnError(t, s, day)

	// One that was no failure after all leaves no trace among those that are like it.
	jam := newRun().of("paper/jam").at(day.Add(12*time.Hour)).finished(job.StatusFailed, "worker-2", time.Second)
	called := newRun().of("paper/called-off").at(day.Add(13 * time.Hour))
	off := called.finished(job.StatusFailed, "worker-2", time.Second)
	jam.Message, off.Message = "paper jam in tray 2", "paper jam in tray 3"
	write(t, s, jam, off)
	write(t, s, called.record(job.StatusCancelled, 2*time.Second, "somebody has called it off"))
	want(logstore.FailureFilter{Group: "paper"}, line{"paper jam in tray #", "paper jam in tray 2", 1, []job.Name{"paper/jam"}, 12 * time.Hour, 12 * time.Hour})
	_, err := s.Failures(t.Context(), logstore.FailureFilter{From: day, To: day.Add(time.Hour), Statuses: []job.Status{job.StatusSucceeded}})
	wantInvalid(t, err, "status")
	_, err = s.Failures(t.Context(), logstore.FailureFilter{From: day})
	wantInvalid(t, err, "to")
	_, err = s.Failures(t.Context(), logstore.FailureFilter{From: day, To: day.Add(time.Hour), Parts: logstore.FailureParts + 1})
	wantInvalid(t, err, "parts")
	_, err = s.Failures(t.Context(), logstore.FailureFilter{From: day, To: day.Add(time.Millisecond), Parts: 2})
	wantInvalid(t, err, "to")
	_, err = s.Failures(t.Context(), logstore.FailureFilter{From: day, To: day.Add(time.Hour), Limit: logstore.MaxFailures + 1})
	wantInvalid(t, err, "limit")
}

// runsWithAnError compares lists, histograms and facets of runs that failed alike with those
// of all that failed.
func runsWithAnError(t *testing.T, s logstore.Store, day time.Time) {
	t.Helper()
	f := logstore.RunFilter{From: day, To: day.Add(24 * time.Hour), Statuses: logstore.Failed, Limit: logstore.MaxRuns}
	var want []job.RunID
	const alike = "disk sda# is full"
	for _, r := range list(t, s, f).Runs {
		if logstore.Fingerprint(string(r.Message)) == alike {
			want = append(want, r.RunID)
		}
	}
	f.Statuses, f.Error = nil, alike
	var got []job.RunID
	for _, r := range list(t, s, f).Runs {
		got = append(got, r.RunID)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("runs that failed alike differ (-want +got):\n%s", diff)
	}
	f.Limit = 0
	counts, err := s.Histogram(t.Context(), f, 1)
	if err != nil || counts.All[0][job.StatusFailed] != len(want) || len(counts.All[0]) != 1 {
		t.Errorf("counted %v, %v; want %d failed", counts, err, len(want))
	}
	facets, err := s.Facets(t.Context(), logstore.FacetFilter{RunFilter: f, By: []runlog.Dimension{runlog.ByStatus}})
	if err != nil || len(facets[runlog.ByStatus]) != 1 || facets[runlog.ByStatus][0].Count != len(want) {
		t.Errorf("facets are %v, %v; want %d failed", facets, err, len(want))
	}
}

// reportTimes compares reports that tell some times with what they are of those that tell
// all.
func reportTimes(t *testing.T, s logstore.Store, day time.Time) {
	t.Helper()
	f := logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), By: []runlog.Dimension{runlog.ByJob}, Order: runlog.OrderRatio, Total: true}
	all := reportOf(t, s, f)
	spreads := func(r *runlog.ReportRow) []*runlog.Spread {
		return []*runlog.Spread{&r.Duration, &r.Committed, &r.Delivered, &r.Started, &r.Finished}
	}
	want := func(times []runlog.Timing, told ...int) {
		t.Helper()
		want := logstore.Report{From: all.From, To: all.To, Rows: slices.Clone(all.Rows), Total: all.Total}
		for _, r := range append([]*runlog.ReportRow{&want.Total}, pointers(want.Rows)...) {
			for i, spread := range spreads(r) {
				if !slices.Contains(told, i) {
					*spread = runlog.Spread{}
				}
			}
		}
		f.Times = times
		if diff := cmp.Diff(want, reportOf(t, s, f)); diff != "" {
			t.Errorf("the report that tells %v differs from one that tells all (-want +got):\n%s", times, diff)
		}
	}
	for i, timing := range runlog.Timings {
		want([]runlog.Timing{timing}, i)
	}
	want([]runlog.Timing{runlog.TimeStarted, runlog.TimeDuration}, 0, 3)
	want([]runlog.Timing{runlog.TimeNone})
	for _, wrong := range [][]runlog.Timing{{"sometimes"}, {runlog.TimeNone, runlog.TimeStarted}} {
		f.Times = wrong
		_, err := s.Report(t.Context(), f)
		wantInvalid(t, err, "times")
	}
}

func pointers(rows []runlog.ReportRow) []*runlog.ReportRow {
	all := make([]*runlog.ReportRow, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	return all
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
