package cluster_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
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
		w.conn = w.connect("witness")
		if err := w.conn.Setup(t.Context(), assets); err != nil {
			t.Fatal(err)
		}
		f(w)
	})
}

var assets = cluster.Assets{Shards: 4, TrigBytes: 64 << 20, EvtBytes: 64 << 20, LogBytes: 64 << 20}

// connect returns an open connection, whose partitions are those of name.
func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	conn, err := cluster.Connect(jet.Config{Name: name, Options: []nats.Option{nats.InProcessServer(w.broker.Dialer(name))}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(conn.NC.Close)
	if w.conn != nil {
		if err := conn.Open(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	return conn
}

func (w *world) restart() {
	w.broker.Stop()
	w.broker.Start()
}
