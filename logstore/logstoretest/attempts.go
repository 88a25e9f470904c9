package logstoretest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// record is a line of a record, made a while after the fire.
func (r run) record(status job.Status, after time.Duration, reason string) logstore.Update {
	u := r.update(runlog.KindRecorded, after)
	u.Status, u.Reason = status, reason
	return u
}

// inAnyOrder writes updates in each order, of a run of its own each time, first one
// after the other and then once more; and in one write. It checks each run, but of those
// written once more, whose lists must be as they were, each seventh. It returns how many
// orders there are.
func inAnyOrder(t *testing.T, s logstore.Store, updates func(run) []logstore.Update, check func(*testing.T, run)) int {
	t.Helper()
	r := newRun().at(epoch.Add(time.Hour))
	var orders [][]int
	permute(len(updates(r)), func(order []int) { orders = append(orders, slices.Clone(order)) })
	w := &writes{store: s}
	ordered := func() (runs []run, told [][]logstore.Update) {
		for _, order := range orders {
			r = r.at(r.fire.Add(time.Minute))
			all := updates(r)
			inOrder := make([]logstore.Update, len(all))
			for i, n := range order {
				inOrder[i] = all[n]
			}
			runs, told = append(runs, r), append(told, inOrder)
		}
		return runs, told
	}
	checkEach := func(runs []run, step int) {
		t.Helper()
		for i := 0; i < len(runs); i += step {
			if check(t, runs[i]); t.Failed() {
				t.Fatalf("it was in order %v", orders[i])
			}
		}
	}

	runs, told := ordered()
	for step := range told[0] {
		var batch []logstore.Update
		for i := range told {
			batch = append(batch, told[i][step])
		}
		w.runs(t, batch...)
	}
	checkEach(runs, 1)
	all := logstore.RunFilter{AllAttempts: true, Limit: logstore.MaxRuns}
	before := list(t, s, all)
	w.runs(t, slices.Concat(told...)...)
	if diff := cmp.Diff(before, list(t, s, all)); diff != "" {
		t.Fatalf("what was written once more changes the list (-before +after):\n%s", diff)
	}
	checkEach(runs, 7)
	runs, told = ordered()
	w.runs(t, slices.Concat(told...)...)
	checkEach(runs, 1)
	return len(orders)
}

func wantCounts(t *testing.T, s logstore.Store, filter logstore.RunFilter, want map[job.Status]int) {
	t.Helper()
	got, err := s.Counts(t.Context(), filter)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts of %+v differ (-want +got):\n%s", filter, diff)
	}
}

func triedAgain(t *testing.T, s logstore.Store) {
	r := newRun()
	failed := r.finished(job.StatusFailed, "worker-1", 2*time.Second)
	failed.Retry = true
	write(t, s, r.recorded(job.StatusPending), failed)
	want := r.row(job.StatusFailed)
	want.Instance, want.Delivery, want.StartedAt, want.FinishedAt, want.Retrying = "worker-1", 1, epoch.Add(ms(10)), epoch.Add(2*time.Second), true
	wantRun(t, s, want)
	if got := want.RunStatus(); got != job.StatusQueued {
		t.Errorf("such a run is %s; want queued", got)
	}
	wantCounts(t, s, logstore.RunFilter{}, map[job.Status]int{job.StatusQueued: 1})
	wantCounts(t, s, logstore.RunFilter{AllAttempts: true}, map[job.Status]int{job.StatusFailed: 1})
	if got := list(t, s, logstore.RunFilter{Statuses: []job.Status{job.StatusFailed}}).Runs; len(got) != 0 {
		t.Errorf("it is listed as failed: %+v", got)
	}
	got := list(t, s, logstore.RunFilter{Statuses: []job.Status{job.StatusQueued}}).Runs
	if diff := cmp.Diff([]runlog.Run{want}, got); diff != "" {
		t.Errorf("the list of what waits differs (-want +got):\n%s", diff)
	}

	write(t, s, r.try(2).record(job.StatusQueued, 2100*time.Millisecond, "attempt 1 failed; the next is due 10s later"))
	want.Retrying = false
	second := r.try(2).row(job.StatusQueued)
	second.QueuedAt, second.CommittedAt, second.Reason = epoch.Add(2100*time.Millisecond), time.Time{}, "attempt 1 failed; the next is due 10s later"
	wantRun(t, s, second, want)
	wantCounts(t, s, logstore.RunFilter{}, map[job.Status]int{job.StatusQueued: 1})
	second.FirstDecidedAt, second.FirstStartedAt = want.CommittedAt, want.StartedAt
	last, err := s.LastRuns(t.Context(), []job.Name{report}, 5)
	if diff := cmp.Diff([]runlog.Run{second}, last[report]); diff != "" || err != nil {
		t.Errorf("the last runs differ, with %v (-want +got):\n%s", err, diff)
	}
	if got := list(t, s, logstore.RunFilter{MinAttempt: 2}).Runs; len(got) != 1 || got[0].Attempt != 2 {
		t.Errorf("tried again were %+v; want the second attempt", got)
	}
	if got := list(t, s, logstore.RunFilter{MinAttempt: 3}).Runs; len(got) != 0 {
		t.Errorf("tried twice more were %+v", got)
	}
}

