package logstoretest

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// walk reads all pages of a filter.
func walk(t *testing.T, s logstore.Store, f logstore.RunFilter, each func(page int)) []runlog.Run {
	t.Helper()
	var all []runlog.Run
	for n := 0; ; n++ {
		page := list(t, s, f)
		all = append(all, page.Runs...)
		if page.Next == "" {
			return all
		}
		if len(page.Runs) != f.Limit {
			t.Fatalf("page %d has %d runs, and is not the last; want %d", n, len(page.Runs), f.Limit)
		}
		f.Cursor = page.Next
		if each != nil {
			each(n)
		}
	}
}

func wantNewestFirst(t *testing.T, runs []runlog.Run) {
	t.Helper()
	for i := 1; i < len(runs); i++ {
		a, b := runs[i-1], runs[i]
		if a.RunID < b.RunID || a.RunID == b.RunID && a.Attempt <= b.Attempt || a.FireTime.Before(b.FireTime) {
			t.Fatalf("run %s/%d of %v comes before %s/%d of %v", a.RunID, a.Attempt, a.FireTime, b.RunID, b.Attempt, b.FireTime)
		}
	}
}

// pagesOfAnInstant has more jobs that fire at midnight than a page shows, and a few
// before and after it.
func pagesOfAnInstant(t *testing.T, s logstore.Store) {
	const atOnce = 700
	w := &writes{store: s}
	var early, updates []logstore.Update
	fires := func(after time.Duration, jobs int) {
		for i := range jobs {
			r := newRun().of(job.Name(fmt.Sprintf("billing/job-%d", i))).at(epoch.Add(after))
			updates = append(updates, r.finished(job.StatusSucceeded, "worker-1", time.Second))
			if i%5 == 0 { // of which ClickHouse then has rows that cancel out
				early = append(early, r.recorded(job.StatusPending))
			}
		}
	}
	fires(-time.Second, 7)
	fires(0, atOnce)
	fires(time.Second, 3)
	w.runs(t, early...)
	w.runs(t, updates...)
	for _, limit := range []int{10, 50, 300} {
		got := walk(t, s, logstore.RunFilter{Limit: limit}, nil)
		if len(got) != 7+atOnce+3 {
			t.Errorf("pages of %d hold %d runs; want %d", limit, len(got), 7+atOnce+3)
		}
		wantNewestFirst(t, got)
	}
	page := list(t, s, logstore.RunFilter{Limit: 4})
	if len(page.Runs) != 4 || !page.Runs[2].FireTime.After(epoch) || !page.Runs[3].FireTime.Equal(epoch) {
		t.Errorf("the first page is not the three newest runs and one of midnight: %v", page.Runs)
	}
}

func pagesAtDepth(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	const runs = 3000
	var updates []logstore.Update
	ofTwoJobs := 0
	for i := range runs {
		// Ten jobs fire at each instant; one run in seven has a second attempt.
		r := newRun().of(job.Name(fmt.Sprintf("billing/job-%d", i%10))).at(epoch.Add(time.Duration(i/10) * time.Second))
		updates = append(updates, r.recorded(job.StatusPending))
		if i%7 == 0 {
			updates = append(updates, r.try(2).started("worker-1", 1, ms(10)))
		}
	}
	for _, u := range updates {
		if u.Job == "billing/job-3" || u.Job == "billing/job-4" {
			ofTwoJobs++
		}
	}
	w.runs(t, updates...)
	for _, limit := range []int{1, 70, 1000} {
		filter := logstore.RunFilter{Limit: limit, AllAttempts: true}
		if limit == 1 {
			filter.To = epoch.Add(3 * time.Second)
		}
		got := walk(t, s, filter, nil)
		want := len(updates)
		if limit == 1 {
			want = 30 + 5
		}
		if len(got) != want {
			t.Errorf("pages of %d hold %d runs; want %d", limit, len(got), want)
		}
		wantNewestFirst(t, got)
	}
	got := walk(t, s, logstore.RunFilter{Jobs: []job.Name{"billing/job-3", "billing/job-4"}, Limit: 60, AllAttempts: true}, nil)
	if len(got) != ofTwoJobs {
		t.Errorf("pages of two jobs hold %d runs; want %d", len(got), ofTwoJobs)
	}
	wantNewestFirst(t, got)
}

