package dispatch_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/dispatch"
)

// endIn stores the end of a run in a pack.
func (w *world) endIn(subject string, t *bus.Trigger) {
	w.t.Helper()
	e := bus.EventOf(t, bus.EventFinished, time.Now())
	e.Instance, e.Status, e.FinishedAt = "a", job.StatusSucceeded, e.At
	m, err := bustest.Event(w.conn.Tokens(), e)
	if err == nil {
		_, err = w.conn.JS.PublishMsg(w.t.Context(), bustest.Pack(subject, m))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// Nobody gives up a trigger while the packs that may have its end are searched, and who has none of them
// begins then, however long that took.
func TestASearchOfManyPacksGoesOnInTheNextRound(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node", dispatch.SearchOnePackARound)
		a := w.executor("a", time.Hour)
		time.Sleep(time.Second)
		packs := bus.SubjectEnds(0, "g")
		packed := func(t *bus.Trigger) { t.Report = packs }
		ended := w.trigger(job.RouteFirst, packed, named("g/ended"))
		w.trigger(job.RouteFirst, packed, named("g/open"))
		time.Sleep(time.Second)
		w.began()
		a.die()
		other := *ended
		other.Cause, other.RunID = job.CauseManual, job.NewRunID(time.Now())
		const rounds = 60 // a second each: twice what a trigger may wait here
		for range rounds {
			w.endIn(packs, &other)
		}
		w.endIn(packs, ended)
		w.executor("b", 0)
		time.Sleep(bus.AckWait + 2*rounds*time.Second)
		w.wantBegan("b open")
		w.wantTriggers(0)
	})
}
