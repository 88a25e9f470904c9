package logstoretest

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// delivered tells that u's executor got the trigger so long after the fire time.
func delivered(u logstore.Update, after time.Duration) logstore.Update {
	u.DeliveredAt = u.RunID.Time().Add(after)
	return u
}

// deliveries has runs show when the trigger came to the instance that they show, if its
// executor tells: it is that of the start, and never another's.
func deliveries(t *testing.T, s logstore.Store) {
	inAnyOrder(t, s, func(r run) []logstore.Update {
		r = r.of("billing/told")
		return []logstore.Update{
			r.recorded(job.StatusPending), delivered(r.started("worker-1", 1, ms(10)), ms(7)), delivered(r.finished(job.StatusSucceeded, "worker-1", time.Second), ms(7)),
		}
	}, func(t *testing.T, r run) {
		t.Helper()
		r = r.of("billing/told")
		want := r.row(job.StatusSucceeded)
		want.Instance, want.Delivery = "worker-1", 1
		want.DeliveredAt, want.StartedAt, want.FinishedAt = r.fire.Add(ms(7)), r.fire.Add(ms(10)), r.fire.Add(time.Second)
		wantRun(t, s, want)
	})

	// The second executor does not tell.
	inAnyOrder(t, s, func(r run) []logstore.Update {
		r = r.of("billing/old")
		updates := story(r)
		updates[1] = delivered(updates[1], ms(7))
		return updates
	}, func(t *testing.T, r run) {
		t.Helper()
		r = r.of("billing/old")
		wantRun(t, s, endOfStory(r))
	})

	// The second did not begin it, so both instants are the first one's.
	inAnyOrder(t, s, func(r run) []logstore.Update {
		r = r.of("billing/lost")
		gone := delivered(r.started("worker-1", 1, ms(10)), ms(7))
		end := r.finished(job.StatusLost, "worker-2", 30*time.Second)
		end.Delivery, end.StartedAt = 2, time.Time{}
		return []logstore.Update{r.recorded(job.StatusPending), gone, end}
	}, func(t *testing.T, r run) {
		t.Helper()
		r = r.of("billing/lost")
		want := r.row(job.StatusLost)
		want.Instance, want.Delivery = "worker-2", 2
		want.DeliveredAt, want.StartedAt, want.FinishedAt = r.fire.Add(ms(7)), r.fire.Add(ms(10)), r.fire.Add(30*time.Second)
		wantRun(t, s, want)
	})

	// A run in pieces has both instants of the piece that began first.
	inAnyOrder(t, s, func(r run) []logstore.Update {
		r = r.of("billing/pieces")
		return []logstore.Update{delivered(r.begun(ms(30)), ms(6)), delivered(r.begun(ms(20)), ms(18)), delivered(r.begun(ms(20)), ms(15)), r.begun(ms(20))}
	}, func(t *testing.T, r run) {
		t.Helper()
		r = r.of("billing/pieces")
		want := r.row(job.StatusRunning)
		want.DeliveredAt, want.StartedAt = r.fire.Add(ms(15)), r.fire.Add(ms(20))
		wantRun(t, s, want)
	})
}