func pagesWhileWriting(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	fire := func(minute int) logstore.Update {
		return newRun().at(epoch.Add(time.Duration(minute) * time.Minute)).recorded(job.StatusPending)
	}
	var first []logstore.Update
	for minute := range 30 {
		first = append(first, fire(minute))
	}
	w.runs(t, first...)
	got := walk(t, s, logstore.RunFilter{Limit: 10}, func(page int) { w.runs(t, fire(30+page)) })
	if len(got) != 30 {
		t.Errorf("pages hold %d runs; want the 30 that were there at first", len(got))
	}
	wantNewestFirst(t, got)
}

func filters(t *testing.T, s logstore.Store) {
	day := newRun().of("billing/day")
	write(t, s, day.at(epoch).finished(job.StatusSucceeded, "worker-1", ms(20)))
	write(t, s, day.at(epoch.Add(time.Hour)).finished(job.StatusFailed, "worker-2", ms(20)))
	write(t, s, day.ofVersion(4).at(epoch.Add(2*time.Hour)).recorded(job.StatusPending))
	manual := day.at(epoch.Add(3*time.Hour)).finished(job.StatusFailed, "worker-1", ms(20))
	manual.Cause = job.CauseManual
	write(t, s, manual)
	write(t, s, newRun().of("billing/week").at(epoch.Add(4*time.Hour)).recorded(job.StatusMissed))
	write(t, s, newRun().of("bill/day").at(epoch.Add(5*time.Hour)).started("worker-3", 1, ms(20)))

	want := func(filter logstore.RunFilter, hours ...int) {
		t.Helper()
		got := []int{}
		for _, r := range list(t, s, filter).Runs {
			got = append(got, int(r.FireTime.Sub(epoch).Hours()))
		}
		if diff := cmp.Diff(append([]int{}, hours...), got); diff != "" {
			t.Errorf("filter %+v differs (-want +got):\n%s", filter, diff)
		}
	}
	want(logstore.RunFilter{}, 5, 4, 3, 2, 1, 0)
	want(logstore.RunFilter{Jobs: []job.Name{"billing/day"}}, 3, 2, 1, 0)
	want(logstore.RunFilter{Jobs: []job.Name{"billing/week", "bill/day", "billing/week"}}, 5, 4)
	want(logstore.RunFilter{Jobs: []job.Name{"billing/unknown"}})
	want(logstore.RunFilter{Group: "billing"}, 4, 3, 2, 1, 0)
	want(logstore.RunFilter{Group: "bill"}, 5)
	want(logstore.RunFilter{Group: "unknown"})
	want(logstore.RunFilter{Groups: []string{"bill", "unknown"}}, 5)
	want(logstore.RunFilter{Groups: []string{"bill", "billing"}}, 5, 4, 3, 2, 1, 0)
	want(logstore.RunFilter{Groups: []string{"bill", "billing"}, Group: "billing"}, 4, 3, 2, 1, 0)
	want(logstore.RunFilter{Groups: []string{"bill"}, Group: "billing"})
	want(logstore.RunFilter{Groups: []string{"bill"}, Jobs: []job.Name{"billing/day", "bill/day"}}, 5)
	want(logstore.RunFilter{Groups: []string{"billi*"}}, 4, 3, 2, 1, 0)
	want(logstore.RunFilter{Groups: []string{"billi*", "bill"}}, 5, 4, 3, 2, 1, 0)
	want(logstore.RunFilter{Groups: []string{"bill*"}, Group: "bill"}, 5)
	want(logstore.RunFilter{Groups: []string{"b_l*"}})
	want(logstore.RunFilter{Groups: []string{}})
	want(logstore.RunFilter{Group: "bill", Jobs: []job.Name{"billing/day"}})
	want(logstore.RunFilter{Statuses: []job.Status{job.StatusFailed}}, 3, 1)
	want(logstore.RunFilter{Statuses: []job.Status{job.StatusSucceeded}}, 0)
	want(logstore.RunFilter{Statuses: []job.Status{job.StatusSucceeded, job.StatusMissed}}, 4, 0)
	want(logstore.RunFilter{Statuses: []job.Status{job.StatusPending, job.StatusRunning, job.StatusFailed}}, 5, 3, 2, 1)
	want(logstore.RunFilter{Statuses: []job.Status{job.StatusFailed}, Jobs: []job.Name{"billing/day"}, Instance: "worker-1"}, 3)
	want(logstore.RunFilter{Causes: []job.Cause{job.CauseManual}}, 3)
	want(logstore.RunFilter{Causes: []job.Cause{job.CauseManual, job.CauseSchedule}, Version: 4}, 2)
	want(logstore.RunFilter{Instance: "worker-1"}, 3, 0)
	want(logstore.RunFilter{Version: 4}, 2)
	want(logstore.RunFilter{From: epoch.Add(time.Hour), To: epoch.Add(3 * time.Hour)}, 2, 1)
	want(logstore.RunFilter{From: epoch.Add(time.Hour + 1)}, 5, 4, 3, 2)
	want(logstore.RunFilter{To: epoch})
	want(logstore.RunFilter{Jobs: []job.Name{"billing/day"}, From: epoch.Add(2 * time.Hour)}, 3, 2)
	want(logstore.RunFilter{Limit: 2}, 5, 4)
}

