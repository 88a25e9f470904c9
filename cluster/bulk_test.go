package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestLeasesAreHeldWhileTheBulkConnectionIsCut(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := clustertest.Connect(w.t, w.broker, "node")
		if err := conn.OpenBulk(jet.Config{Name: "node", Options: []nats.Option{nats.InProcessServer(w.broker.Dialer("node bulk"))}}); err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.Open(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := conn.Bulk().Cluster().Shards; got != shards {
			t.Errorf("the bulk connection knows of %d shards, want %d", got, shards)
		}
		ctx, stop := context.WithCancel(w.t.Context())
		lost, done := 0, make(chan struct{})
		go func() {
			defer close(done)
			conn.Bulk().Lead(ctx, "role.test", "node", slog.New(slog.DiscardHandler), func(ctx context.Context, _ *jet.Lease) error {
				<-ctx.Done()
				lost++
				return nil
			})
		}()
		time.Sleep(time.Second)
		w.broker.Partition("node bulk")
		time.Sleep(2 * time.Minute)
		if _, err := conn.Bulk().Instances().Fleet(w.t.Context()); !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("reads of the bulk connection: %v, want job.ErrUnavailable", err)
		}
		if w.conn.Bulk() != w.conn {
			t.Error("a connection without OpenBulk has another one for bulk reads")
		}
		if lost != 0 || conn.NC.Stats().Reconnects != 0 {
			t.Errorf("lost the lease %d times and connected again %d times while the bulk connection was cut", lost, conn.NC.Stats().Reconnects)
		}
		w.broker.Heal("node bulk")
		time.Sleep(10 * time.Second)
		if _, err := conn.Bulk().Instances().Fleet(w.t.Context()); err != nil {
			t.Errorf("reads of the bulk connection once it is there again: %v", err)
		}
		stop()
		<-done
	})
}
