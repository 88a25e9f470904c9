package logstoretest

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// delaysOfSchedules has a run of each cause, two of which a schedule asked for.
func delaysOfSchedules(t *testing.T, s logstore.Store) {
	day := reportDay()
	w := &writes{store: s}
	for i, cause := range job.CountedCauses {
		after := time.Hour
		if cause.Scheduled() {
			after = ms(10)
		}
		r := newRun().at(day.Add(time.Duration(i) * time.Minute))
		end := delivered(r.finished(job.StatusSucceeded, "worker-1", after+time.Second), after)
		end.Cause, end.CommittedAt, end.StartedAt = cause, r.fire.Add(after), r.fire.Add(after)
		w.runs(t, end)
	}
	check := func() {
		t.Helper()
		for _, by := range [][]runlog.Dimension{{}, {runlog.ByJob}, {runlog.ByGroup, runlog.ByInstance}} {
			row := reportOf(t, s, logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), By: by}).Rows[0]
			if row.Runs != len(job.CountedCauses) || row.Duration.Count != len(job.CountedCauses) {
				t.Errorf("by %v, %d runs are counted, %d with their duration; want %d", by, row.Runs, row.Duration.Count, len(job.CountedCauses))
			}
			for what, spread := range map[string]runlog.Spread{"committed": row.Committed, "delivered": row.Delivered, "started": row.Started, "finished": row.Finished} {
				if spread.Count != len(job.ScheduledCauses) || spread.P99 > 2*time.Second {
					t.Errorf("by %v, the delay until runs were %s is that of %d, at most %s; want those of %v", by, what, spread.Count, spread.P99, job.ScheduledCauses)
				}
			}
		}
	}
	check()
	if err := s.Repair(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	check()
}

// delaysOfQueues has a run that its own job's rule queued for a minute, and one for which it never
// ended. The scheduler decided both at once.
func delaysOfQueues(t *testing.T, s logstore.Store) {
	day := reportDay()
	r := newRun().at(day)
	queued, released := r.record(job.StatusQueued, ms(5), "1 run of the job is before it"), r.record(job.StatusPending, time.Minute, "was queued for 1m0s")
	end := delivered(r.finished(job.StatusSucceeded, "worker-1", time.Minute+2*time.Second), time.Minute+ms(10))
	end.CommittedAt, end.StartedAt = released.At, r.fire.Add(time.Minute+ms(20))
	gone := newRun().of("billing/gone").at(day)
	w := &writes{store: s}
	w.runs(t, queued, gone.record(job.StatusQueued, ms(7), "1 run of the job is before it"))
	w.runs(t, released, end, gone.record(job.StatusMissed, time.Minute, "was queued for longer than start_within"))

	run, other := getRun(t, s, r.id())[0], getRun(t, s, gone.id())[0]
	if !run.QueuedAt.Equal(queued.At) || !run.CommittedAt.Equal(released.At) || !run.DecidedAt().Equal(queued.At) {
		t.Errorf("the run was queued at %s, committed at %s and decided at %s; want %s, %s, %s", run.QueuedAt, run.CommittedAt, run.DecidedAt(), queued.At, released.At, queued.At)
	}
	if !other.DecidedAt().Equal(gone.fire.Add(ms(7))) {
		t.Errorf("the run that was missed in the queue was decided at %s; want 7 ms after its fire time", other.DecidedAt())
	}
	again := newRun().of("billing/again").at(day.Add(24 * time.Hour))
	w.runs(t, again.record(job.StatusQueued, ms(9), "1 run of the job is before it"), again.record(job.StatusLost, time.Minute, "its executor vanished"),
		again.try(2).record(job.StatusQueued, time.Minute, "the next is due"), again.try(2).record(job.StatusPending, 2*time.Minute, ""))
	if got := list(t, s, logstore.RunFilter{Jobs: []job.Name{"billing/again"}}).Runs; len(got) != 1 || got[0].Attempt != 2 || !got[0].RunDecidedAt().Equal(again.fire.Add(ms(9))) {
		t.Errorf("the list has %+v; want the second attempt of a run that was decided after 9 ms", got)
	}
	check := func() {
		t.Helper()
		for _, by := range [][]runlog.Dimension{{}, {runlog.ByJob}, {runlog.ByGroup, runlog.ByInstance}} {
			for _, row := range reportOf(t, s, logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), By: by}).Rows {
				if row.Job != "" && row.Job != report {
					continue
				}
				if row.Committed.Count != 1 || row.Committed.P99 > ms(6) || row.Started.P99 < time.Minute {
					t.Errorf("by %v, %d runs were decided within %s and began within %s; want 1, 5 ms and a minute", by, row.Committed.Count, row.Committed.P99, row.Started.P99)
				}
			}
		}
	}
	check()
	if err := s.Repair(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	check()
}
