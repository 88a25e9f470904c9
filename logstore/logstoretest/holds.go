package logstoretest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// holds shows that a row tells the last hold of a run, whatever the order in which it was told.
func holds(t *testing.T, s logstore.Store) {
	last := func(r run) *runlog.Hold {
		return &runlog.Hold{Since: r.fire.Add(time.Second), By: "bob", Note: "disk full", Change: 11}
	}
	orders := inAnyOrder(t, s, func(r run) []logstore.Update {
		held := r.record(job.StatusPending, ms(7), "")
		held.Hold = &runlog.Hold{Since: r.fire.Add(ms(7)), By: "ann", Change: 8}
		begun := func(after time.Duration, h *runlog.Hold) logstore.Update {
			u := r.update(runlog.KindStarted, after)
			u.StartedAt, u.Hold = u.At, h
			return u
		}
		resumed := *held.Hold
		resumed.ResumedAt, resumed.ResumedBy, resumed.Change = r.fire.Add(ms(9)), "bob", 9
		return []logstore.Update{r.recorded(job.StatusPending), held, begun(ms(9), &resumed), begun(time.Second, last(r)), r.record(job.StatusCancelled, time.Minute, "cancelled")}
	}, func(t *testing.T, r run) {
		t.Helper()
		got := getRun(t, s, r.id())[0]
		if diff := cmp.Diff(last(r), got.Hold); diff != "" || got.Status != job.StatusCancelled || !got.StartedAt.Equal(r.fire.Add(ms(9))) || !got.CommittedAt.Equal(r.fire.Add(ms(5))) {
			t.Errorf("%+v\n%s", got, diff)
		}
	})
	if orders == 0 {
		t.Error("nothing was tried")
	}
}
