package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
)

var setupBegan = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

// partitioned returns a connection that reaches its broker no more.
func partitioned(t *testing.T) (*bustest.Broker, *cluster.Conn) {
	t.Helper()
	b := bustest.NewBroker(t)
	conn := clustertest.Connect(t, b, "node")
	b.Partition("node")
	return b, conn
}

func TestSetupOutlastsAClusterThatDoesNotAnswerYet(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		b, conn := partitioned(t)
		time.AfterFunc(30*time.Second, func() { b.Heal("node") })
		if err := conn.Setup(t.Context(), cluster.Assets{}); err != nil {
			t.Fatal(err)
		}
		if n := conn.Cluster().Shards; n != cluster.DefaultShards {
			t.Errorf("%d shards, want %d", n, cluster.DefaultShards)
		}
	})
}

func TestSetupSaysThatJetStreamDoesNotAnswer(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		_, conn := partitioned(t)
		if err := conn.Setup(t.Context(), cluster.Assets{}); !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("Setup: %v, want %v", err, job.ErrUnavailable)
		}
		if took := time.Since(setupBegan); took < time.Minute || took > 70*time.Second {
			t.Errorf("Setup took %s, want about a minute", took)
		}
	})
}

func TestSetupNeverLowersWhatAnOperatorHasRaised(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		conn := clustertest.Connect(t, bustest.NewBroker(t), "node")
		limits := func(evt int64) (have int64) {
			if err := conn.Setup(t.Context(), cluster.Assets{Shards: 1, EvtBytes: evt}); err != nil {
				t.Fatal(err)
			}
			info, err := conn.Info(t.Context(), bus.StreamEvt)
			if err != nil {
				t.Fatal(err)
			}
			return info.Config.MaxBytes
		}
		const mib = 1 << 20
		for _, c := range []struct{ ask, want int64 }{{16 * mib, 16 * mib}, {32 * mib, 32 * mib}, {16 * mib, 32 * mib}} {
			if got := limits(c.ask); got != c.want {
				t.Errorf("asked for %d: the stream may have %d bytes, want %d", c.ask, got, c.want)
			}
		}
	})
}

