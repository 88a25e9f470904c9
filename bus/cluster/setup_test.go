package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/cluster/clustertest"
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

func TestSetupRefusesPartitionsThatServersCannotServe(t *testing.T) {
	bustest.Run(t, setupBegan, func(t *testing.T) {
		conn := clustertest.Connect(t, bustest.NewBroker(t), "node")
		for _, n := range []bus.Partitions{-1, 2} {
			var bad *job.InvalidError
			if err := conn.Setup(t.Context(), cluster.Assets{Shards: 4, Partitions: n}); !errors.As(err, &bad) || bad.Field != "partitions" {
				t.Errorf("%d partitions: %v", n, err)
			}
		}
		if err := conn.Setup(t.Context(), cluster.Assets{Shards: 4, Partitions: 1}); err != nil || conn.Cluster().Partitions.Count() != 1 {
			t.Errorf("1 partition: %v, %d", err, conn.Cluster().Partitions.Count())
		}
	})
}
