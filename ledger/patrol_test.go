package ledger_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"carillon/bus"
	"carillon/bus/bustest"
	"carillon/job"
	"carillon/job/runlog"
	"carillon/ledger"
	"carillon/logstore"
	"carillon/logstore/sqlite"
)

// beat is a patrol's world: a broker, a history, and what the patrol logs.
type beat struct {
	*testing.T
	conn   *bus.Conn
	store  logstore.Store
	patrol *ledger.Patrol
	logged bytes.Buffer
}

const shards = 2

func onPatrol(t *testing.T, f func(b *beat)) {
	t.Helper()
	bustest.Run(t, noon, func(t *testing.T) {
		b := &beat{T: t}
		broker := bustest.NewBroker(t)
		var err error
		if b.conn, err = bus.Connect(bus.Config{Options: []nats.Option{nats.InProcessServer(broker.Dialer("test"))}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.conn.NC.Close)
		b.check(b.conn.Setup(t.Context(), bus.Assets{Shards: shards, TrigBytes: 64 << 20, EvtBytes: 64 << 20, LogBytes: 64 << 20}))
		b.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		b.check(err)
		t.Cleanup(func() { b.check(b.store.Close()) })
		b.patrol, err = ledger.NewPatrol(b.conn, b.store, logstore.DefaultRetention(), slog.New(slog.NewTextHandler(&b.logged, nil)), prometheus.NewRegistry())
		b.check(err)
		f(b)
	})
}

func (b *beat) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// put saves a job that fires every ten minutes, from now on.
func (b *beat) put(name job.Name, spread time.Duration) {
	b.Helper()
	j := job.Job{Job: name, Schedule: job.Schedule{Cron: "*/10 * * * *", Spread: job.Duration(spread)}, Task: job.Task{Handler: "h"}}.WithDefaults()
	_, _, err := b.conn.PutJob(b.Context(), j, bus.Edit{At: time.Now().Add(-time.Millisecond)})
	b.check(err)
}

// ran has the history say that the job's fires at these minutes ran.
func (b *beat) ran(name job.Name, minutes ...int) {
	b.Helper()
	var updates []logstore.Update
	for _, m := range minutes {
		updates = append(updates, logstore.Update{
			Kind: runlog.KindRecorded, RunID: job.FireRunID(name, at(m).UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Attempt: 1,
			Cause: job.CauseSchedule, At: at(m), Status: job.StatusPending,
		})
	}
	b.check(b.store.WriteRuns(b.Context(), "", updates))
}

// decided moves the cursors of all shards.
func (b *beat) decided(minute int) {
	b.Helper()
	for shard := range shards {
		m, err := (&bus.Cursor{Shard: shard, Epoch: 1, Node: "n", Commit: "1.1", Done: at(minute)}).Msg()
		b.check(err)
		bus.Rollup(m)
		_, err = b.conn.JS.PublishMsg(b.Context(), m)
		b.check(err)
	}
}

// found returns the findings, each as its job and minute, in the order of the keys.
func (b *beat) found() (found []string) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	w, err := b.conn.WatchFindings(ctx)
	b.check(err)
	for e := range w.Updates() {
		if e == nil {
			b.check(w.Stop())
			return found
		}
		f, err := bus.DecodeFinding(e.Value())
		b.check(err)
		found = append(found, string(f.Job)+" "+f.FireTime.Format("15:04"))
	}
	return found
}

func (b *beat) round(want ...string) {
	b.Helper()
	b.check(b.patrol.Round(b.Context()))
	if d := cmp.Diff(want, b.found()); d != "" {
		b.Error(d)
	}
}

func TestAPatrolFindsEachDiscrepancyOnce(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.put("billing/x", 0)
		b.put("ops/y", 0)
		b.ran("billing/x", 0, 20, 40)
		b.ran("ops/y", 0, 10, 20, 30, 40)
		b.decided(15)
		b.round("billing/x 12:10")
		b.decided(35)
		b.round("billing/x 12:10", "billing/x 12:30")
		b.round("billing/x 12:10", "billing/x 12:30")
		if n := strings.Count(b.logged.String(), "discrepancy in the ledger"); n != 2 {
			b.Errorf("logged %d times: %s", n, b.logged.String())
		}
		audited, err := b.conn.GetAudited(b.Context())
		b.check(err)
		if d := cmp.Diff(bus.Audited{0: at(35), 1: at(35)}, audited); d != "" {
			b.Error(d)
		}
	})
}

func TestAPatrolWaitsForTheHistory(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.put("billing/x", 0)
		b.ran("billing/x", 0)
		b.decided(15)
		record := &bus.Record{Shard: 0, At: at(10), Outcomes: []bus.Outcome{}}
		m, err := record.Msg()
		b.check(err)
		ack, err := b.conn.JS.PublishMsg(b.Context(), m)
		b.check(err)
		b.round()
		b.check(b.conn.Remove(b.Context(), bus.StreamTrig, ack.Sequence)) // ingest has written it
		b.ran("billing/x", 10)
		b.round()
		audited, err := b.conn.GetAudited(b.Context())
		b.check(err)
		if !audited[0].Equal(at(15)) {
			b.Error(audited)
		}
	})
}

func TestAPatrolJudgesWhatIsSpreadWhenItWasDue(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.put("billing/x", 8*time.Minute)
		plan, err := (&job.Planner{}).Preview(job.Job{Job: "billing/x", Schedule: job.Schedule{Cron: "*/10 * * * *", Spread: job.Duration(8 * time.Minute)}}, noon, 1)
		b.check(err)
		offset := int((plan[0].Due - plan[0].At) / time.Minute.Milliseconds())
		if offset < 1 {
			b.Fatalf("the job is not spread: %+v", plan)
		}
		b.ran("billing/x", 0)
		b.decided(10 + offset) // in whole minutes: the fire of 12:10 is due a little later
		b.round()
		b.decided(10 + offset + 1)
		b.round("billing/x 12:10")
	})
}

func TestAPatrolWaitsForVersionsThatTheirShardHasNotHeardOf(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.put("billing/x", 0)
		b.ran("billing/x", 0)
		shard := job.Name("billing/x").Shard(shards)
		late := &bus.Cursor{Shard: shard, Epoch: 1, Node: "n", Commit: "1.1", Done: at(25), JobsSeq: new(uint64)}
		m, err := late.Msg()
		b.check(err)
		bus.Rollup(m)
		_, err = b.conn.JS.PublishMsg(b.Context(), m)
		b.check(err)
		b.round()
		b.decided(25)
		b.round("billing/x 12:10", "billing/x 12:20")
	})
}