func counts(t *testing.T, s logstore.Store) {
	missed := newRun().recorded(job.StatusMissed)
	missed.Count, missed.Until = 12, epoch.Add(11*time.Minute)
	write(t, s, missed)
	hour := func(n int) run { return newRun().at(epoch.Add(time.Duration(n) * time.Hour)) }
	write(t, s, hour(1).finished(job.StatusSucceeded, "worker-1", ms(20)), hour(2).finished(job.StatusSucceeded, "worker-1", ms(20)))
	write(t, s, hour(3).of("bill/day").finished(job.StatusFailed, "worker-1", ms(20)), hour(4).recorded(job.StatusPending))
	want := func(filter logstore.RunFilter, want map[job.Status]int) {
		t.Helper()
		got, err := s.Counts(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("counts of %+v differ (-want +got):\n%s", filter, diff)
		}
	}
	want(logstore.RunFilter{}, map[job.Status]int{job.StatusMissed: 12, job.StatusSucceeded: 2, job.StatusFailed: 1, job.StatusPending: 1})
	want(logstore.RunFilter{Limit: 1}, map[job.Status]int{job.StatusMissed: 12, job.StatusSucceeded: 2, job.StatusFailed: 1, job.StatusPending: 1})
	want(logstore.RunFilter{Group: "billing", From: epoch.Add(2 * time.Hour)}, map[job.Status]int{job.StatusSucceeded: 1, job.StatusPending: 1})
	want(logstore.RunFilter{Statuses: []job.Status{job.StatusFailed, job.StatusMissed}}, map[job.Status]int{job.StatusMissed: 12, job.StatusFailed: 1})
	want(logstore.RunFilter{Jobs: []job.Name{"billing/unknown"}}, map[job.Status]int{})
}