func TestEachPartitionHasTheSubjectsOfItsShards(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		conn := clustertest.SetupAs(t, bustest.NewBroker(t), "node", cluster.Assets{Shards: 5, Partitions: 2})
		if err := conn.Groups().Setup(t.Context(), cluster.Group{Group: "mail", Dispatched: true}); err != nil {
			t.Fatal(err)
		}
		for stream, want := range map[string]int64{"TRIG": 2 << 30, "TRIG1": 2 << 30, "EVT": 4 << 30, "EVT1": 4 << 30, "LOG": 8 << 30} {
			if info, err := conn.Info(t.Context(), stream); err != nil || info.Config.MaxBytes != want {
				t.Errorf("%s may have %d bytes, %v; want %d", stream, info.Config.MaxBytes, err, want)
			}
		}
		for shard := range 5 {
			for _, subject := range []string{
				bus.SubjectTrigger(shard, "mail"), bus.SubjectRouted(shard, "mail"), bus.SubjectPriority(shard, job.PriorityHigh, "mail"), bus.SubjectPriority(shard, job.PriorityLow, "mail"),
				bus.SubjectCursor(shard), bus.SubjectDeferred(shard), bus.SubjectRecord(shard), bus.SubjectNotice(shard),
			} {
				ack, err := conn.JS.Publish(t.Context(), subject, []byte("x"))
				if want := []string{"TRIG", "TRIG1"}[shard%2]; err != nil || ack.Stream != want || want != conn.TrigOf(shard) {
					t.Errorf("%s is stored on %+v, %v; want %s", subject, ack, err, want)
				}
			}
			for _, subject := range []string{bus.SubjectEvent(shard, "mail"), bus.SubjectMark(shard, "mail"), bus.SubjectBarrier(shard)} {
				ack, err := conn.JS.Publish(t.Context(), subject, []byte("x"))
				if want := []string{"EVT", "EVT1"}[shard%2]; err != nil || ack.Stream != want || want != conn.EvtOf(shard) {
					t.Errorf("%s is stored on %+v, %v; want %s", subject, ack, err, want)
				}
			}
		}
		if _, err := conn.JS.Publish(t.Context(), bus.SubjectCursor(5), []byte("x")); err == nil {
			t.Error("a stream takes what is of no shard")
		}
		for _, c := range conn.Cluster().Partitions.Consumers(bus.ConsumerAny("mail")) {
			info, err := conn.ConsumerInfo(t.Context(), c.Stream, c.Consumer)
			if want := map[string]uint64{"TRIG": 3, "TRIG1": 2}[c.Stream]; err != nil || info.NumPending != want {
				t.Errorf("%s of %s hands out %+v, %v; want %d triggers", c.Consumer, c.Stream, info, err, want)
			}
		}
		if b, err := conn.Groups().Backlog(t.Context(), "mail"); err != nil || b.Waiting != 4*5 {
			t.Errorf("%+v waits, %v; want 20", b, err)
		}
		backlogs, err := conn.Ingest().Backlogs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiting := map[string]uint64{}
		for _, b := range backlogs {
			waiting[b.Stream] = b.Messages
		}
		want := map[string]uint64{"TRIG": 3, "TRIG1": 2, "EVT": 9, "EVT1": 6, "LOG": 0, "AUDIT": 0, "KV_ALERT": 0, "KV_LEDGER": 0}
		if diff := cmp.Diff(want, waiting); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTheNumberOfPartitionsIsFixedWhenTheClusterIsMade(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		b := bustest.NewBroker(t)
		conn := clustertest.SetupAs(t, b, "node", cluster.Assets{Shards: 5, Partitions: 2})
		subjects := func() []string {
			info, err := conn.Info(t.Context(), bus.StreamTrig)
			if err != nil {
				t.Fatal(err)
			}
			return info.Config.Subjects
		}
		before := subjects()
		other := clustertest.Connect(t, b, "other")
		for _, bad := range []cluster.Assets{{Partitions: 1}, {Partitions: 3}, {Shards: 7}, {Shards: 7, Partitions: 2}} {
			if err := other.Setup(t.Context(), bad); !errors.Is(err, job.ErrConflict) {
				t.Errorf("%+v: %v, want %v", bad, err, job.ErrConflict)
			}
		}
		for _, same := range []cluster.Assets{{}, {Shards: 5}, {Partitions: 2}, {Shards: 5, Partitions: 2}} {
			if err := other.Setup(t.Context(), same); err != nil || other.Cluster().Partitions != 2 {
				t.Errorf("%+v: %v, %d partitions", same, err, other.Cluster().Partitions)
			}
		}
		if diff := cmp.Diff(before, subjects()); diff != "" {
			t.Error(diff)
		}
	})
	bustest.Run(t, setupBegan, func(t *testing.T) {
		b := bustest.NewBroker(t)
		conn := clustertest.Setup(t, b, "node", 5)
		if err := conn.Setup(t.Context(), cluster.Assets{Partitions: 2}); !errors.Is(err, job.ErrConflict) {
			t.Errorf("a cluster with one partition is to have two: %v", err)
		}
		entry, err := conn.Entry(t.Context(), bus.BucketCluster, "config")
		if err != nil || strings.Contains(string(entry.Value()), "partitions") {
			t.Errorf("a cluster with one partition says so: %s, %v", entry.Value(), err)
		}
	})
}