// beganWithTheFirstAttempt has a run of three attempts, of which the first never began.
func beganWithTheFirstAttempt(t *testing.T, s logstore.Store) {
	r := newRun()
	lost := r.record(job.StatusLost, time.Second, "its executor vanished")
	write(t, s, r.recorded(job.StatusPending), lost)
	tries := []runlog.Run{r.row(job.StatusLost)}
	tries[0].FinishedAt, tries[0].Reason = epoch.Add(time.Second), "its executor vanished"
	for attempt := 2; attempt <= 3; attempt++ {
		began := time.Duration(attempt) * 10 * time.Second
		pending := r.try(attempt).record(job.StatusPending, began, "")
		end := r.try(attempt).finished(job.StatusFailed, "worker-1", began+2*time.Second)
		end.CommittedAt, end.StartedAt = epoch.Add(began), epoch.Add(began+time.Second)
		write(t, s, end, pending)
		row := r.try(attempt).row(job.StatusFailed)
		row.CommittedAt, row.StartedAt, row.FinishedAt, row.Instance, row.Delivery = end.CommittedAt, end.StartedAt, end.FinishedAt, "worker-1", 1
		tries = append(tries, row)
	}
	wantRun(t, s, tries[2], tries[1], tries[0]) // each attempt has its own instants

	run := tries[2]
	run.FirstDecidedAt, run.FirstStartedAt = epoch.Add(ms(5)), epoch.Add(21*time.Second)
	inRange := logstore.RunFilter{From: epoch, To: epoch.Add(time.Hour)}
	sorted := inRange
	sorted.Sort.By = logstore.SortDelay
	for _, f := range []logstore.RunFilter{inRange, sorted} {
		if diff := cmp.Diff([]runlog.Run{run}, list(t, s, f).Runs); diff != "" {
			t.Errorf("the list in order %+v differs (-want +got):\n%s", f.Sort, diff)
		}
	}
	last, err := s.LastRuns(t.Context(), []job.Name{report}, 5)
	if diff := cmp.Diff([]runlog.Run{run}, last[report]); diff != "" || err != nil {
		t.Errorf("the last runs differ, with %v (-want +got):\n%s", err, diff)
	}
	inRange.AllAttempts = true
	if diff := cmp.Diff([]runlog.Run{tries[2], tries[1], tries[0]}, list(t, s, inRange).Runs); diff != "" {
		t.Errorf("the list of attempts differs (-want +got):\n%s", diff)
	}
}

func pagesOfRuns(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	var updates []logstore.Update
	for i := range 300 {
		r := newRun().of(job.Name(fmt.Sprintf("billing/job-%d", i%10))).at(epoch.Add(time.Duration(i/10) * time.Second))
		for attempt := range 1 + i%3 {
			updates = append(updates, r.try(attempt+1).started("worker-1", 1, ms(10)))
		}
	}
	w.runs(t, updates...)
	got := walk(t, s, logstore.RunFilter{Limit: 70}, nil)
	wantNewestFirst(t, got)
	if len(got) != 300 {
		t.Errorf("pages hold %d runs; want each of 300 once", len(got))
	}
	again := walk(t, s, logstore.RunFilter{Limit: 70, MinAttempt: 3, Jobs: []job.Name{"billing/job-2", "billing/job-5"}}, nil)
	if len(again) != 20 {
		t.Errorf("pages hold %d runs of two jobs that had three attempts; want 20", len(again))
	}
}