func lastRuns(t *testing.T, s logstore.Store) {
	var updates []logstore.Update
	for i := range 30 {
		r := newRun().at(epoch.Add(time.Duration(i) * time.Minute))
		updates = append(updates, r.recorded(job.StatusPending))
		if i < 3 {
			updates = append(updates, r.of("billing/rare").finished(job.StatusSucceeded, "worker-1", ms(20)))
		}
	}
	updates = append(updates, newRun().at(time.Now().Add(time.Hour)).recorded(job.StatusQueued)) // which waits for a later time
	writeInTwo(t, s, updates...)
	last, err := s.LastRuns(t.Context(), []job.Name{report, "billing/rare", "billing/never"}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if len(last) != 2 || len(last[report]) != 5 || len(last["billing/rare"]) != 3 {
		t.Fatalf("there are %d jobs, with %d and %d runs; want 2, 5 and 3", len(last), len(last[report]), len(last["billing/rare"]))
	}
	for name, runs := range last {
		wantNewestFirst(t, runs)
		if runs[0].Job != name {
			t.Errorf("a run of %s is listed for %s", runs[0].Job, name)
		}
	}
	if got := last[report][0].FireTime; !got.Equal(epoch.Add(29 * time.Minute)) {
		t.Errorf("the newest is of %v", got)
	}
	_, err = s.LastRuns(t.Context(), []job.Name{report}, 0)
	wantInvalid(t, err, "n")
	_, err = s.LastRuns(t.Context(), []job.Name{report}, logstore.MaxLastRuns+1)
	wantInvalid(t, err, "n")
}

func standings(t *testing.T, s logstore.Store) {
	const rare, never job.Name = "billing/rare", "billing/never"
	check := func(when string, of, ofRare logstore.Standing) {
		t.Helper()
		want := map[job.Name]logstore.Standing{report: of, rare: ofRare}
		maps.DeleteFunc(want, func(_ job.Name, s logstore.Standing) bool { return s.Status == "" })
		got, err := s.Standings(t.Context(), []job.Name{report, rare, never})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s, with %v (-want +got):\n%s", when, err, diff)
		}
	}
	began := func(r run) time.Time { return r.finished(job.StatusFailed, "worker-1", ms(20)).StartedAt }
	check("of nothing", logstore.Standing{}, logstore.Standing{})
	old, newer := newRun(), newRun().at(epoch.Add(time.Hour))
	lost := logstore.Standing{Status: job.StatusLost, StartedAt: began(old), Streak: 1}
	write(t, s, old.finished(job.StatusSucceeded, "worker-1", ms(20)), old.of(rare).finished(job.StatusLost, "worker-1", ms(20)))
	check("after the first runs", logstore.Standing{Status: job.StatusSucceeded, StartedAt: began(old)}, lost)
	write(t, s, newer.recorded(job.StatusPending))
	check("of a run that waits", logstore.Standing{Status: job.StatusPending}, lost)
	write(t, s, newer.try(2).finished(job.StatusFailed, "worker-1", ms(20)))
	check("of a second attempt", logstore.Standing{Status: job.StatusFailed, StartedAt: began(newer.try(2)), Streak: 1}, lost)
	write(t, s, newRun().at(epoch.Add(-time.Hour)).finished(job.StatusSucceeded, "worker-1", ms(20)))
	check("after news of an older run", logstore.Standing{Status: job.StatusFailed, StartedAt: began(newer.try(2)), Streak: 1}, lost)
	newest := newRun().at(epoch.Add(2 * time.Hour))
	write(t, s, newRun().at(epoch.Add(90*time.Minute)).recorded(job.StatusSkipped), newest.finished(job.StatusTimedOut, "worker-1", ms(20)))
	check("of a second failure", logstore.Standing{Status: job.StatusTimedOut, StartedAt: began(newest), Streak: 2}, lost)
}

func waitingRuns(t *testing.T, s logstore.Store) {
	check := func(when string, want map[string]logstore.Waiting) {
		t.Helper()
		got, err := s.Waiting(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s, with %v (-want +got):\n%s", when, err, diff)
		}
	}
	check("of nothing", map[string]logstore.Waiting{})
	old, newer := newRun(), newRun().at(epoch.Add(time.Hour))
	other, done := newRun().of("ops/check").at(epoch.Add(2*time.Hour)), newRun().of("billing/week")
	write(t, s, newer.recorded(job.StatusPending), old.recorded(job.StatusPending), other.recorded(job.StatusPending),
		done.recorded(job.StatusPending), done.finished(job.StatusSucceeded, "worker-1", ms(20)),
		newRun().of("billing/late").recorded(job.StatusQueued))
	check("before any starts", map[string]logstore.Waiting{
		"billing": {Runs: 2, Since: old.row("").CommittedAt}, "ops": {Runs: 1, Since: other.row("").CommittedAt},
	})
	write(t, s, old.started("worker-1", 1, ms(10)), other.finished(job.StatusFailed, "worker-1", ms(20)), old.recorded(job.StatusPending))
	check("after two have started", map[string]logstore.Waiting{"billing": {Runs: 1, Since: newer.row("").CommittedAt}})
	again := other.try(2).recorded(job.StatusPending)
	again.At = other.fire.Add(time.Hour)
	again.CommittedAt = again.At
	write(t, s, again)
	check("before a second attempt", map[string]logstore.Waiting{
		"billing": {Runs: 1, Since: newer.row("").CommittedAt}, "ops": {Runs: 1, Since: again.CommittedAt},
	})
}

