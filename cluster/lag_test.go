package cluster_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// A replica that lags behind does not know of what was written just now. Who changes it back would
// find nothing to change there.
func TestWhatIsChangedBackAtOnceIsChangedThoughAReplicaLagsBehind(t *testing.T) {
	inCluster(t, func(w *world) {
		ctx := w.t.Context()
		conn := w.connect("late")
		check := func(err error) {
			w.t.Helper()
			if err != nil {
				w.t.Fatal(err)
			}
		}
		run := job.NewRunID(time.Now())
		_, _, err := w.conn.Pauses().Set(ctx, "billing", true, time.Time{}, cluster.Edit{At: time.Now()})
		check(err)
		_, err = w.conn.Groups().Set(ctx, "billing", cluster.GroupSettings{Limit: new(5)})
		check(err)
		_, _, err = w.conn.Calendars().Put(ctx, job.Calendar{Calendar: "holidays"}, cluster.Edit{At: time.Now()})
		check(err)
		check(w.conn.Secrets().Put(ctx, &bus.Secret{Group: "billing", Secret: "password"}))
		check(w.conn.Overrides().Put(ctx, "billing", run, cluster.Overrides{States: "done"}))
		check(w.conn.Shards().PutFloor(ctx, &journal.Cursor{Shard: 1, Epoch: 7}))
		check(w.conn.Restore().Begin(ctx, "backup"))

		w.broker.Lag("late")
		_, _, err = conn.Pauses().Set(ctx, "billing", false, time.Time{}, cluster.Edit{At: time.Now()})
		check(err)
		if p, err := w.conn.Pauses().Get(ctx, "billing"); err != nil || p.Paused {
			w.t.Errorf("resumed, the group is %+v, %v", p, err)
		}
		was, err := conn.Groups().Set(ctx, "billing", cluster.GroupSettings{Limit: new(0)})
		if g, gone := w.conn.Groups().Get(ctx, "billing"); err != nil || gone != nil || was.Limit != 5 || g.Limit != 0 {
			w.t.Errorf("without its limit, the group is %+v, and was %+v, %v", g, was, errors.Join(err, gone))
		}
		check(conn.Calendars().Delete(ctx, "holidays", cluster.Edit{At: time.Now()}))
		if _, err := w.conn.Calendars().Get(ctx, "holidays"); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("the calendar that was deleted: %v", err)
		}
		check(conn.Secrets().Delete(ctx, "billing", "password"))
		if g, err := conn.Overrides().Get(ctx, "billing", run); err != nil || g.States != "done" {
			w.t.Errorf("the run is given %+v, %v", g, err)
		}
		if floor, err := conn.Shards().Floor(ctx, 1); err != nil || floor == nil || floor.Epoch != 7 {
			w.t.Errorf("the floor is %+v, %v", floor, err)
		}
		if backup, err := conn.Restore().Running(ctx); err != nil || backup != "backup" {
			w.t.Errorf("the restore of %q has begun, %v", backup, err)
		}
		if upTo, err := conn.Events().Alerted(ctx, bus.StreamEvt); err != nil || upTo != math.MaxUint64 {
			w.t.Errorf("the alerter is at %d, %v", upTo, err)
		}
		_, err = w.conn.JS.Publish(ctx, "$KV."+bus.BucketAlert+"."+cluster.KeyAlertPosition, []byte(`{"events":3}`))
		check(err)
		if upTo, err := conn.Events().Alerted(ctx, bus.StreamEvt); err != nil || upTo != 3 {
			w.t.Errorf("the alerter is at %d, %v", upTo, err)
		}
	})
}

// A NATS server that is starting answers for a consumer before it has its state. It would be taken for a
// group without a run, in which the dispatcher begins as many as its limit allows.
func TestLiveRunsAreNotCountedByAServerThatIsStarting(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := w.connect("governor")
		var err error
		if conn.JS, err = jetstream.NewWithAPIPrefix(conn.NC, "FAKE"); err != nil {
			w.t.Fatal(err)
		}
		asked := map[string]int{}
		server, err := conn.NC.Subscribe("FAKE.CONSUMER.INFO.TRIG.*", func(m *nats.Msg) {
			state := `"num_pending":0`
			if asked[m.Subject]++; asked[m.Subject] > 1 {
				state = `"cluster":{"leader":"n1"},"num_ack_pending":2,"num_pending":3`
			}
			_ = m.Respond([]byte(`{"config":{"num_replicas":3},` + state + `}`))
		})
		if err != nil {
			w.t.Fatal(err)
		}
		defer func() { _ = server.Unsubscribe() }()
		consumers := len(job.Priorities) + 1
		if b, err := conn.Groups().Backlog(w.t.Context(), "billing"); err != nil || b.Waiting != 3*consumers || b.Delivered != 2*consumers {
			w.t.Errorf("the backlog is %+v, %v", b, err)
		}
	})
}
