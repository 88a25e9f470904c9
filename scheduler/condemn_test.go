package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestACancelledRunStaysCancelledWhateverItsExecutorReports(t *testing.T) {
	for _, watched := range []bool{false, true} {
		for _, ends := range []job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusLost, job.StatusCancelled} {
			for _, dies := range []bool{false, true} {
				t.Run(fmt.Sprintf("watched %t, %s, owner dies %t", watched, ends, dies), func(t *testing.T) {
					run(t, func(w *world) {
						x := &executor{w: w, conn: w.connect("executor"), lingers: 5 * time.Second}
						w.executeBy(x, func(*bus.Trigger) (time.Duration, job.Status) { return time.Hour, ends })
						w.startNode("a")
						w.put("g/child", job.Schedule{})
						w.put("g/a", job.Schedule{}, func(j *job.Job) {
							if watched {
								j.Retry = job.Retry{Limit: 2, Delay: job.Duration(time.Second)}
								j.Children = []job.Child{{Job: "g/child", On: job.OnSuccess}}
							}
						})
						time.Sleep(time.Second)
						id := job.NewRunID(time.Now())
						if _, err := w.trigger(id, "g/a"); err != nil {
							w.t.Fatal(err)
						}
						time.Sleep(time.Second)
						if reply, err := w.cancel(id); err != nil || reply.Found != job.StatusRunning {
							w.t.Fatalf("reply %+v, %v", reply, err)
						}
						if dies {
							w.killNode("a")
							w.startNode("b")
						}
						time.Sleep(2 * time.Minute)
						want := []string{"1 pending", "1 cancelled"}
						if ends == job.StatusCancelled {
							want = want[:1] // which the executor has reported
						}
						w.wantLines("g/a", want...)
						w.wantLines("g/child")
						w.records(func(_ *bus.Record, d bus.Decided) {
							if d.Status == job.StatusCancelled && !strings.HasPrefix(d.Reason, "cancelled by ann: wrong day; its executor reported that it ") {
								w.t.Errorf("reason %q", d.Reason)
							}
						})
						w.wantNothingLeft()
					})
				})
			}
		}
	}
}