func attemptsInAnyOrder(t *testing.T, s logstore.Store) {
	seen := 0
	orders := inAnyOrder(t, s, func(r run) []logstore.Update {
		failed := r.finished(job.StatusFailed, "worker-1", 2*time.Second)
		failed.Retry = true
		done := r.try(2).finished(job.StatusSucceeded, "worker-2", 20*time.Second)
		done.CommittedAt, done.StartedAt = r.fire.Add(12*time.Second), r.fire.Add(13*time.Second)
		return []logstore.Update{
			r.recorded(job.StatusPending), failed,
			r.try(2).record(job.StatusQueued, 3*time.Second, "attempt 1 failed; the next is due 10s later"),
			r.try(2).record(job.StatusPending, 12*time.Second, ""), done,
		}
	}, func(t *testing.T, r run) {
		t.Helper()
		first, second := r.row(job.StatusFailed), r.try(2).row(job.StatusSucceeded)
		first.Instance, first.Delivery, first.StartedAt, first.FinishedAt = "worker-1", 1, r.fire.Add(ms(10)), r.fire.Add(2*time.Second)
		second.Instance, second.Delivery, second.StartedAt, second.FinishedAt = "worker-2", 1, r.fire.Add(13*time.Second), r.fire.Add(20*time.Second)
		second.QueuedAt, second.CommittedAt, second.Reason = r.fire.Add(3*time.Second), r.fire.Add(12*time.Second), "attempt 1 failed; the next is due 10s later"
		wantRun(t, s, second, first)
		wantTimeline(t, s, r,
			"1: +5ms recorded pending",
			"1: +10ms started running worker-1/1",
			"1: +2s finished failed worker-1/1",
			"2: +3s recorded queued: attempt 1 failed; the next is due 10s later",
			"2: +12s recorded pending",
			"2: +13s started running worker-2/1",
			"2: +20s finished succeeded worker-2/1",
		)
		if got := list(t, s, logstore.RunFilter{From: r.fire, To: r.fire.Add(1)}).Runs; len(got) != 1 || got[0].Attempt != 2 {
			t.Errorf("the list has %+v; want the second attempt", got)
		}
		seen++
	})
	if seen < 2*orders {
		t.Errorf("%d runs were looked at, in %d orders", seen, orders)
	}
	wantCounts(t, s, logstore.RunFilter{}, map[job.Status]int{job.StatusSucceeded: 2 * orders})
	wantCounts(t, s, logstore.RunFilter{AllAttempts: true}, map[job.Status]int{job.StatusSucceeded: 2 * orders, job.StatusFailed: 2 * orders})
}

func noFurtherAttempt(t *testing.T, s logstore.Store) {
	inAnyOrder(t, s, func(r run) []logstore.Update {
		failed := r.finished(job.StatusFailed, "worker-1", 2*time.Second)
		failed.Retry, failed.Message = true, "disk full"
		return []logstore.Update{r.recorded(job.StatusPending), failed, r.record(job.StatusFailed, 3*time.Second, "there is no further attempt")}
	}, func(t *testing.T, r run) {
		t.Helper()
		want := r.row(job.StatusFailed)
		want.Instance, want.Delivery, want.StartedAt, want.FinishedAt = "worker-1", 1, r.fire.Add(ms(10)), r.fire.Add(2*time.Second)
		want.Message, want.Reason = "disk full", "there is no further attempt"
		wantRun(t, s, want)
		wantTimeline(t, s, r,
			"1: +5ms recorded pending",
			"1: +10ms started running worker-1/1",
			"1: +2s finished failed worker-1/1: disk full",
			"1: +3s recorded failed: there is no further attempt",
		)
	})
	wantCounts(t, s, logstore.RunFilter{}, map[job.Status]int{job.StatusFailed: 12})
}

func recordCountsFirst(t *testing.T, s logstore.Store) {
	orders := inAnyOrder(t, s, func(r run) []logstore.Update {
		return []logstore.Update{
			r.recorded(job.StatusPending), r.started("worker-1", 1, ms(10)),
			r.record(job.StatusLost, 20*time.Second, "its executor vanished"),
			r.finished(job.StatusSucceeded, "worker-1", 30*time.Second),
		}
	}, func(t *testing.T, r run) {
		t.Helper()
		want := r.row(job.StatusLost)
		want.Instance, want.Delivery, want.StartedAt, want.FinishedAt = "worker-1", 1, r.fire.Add(ms(10)), r.fire.Add(20*time.Second)
		want.Reason = "its executor vanished"
		wantRun(t, s, want)
		wantTimeline(t, s, r,
			"1: +5ms recorded pending",
			"1: +10ms started running worker-1/1",
			"1: +20s recorded lost: its executor vanished",
			"1: +30s late succeeded worker-1/1",
		)
	})
	wantCounts(t, s, logstore.RunFilter{}, map[job.Status]int{job.StatusLost: 2 * orders})
}