func invalidFilters(t *testing.T, s logstore.Store) {
	refuse := func(field string, filter logstore.RunFilter) {
		t.Helper()
		_, err := s.Runs(t.Context(), filter)
		wantInvalid(t, err, field)
	}
	refuse("job", logstore.RunFilter{Jobs: []job.Name{"x' OR 1=1"}})
	refuse("group", logstore.RunFilter{Group: "A B"})
	refuse("status", logstore.RunFilter{Statuses: []job.Status{"dead"}})
	refuse("cause", logstore.RunFilter{Causes: []job.Cause{"whim"}})
	refuse("to", logstore.RunFilter{From: epoch, To: epoch.Add(-1)})
	refuse("limit", logstore.RunFilter{Limit: -1})
	refuse("limit", logstore.RunFilter{Limit: logstore.MaxRuns + 1})
	refuse("version", logstore.RunFilter{Version: -1})
	refuse("min_attempt", logstore.RunFilter{MinAttempt: -1})
	refuse("parent", logstore.RunFilter{Parent: "1234"})
	refuse("cursor", logstore.RunFilter{Cursor: "next"})
	day := logstore.RunFilter{From: epoch, To: epoch.Add(logstore.Day)}
	sorted := func(by logstore.SortKey, change func(*logstore.RunFilter)) logstore.RunFilter {
		f := day
		f.Sort.By = by
		change(&f)
		return f
	}
	refuse("sort", sorted("colour", func(*logstore.RunFilter) {}))
	refuse("from", sorted(logstore.SortDuration, func(f *logstore.RunFilter) { f.From = time.Time{} }))
	refuse("to", sorted(logstore.SortDuration, func(f *logstore.RunFilter) { f.To = time.Time{} }))
	refuse("from", sorted(logstore.SortDuration, func(f *logstore.RunFilter) { f.To = f.From.Add(31*logstore.Day + 1) }))
	refuse("cursor", sorted(logstore.SortDuration, func(f *logstore.RunFilter) { f.Cursor = string(newRun().id()) + ".1" }))
	_, err := s.Counts(t.Context(), logstore.RunFilter{Group: "A B"})
	wantInvalid(t, err, "group")
}

func stats(t *testing.T, s logstore.Store) {
	empty, err := s.Stats(t.Context())
	if err != nil || !empty.OldestRun.IsZero() {
		t.Errorf("an empty store has %+v and %v", empty, err)
	}
	write(t, s, newRun().at(epoch.Add(time.Hour)).recorded(job.StatusPending), newRun().recorded(job.StatusPending))
	got, err := s.Stats(t.Context())
	if err != nil || !got.OldestRun.Equal(epoch) || got.Bytes <= 0 {
		t.Errorf("stats are %+v and %v; want the oldest run at %v, and some bytes", got, err, epoch)
	}
}

func sideBySide(t *testing.T, s logstore.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				page, err := s.Runs(ctx, logstore.RunFilter{Limit: 100, Group: "billing"})
				if err != nil && ctx.Err() == nil {
					t.Errorf("read beside writers: %v", err)
					return
				}
				wantNewestFirstIn(t, page.Runs)
			}
		})
	}
	var writers sync.WaitGroup
	for n := range 2 {
		writers.Go(func() {
			for i := range 20 {
				var updates []logstore.Update
				for k := range 50 {
					updates = append(updates, newRun().of(job.Name(fmt.Sprintf("billing/job-%d", k))).at(epoch.Add(time.Duration(i)*time.Second)).recorded(job.StatusPending))
				}
				if err := s.WriteRuns(t.Context(), fmt.Sprintf("TEST:%d-%d", n, i), updates); err != nil {
					t.Errorf("write beside readers: %v", err)
					return
				}
			}
		})
	}
	writers.Wait()
	cancel()
	readers.Wait()
	if got := len(walk(t, s, logstore.RunFilter{Limit: 500}, nil)); got != 1000 {
		t.Errorf("there are %d runs; want 1000", got)
	}
}

// wantNewestFirstIn is wantNewestFirst for goroutines that may not end the test.
func wantNewestFirstIn(t *testing.T, runs []runlog.Run) {
	t.Helper()
	for i := 1; i < len(runs); i++ {
		if runs[i-1].RunID <= runs[i].RunID {
			t.Errorf("run %s comes before %s", runs[i-1].RunID, runs[i].RunID)
			return
		}
	}
}
