package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestACancelledRunStaysCancelledWhateverItsExecutorReports(t *testing.T) {
	reports, watched := map[job.Name]job.Status{}, map[job.Name]bool{}
	for _, status := range []job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusLost, job.StatusCancelled} {
		alone, has := job.Name("g/alone-"+status), job.Name("g/watched-"+status)
		reports[alone], reports[has], watched[has] = status, status, true
	}
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprintf("owner dies %t", dies), func(t *testing.T) {
			run(t, func(w *world) {
				x := &executor{w: w, conn: w.connect("executor"), slots: len(reports), lingers: 5 * time.Second}
				w.executeBy(x, func(tr *bus.Trigger) (time.Duration, job.Status) { return time.Hour, reports[tr.Job] })
				w.startNode("a")
				w.put("g/child", job.Schedule{})
				for name := range reports {
					w.put(name, job.Schedule{}, func(j *job.Job) {
						if watched[name] {
							j.Retry = job.Retry{Limit: 2, Delay: job.Duration(time.Second)}
							j.Children = []job.Child{{Job: "g/child", On: job.OnSuccess}}
						}
					})
				}
				time.Sleep(time.Second)
				ids := map[job.Name]job.RunID{}
				for name := range reports {
					ids[name] = job.NewRunID(time.Now())
					if _, err := w.trigger(ids[name], name); err != nil {
						w.t.Fatal(err)
					}
				}
				time.Sleep(time.Second)
				for name, id := range ids {
					if reply, err := w.cancelOf(name, id); err != nil || reply.Found != job.StatusRunning {
						w.t.Fatalf("%s: reply %+v, %v", name, reply, err)
					}
				}
				if dies {
					w.killNode("a")
					w.startNode("b")
				}
				time.Sleep(2 * time.Minute)
				for name, status := range reports {
					want := []string{"1 pending", "1 cancelled"}
					if status == job.StatusCancelled {
						want = want[:1] // which the executor has reported
					}
					w.wantLines(name, want...)
				}
				w.wantLines("g/child")
				w.records(func(_ *journal.Record, d journal.Decided) {
					want := "cancelled by ann: wrong day; " + reason.Reported.With(reports[d.Job])
					if d.Status == job.StatusCancelled && d.Reason != want {
						w.t.Errorf("%s: reason %q, want %q", d.Job, d.Reason, want)
					}
				})
				w.wantNothingLeft()
			})
		})
	}
}

func TestARunWhoseEndIsStoredIsNotCancelledWhileItsTriggerIsThere(t *testing.T) {
	for _, watched := range []bool{false, true} {
		t.Run(fmt.Sprintf("watched %t", watched), func(t *testing.T) {
			run(t, func(w *world) {
				x := &executor{w: w, conn: w.connect("executor"), answers: 10 * time.Second}
				w.executeBy(x, func(*bus.Trigger) (time.Duration, job.Status) { return time.Second, job.StatusSucceeded })
				w.startNode("a")
				w.put("g/a", job.Schedule{}, func(j *job.Job) {
					if watched {
						j.Overlap.Policy = job.OverlapQueue
					}
				})
				time.Sleep(time.Second)
				id := job.NewRunID(time.Now())
				if _, err := w.trigger(id, "g/a"); err != nil {
					w.t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
				for range 2 {
					if reply, err := w.cancel(id); !errors.Is(err, job.ErrNotFound) || len(w.triggers()) != 1 {
						w.t.Errorf("reply %+v, %v, with %d triggers; want not found: it has ended", reply, err, len(w.triggers()))
					}
				}
				time.Sleep(2 * time.Minute)
				if got, want := w.ends(), []string{"1 succeeded"}; !slices.Equal(got, want) {
					w.t.Errorf("events %q, want %q", got, want)
				}
				w.wantLines("g/a", "1 pending")
				w.wantNothingLeft()
			})
		})
	}
}

func TestAnOverdueRunEndsThoughItsExecutorGoesOn(t *testing.T) {
	run(t, func(w *world) {
		x := &executor{w: w, conn: w.connect("executor"), lingers: 30 * time.Second}
		w.executeBy(x, func(*bus.Trigger) (time.Duration, job.Status) { return time.Hour, job.StatusSucceeded })
		w.startNode("a")
		w.put("g/child", job.Schedule{})
		w.put("g/a", job.Schedule{}, func(j *job.Job) {
			j.Overlap.Policy = job.OverlapQueue
			j.Children = []job.Child{{Job: "g/child", On: job.OnSuccess}}
		})
		time.Sleep(time.Second)
		id := job.NewRunID(time.Now())
		if _, err := w.trigger(id, "g/a"); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Second)
		end := func(attempt int, status job.Status) error {
			var reply bus.CancelReply
			return w.conn.Shards().AskOwner(w.t.Context(), "g/a", "cancel", 0,
				bus.CancelRequest{RunID: id, Job: "g/a", Attempt: attempt, Status: status, Reason: "it took too long"}, &reply, 5*time.Second)
		}
		if err := end(1, job.StatusFailed); !errors.Is(err, job.ErrInvalid) {
			w.t.Errorf("ended as failed: %v", err)
		}
		if err := end(2, job.StatusTimedOut); err != nil || len(w.triggers()) != 1 {
			w.t.Errorf("another attempt was ended: %v", err)
		}
		if err := end(1, job.StatusTimedOut); err != nil || len(w.triggers()) != 0 {
			w.t.Errorf("not ended: %v", err)
		}
		time.Sleep(time.Second)
		w.wantNothingLeft() // so the next run may begin
		time.Sleep(time.Minute)
		if got, want := w.ends(), []string{"1 timed_out", "1 succeeded"}; !slices.Equal(got, want) {
			w.t.Errorf("events %q, want %q: what was reported late comes after", got, want)
		}
		w.wantLines("g/child")
	})
}