func TestAPartitionHasAShardAtLeastAndNotTooMany(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		conn := clustertest.Connect(t, bustest.NewBroker(t), "node")
		for _, c := range []struct {
			assets cluster.Assets
			field  string
		}{
			{cluster.Assets{Partitions: -1}, "partitions"},
			{cluster.Assets{Shards: 4, Partitions: 5}, "partitions"},
			{cluster.Assets{Partitions: 17}, "partitions"},
			{cluster.Assets{Shards: 257, Partitions: 2}, "shards"},
		} {
			var bad *job.InvalidError
			if err := conn.Setup(t.Context(), c.assets); !errors.As(err, &bad) || bad.Field != c.field {
				t.Errorf("%+v: %v", c.assets, err)
			}
		}
	})
}

func TestAGroupIsSetUpOnTheOtherPartitionsWhileOneIsAway(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		conn := clustertest.SetupAs(t, bustest.NewBroker(t), "node", cluster.Assets{Shards: 3, Partitions: 3})
		if err := conn.JS.DeleteStream(t.Context(), "TRIG1"); err != nil {
			t.Fatal(err)
		}
		if err := conn.Groups().Setup(t.Context(), cluster.Group{Group: "mail", HasRouted: true}); err == nil || !strings.Contains(err.Error(), "TRIG1") {
			t.Errorf("SetupGroup: %v, want an error about TRIG1", err)
		}
		for _, stream := range []string{"TRIG", "TRIG2"} {
			if _, err := conn.ConsumerInfo(t.Context(), stream, bus.ConsumerAny("mail")); err != nil {
				t.Errorf("consumer on %s: %v", stream, err)
			}
		}
	})
}

func TestAFullStreamIsFoundThoughAnotherOneIsSilent(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.SetupAs(t, broker, "node", cluster.Assets{Shards: 3, Partitions: 3, TrigBytes: 3000})
		check := func() error {
			time.Sleep(5 * time.Second) // the last answer counts no longer
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			return conn.Streams().CheckRoom(ctx)
		}
		broker.Silence("TRIG1")
		err := check()
		if silent, ok := errors.AsType[*cluster.SilentError](err); !ok || silent.Error() != "stream TRIG1 does not answer" || !silent.Partial || !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("one is silent: %v", err)
		}
		if _, err := conn.JS.Publish(t.Context(), bus.SubjectCursor(2), make([]byte, 960)); err != nil {
			t.Fatal(err)
		}
		if full, ok := errors.AsType[*cluster.NoRoomError](check()); !ok || full.Disk || !strings.Contains(full.Reason, "TRIG2") {
			t.Errorf("another one is full: %v", full)
		}
	})
}

func TestAServerStartsWhileAPartitionIsSilent(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		clustertest.SetupAs(t, broker, "before", cluster.Assets{Shards: 3, Partitions: 3})
		broker.Silence("TRIG1")
		late := clustertest.Connect(t, broker, "late")
		if err := late.Setup(t.Context(), cluster.Assets{}); err != nil || late.Cluster().Partitions != 3 {
			t.Fatalf("Setup: %v, %+v", err, late.Cluster())
		}
		if took := time.Since(setupBegan); took < time.Minute || took > 2*time.Minute {
			t.Errorf("it waited %s for the partition", took)
		}
		if err := late.Groups().Setup(t.Context(), cluster.Group{Group: "mail", HasRouted: true}); err == nil || !strings.Contains(err.Error(), "TRIG1") {
			t.Errorf("SetupGroup: %v", err)
		}
	})
}

func TestTheStateOfTheBusIsToldWhileAStreamIsSilent(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.SetupAs(t, broker, "node", cluster.Assets{Shards: 3, Partitions: 3})
		broker.Silence("TRIG1")
		asked := time.Now()
		state, err := conn.Streams().State(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]int{}
		for _, c := range state.Consumers {
			of[c.Stream]++
		}
		if of["TRIG"] != 1 || of["TRIG1"] != 0 || of["TRIG2"] != 1 || of["EVT2"] != 1 {
			t.Errorf("consumers: %v", of)
		}
		if took := time.Since(asked); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
