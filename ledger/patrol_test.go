package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// beat is a patrol's world: a broker, a history, and what the patrol logs.
type beat struct {
	*testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	store  logstore.Store
	patrol *ledger.Patrol
	logged bytes.Buffer

	metrics *prometheus.Registry
	pings   int
}

const shards = 2

func onPatrol(t *testing.T, f func(b *beat)) {
	t.Helper()
	onPatrolOf(t, shards, f)
}

// onPatrolOf is onPatrol in a cluster of so many shards.
func onPatrolOf(t *testing.T, shards int, f func(b *beat)) {
	t.Helper()
	bustest.Run(t, noon, func(t *testing.T) {
		b := &beat{T: t, broker: bustest.NewBroker(t), metrics: prometheus.NewRegistry()}
		b.conn = clustertest.Setup(t, b.broker, "test", shards)
		var err error
		b.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		b.check(err)
		t.Cleanup(func() { b.check(b.store.Close()) })
		b.patrol, err = ledger.NewPatrol(b.conn, b.store, logstore.DefaultRetention(), slog.New(slog.NewTextHandler(&b.logged, nil)), b.metrics)
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
	_, _, err := b.conn.Jobs().Put(b.Context(), j, cluster.Edit{At: time.Now().Add(-time.Millisecond)})
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
		m, err := (&journal.Cursor{Shard: shard, Epoch: 1, Node: "n", Commit: "1.1", Done: at(minute), JobsSeq: 1000}).Msg()
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
	w, err := b.conn.Findings().Watch(ctx)
	b.check(err)
	for e := range w.Updates() {
		if e == nil {
			b.check(w.Stop())
			return found
		}
		f, err := cluster.DecodeFinding(e.Value())
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
		audited, err := b.conn.Findings().Audited(b.Context())
		b.check(err)
		if d := cmp.Diff(cluster.Audited{0: at(35), 1: at(35)}, audited); d != "" {
			b.Error(d)
		}
	})
}

func TestAPatrolWaitsForTheHistory(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.put("billing/x", 0)
		b.ran("billing/x", 0)
		b.decided(15)
		record := &journal.Record{Shard: 0, At: at(10), Outcomes: []journal.Outcome{}}
		m, err := record.Msg()
		b.check(err)
		ack, err := b.conn.JS.PublishMsg(b.Context(), m)
		b.check(err)
		b.round()
		b.check(b.conn.Remove(b.Context(), bus.StreamTrig, ack.Sequence)) // ingest has written it
		b.ran("billing/x", 10)
		b.round()
		audited, err := b.conn.Findings().Audited(b.Context())
		b.check(err)
		if !audited[0].Equal(at(15)) {
			b.Error(audited)
		}
	})
}

// A NATS server that was cut off may believe for a moment that it still leads the stream of records.
func TestAPatrolFindsNothingMissingThatADeposedLeaderDoesNotHave(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.put("billing/x", 0)
		b.ran("billing/x", 0)
		b.decided(15)
		m, err := (&journal.Record{Shard: 0, At: at(10), Outcomes: []journal.Outcome{}}).Msg() // that waits for ingest
		b.check(err)
		_, err = b.conn.JS.PublishMsg(b.Context(), m)
		b.check(err)
		b.broker.DeposeAt("test", `"next_by_subj":"rec.`)
		if err := b.patrol.Round(b.Context()); !errors.Is(err, job.ErrUnavailable) {
			b.Errorf("%v; want that it is not known what waits", err)
		}
		b.broker.Heal("test")
		b.round()
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
		late := &journal.Cursor{Shard: shard, Epoch: 1, Node: "n", Commit: "1.1", Done: at(25)}
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

func TestALedgerRefusesToJudgeAJobThatANewerServerHasSaved(t *testing.T) {
	onPatrol(t, func(b *beat) {
		const name job.Name = "billing/x"
		b.put(name, 0)
		kv, err := b.conn.JS.KeyValue(b.Context(), bus.BucketJobs)
		b.check(err)
		_, err = kv.Put(b.Context(), bus.JobKey(name.Shard(shards), name), fmt.Appendf(nil, `{"version":2,"format":%d,"schedule":"of a kind to come"}`, job.VersionFormat+1))
		b.check(err)
		_, err = ledger.New(b.conn, b.store, logstore.DefaultRetention()).Audit(b.Context(), ledger.Request{From: at(0), To: at(35)})
		if newer, ok := errors.AsType[*cluster.FormatError](err); !ok || newer.Job != name || newer.Version != 2 || newer.Format != job.VersionFormat+1 {
			b.Errorf("%v", err)
		}
	})
}

func TestADiscrepancyThatHasHealedIsMarkedAndNotCounted(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.put("billing/x", 0)
		b.ran("billing/x", 0)
		b.decided(25)
		b.round("billing/x 12:10", "billing/x 12:20")
		b.wantOpen(2)
		time.Sleep(time.Hour)
		b.ran("billing/x", 20) // its record was restored
		b.round("billing/x 12:10", "billing/x 12:20")
		b.wantOpen(1)
		list, err := b.conn.Findings().All(b.Context())
		b.check(err)
		if f := list[0]; !f.HealedAt.IsZero() || f.Healed != "" {
			b.Errorf("%+v", f)
		}
		if f := list[1]; !f.HealedAt.Equal(noon.Add(time.Hour)) || f.Healed != "its fire is recorded as pending now" || !f.FoundAt.Equal(noon) {
			b.Errorf("%+v", f)
		}
		m, err := b.conn.Last(b.Context(), "KV_"+bus.BucketLedger, "$KV."+bus.BucketLedger+".finding.billing.x.*")
		b.check(err)
		if ttl := m.Header.Get(jetstream.MsgTTLHeader); ttl != cluster.FindingTTL.String() || !m.At.Equal(noon.Add(time.Hour)) {
			b.Errorf("it is kept for %q from %s on, want all of it from when it healed on", ttl, m.At)
		}
	})
}

func TestAFixedDelayJobThatFiresAgainHasHealed(t *testing.T) {
	onPatrol(t, func(b *beat) {
		j := job.Job{Job: "billing/d", Schedule: job.Schedule{FixedDelay: job.Duration(10 * time.Minute)}, Task: job.Task{Handler: "h"}}.WithDefaults()
		_, _, err := b.conn.Jobs().Put(b.Context(), j, cluster.Edit{At: time.Now()})
		b.check(err)
		b.put("billing/x", 0)
		b.ran("billing/x", 0, 10) // so that there is a history
		b.decided(15)
		b.round("billing/d 12:10")
		b.wantOpen(1)
		b.ran("billing/d", 17)
		b.decided(18)
		b.round("billing/d 12:10")
		b.wantOpen(0)
	})
}

// wantOpen checks how many discrepancies count.
func (b *beat) wantOpen(want float64) {
	b.Helper()
	families, err := b.metrics.Gather()
	b.check(err)
	for _, f := range families {
		if f.GetName() == "carillon_ledger_discrepancies_open" {
			if got := f.GetMetric()[0].GetGauge().GetValue(); got != want {
				b.Errorf("%v discrepancies are open, want %v", got, want)
			}
			return
		}
	}
	b.Error("there is no metric")
}