func endsInTheQueue(t *testing.T, s logstore.Store) {
	inAnyOrder(t, s, func(r run) []logstore.Update {
		asked := r.record(job.StatusQueued, ms(5), "it waits for 1 earlier run")
		asked.By = "ann"
		return []logstore.Update{asked, r.record(job.StatusCancelled, time.Minute, "called off")}
	}, func(t *testing.T, r run) {
		t.Helper()
		want := r.row(job.StatusCancelled)
		want.QueuedAt = r.fire.Add(ms(5))
		want.CommittedAt, want.FinishedAt, want.Reason, want.By = r.fire.Add(time.Minute), r.fire.Add(time.Minute), "called off", "ann"
		wantRun(t, s, want)
		wantTimeline(t, s, r, "1: +5ms recorded queued: it waits for 1 earlier run", "1: +1m0s recorded cancelled: called off")
	})
}

func queuedFirst(t *testing.T, s logstore.Store) {
	inAnyOrder(t, s, func(r run) []logstore.Update {
		return []logstore.Update{
			r.record(job.StatusQueued, ms(5), ""), r.record(job.StatusPending, time.Minute, "noticed 20s late"), r.record(job.StatusCancelled, time.Hour, ""),
		}
	}, func(t *testing.T, r run) {
		t.Helper()
		want := r.row(job.StatusCancelled)
		want.QueuedAt = r.fire.Add(ms(5))
		want.CommittedAt, want.FinishedAt, want.Reason = r.fire.Add(time.Minute), r.fire.Add(time.Hour), "noticed 20s late"
		wantRun(t, s, want)
		wantTimeline(t, s, r, "1: +5ms recorded queued", "1: +1m0s recorded pending: noticed 20s late", "1: +1h0m0s recorded cancelled")
	})
}

func missedByItsExecutor(t *testing.T, s logstore.Store) {
	r := newRun()
	end := r.finished(job.StatusMissed, "worker-1", time.Minute)
	end.StartedAt, end.Message = time.Time{}, "was to begin by then"
	write(t, s, end, r.recorded(job.StatusPending))
	want := r.row(job.StatusMissed)
	want.Instance, want.Delivery, want.FinishedAt, want.Message = "worker-1", 1, epoch.Add(time.Minute), "was to begin by then"
	wantRun(t, s, want)
	wantTimeline(t, s, r, "1: +5ms recorded pending", "1: +1m0s finished missed worker-1/1: was to begin by then")
}

func parents(t *testing.T, s logstore.Store) {
	parent := newRun()
	write(t, s, parent.recorded(job.StatusPending))
	var want []job.RunID
	for i, name := range []job.Name{"billing/a", "billing/b", "other/c"} {
		child := newRun().of(name).at(epoch.Add(time.Duration(i) * time.Minute))
		u := child.recorded(job.StatusPending)
		u.Cause, u.Parent = job.CauseParent, parent.id()
		write(t, s, child.finished(job.StatusSucceeded, "worker-1", time.Second), u, u)
		want = append(want, child.id())
		if got := getRun(t, s, child.id())[0]; got.Parent != parent.id() {
			t.Errorf("the parent of %s is %q; want %q", name, got.Parent, parent.id())
		}
	}
	slices.Reverse(want)
	var got []job.RunID
	for _, r := range list(t, s, logstore.RunFilter{Parent: parent.id()}).Runs {
		got = append(got, r.RunID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("children differ (-want +got):\n%s", diff)
	}
	if got := list(t, s, logstore.RunFilter{Parent: parent.id(), Group: "other", MinAttempt: 1}).Runs; len(got) != 1 || got[0].Job != "other/c" {
		t.Errorf("children of a group are %+v; want the one of other/c", got)
	}
	if got := list(t, s, logstore.RunFilter{Parent: parent.id(), MinAttempt: 2}).Runs; len(got) != 0 {
		t.Errorf("children that were tried again are %+v", got)
	}
	wantCounts(t, s, logstore.RunFilter{Parent: parent.id()}, map[job.Status]int{job.StatusSucceeded: 3})
	if got := list(t, s, logstore.RunFilter{Parent: want[0]}).Runs; len(got) != 0 {
		t.Errorf("a run without children has %+v", got)
	}
}
