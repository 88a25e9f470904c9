package cluster_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
)

var began = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

// world is a broker with a cluster set up on it, in a bubble.
type world struct {
	t      *testing.T
	broker *bustest.Broker
	conn   *cluster.Conn // never cut off
}

func inCluster(t *testing.T, f func(w *world)) {
	t.Helper()
	bustest.Run(t, began, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t)}
		w.conn = clustertest.Setup(t, w.broker, "witness", shards)
		f(w)
	})
}

const shards = 4

// connect returns an open connection, whose partitions are those of name.
func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	return clustertest.Open(w.t, w.broker, name)
}

func (w *world) restart() {
	w.broker.Stop()
	w.broker.Start()
}
