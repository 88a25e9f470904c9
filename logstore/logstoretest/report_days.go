package logstoretest

import (
	"fmt"
	"maps"
	"testing"
	"time"
	_ "time/tzdata" // also on a machine without zones

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// changes returns the instants of the year to come at which clocks of a zone are set, or one of
// two days ago where they are not.
func changes(zone *time.Location) (all []time.Time) {
	for at, last := time.Now(), time.Now().Add(366*logstore.Day); ; {
		if _, at = at.In(zone).ZoneBounds(); at.IsZero() || at.After(last) {
			break
		}
		all = append(all, at)
	}
	if len(all) == 0 {
		return []time.Time{reportDay()}
	}
	return all
}

// reportDays compares reports by the days of zones with what calendars of these zones say,
// on the days on which clocks are set too.
func reportDays(t *testing.T, s logstore.Store) {
	lengths := map[int]bool{} // of days, in quarters of an hour
	for i, name := range []string{"UTC", "Asia/Shanghai", "Asia/Kolkata", "Asia/Kathmandu", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		group := fmt.Sprintf("zone-%d", i)
		of := job.Name(group + "/report")
		for _, around := range changes(zone) {
			start := around.UTC().Truncate(logstore.Day).Add(-2 * logstore.Day)
			var ends []logstore.Update
			want := map[string]int{}
			for at := start; at.Before(start.Add(5 * logstore.Day)); at = at.Add(15 * time.Minute) {
				ends = append(ends, newRun().of(of).at(at).finished(job.StatusSucceeded, "worker-1", time.Second))
				want[at.In(zone).Format(time.DateOnly)]++
			}
			(&writes{store: s}).runs(t, ends...)
			compare := func(f logstore.ReportFilter) {
				t.Helper()
				f.From, f.To, f.Step, f.Zone = start, start.Add(5*logstore.Day), runlog.StepDay, zone
				if len(f.Jobs) == 0 {
					f.Group = group
				}
				r := reportOf(t, s, f)
				got := map[string]int{}
				for _, row := range r.Rows {
					got[row.At.In(zone).Format(time.DateOnly)] += row.Runs
					if before := row.At.Add(-time.Second); before.In(zone).Day() == row.At.In(zone).Day() {
						t.Errorf("in %s a day begins at %s", name, row.At.In(zone))
					}
					lengths[row.Runs] = true
				}
				if !maps.Equal(want, got) {
					t.Errorf("in %s the report by %v of %v differs from the calendar (-calendar +report):\n%s", name, f.By, f.Jobs, cmp.Diff(want, got))
				}
				if from, to := r.From.In(zone), r.To.In(zone); from.After(start) || from.Hour() > 1 || to.Before(start.Add(5*logstore.Day)) || to.Hour() > 1 {
					t.Errorf("in %s the report covers %s to %s; want whole days", name, from, to)
				}
			}
			whole := func(f logstore.ReportFilter) {
				t.Helper()
				f.From, f.To, f.Zone = start, start.Add(5*logstore.Day), zone
				runs := 0
				for _, n := range want {
					runs += n
				}
				if r := reportOf(t, s, f); len(r.Rows) != 1 || r.Rows[0].Runs != runs || !r.Rows[0].At.IsZero() {
					t.Errorf("in %s the report of whole days by %v is %+v; want one row of %d runs", name, f.By, r.Rows, runs)
				}
			}
			whole(logstore.ReportFilter{Group: group})
			whole(logstore.ReportFilter{Jobs: []job.Name{of}, By: []runlog.Dimension{runlog.ByJob}, Order: runlog.OrderDuration})
			whole(logstore.ReportFilter{Group: group, By: []runlog.Dimension{runlog.ByJob}, Order: runlog.OrderRatio})
			compare(logstore.ReportFilter{Jobs: []job.Name{of}})
			compare(logstore.ReportFilter{By: []runlog.Dimension{runlog.ByJob}, Jobs: []job.Name{of}, Order: runlog.OrderRatio})
			compare(logstore.ReportFilter{By: []runlog.Dimension{runlog.ByGroup}})
			compare(logstore.ReportFilter{By: []runlog.Dimension{runlog.ByGroup, runlog.ByInstance}})
			if t.Failed() {
				return
			}
		}
	}
	for _, hours := range []int{23, 24, 25} {
		if !lengths[4*hours] {
			t.Errorf("no day has %d hours", hours)
		}
	}
	_, err := s.Report(t.Context(), logstore.ReportFilter{From: epoch, To: epoch.Add(time.Hour), Step: runlog.StepHour, Zone: time.UTC})
	wantInvalid(t, err, "zone")
}
