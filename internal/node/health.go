package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
)

// newRegistry returns a registry with the metrics of any process.
func newRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// watched puts what serves the metrics below all other layers.
func (n *node) watched(ctx context.Context, conn *cluster.Conn, o monitorOptions, log *slog.Logger) error {
	ready := []check{{"bus", func(ctx context.Context) error {
		if _, err := conn.Pauses().Get(ctx, ""); err != nil {
			return errors.New("JetStream does not answer")
		}
		err := conn.Streams().CheckRoom(ctx)
		_, full := errors.AsType[*cluster.NoRoomError](err)
		switch silent, some := errors.AsType[*cluster.SilentError](err); {
		case some && silent.Partial: // the jobs of other partitions go on
			return nil
		case err != nil && !full && !some:
			return errors.New("JetStream does not answer")
		}
		return err
	}}}
	if n.metrics != nil {
		n.metrics.MustRegister(roomMetrics(ctx, conn)...)
		n.metrics.MustRegister(reconnectMetrics(conn)...)
	}
	if n.scheduler != nil {
		ready = append(ready, check{"scheduler", func(context.Context) error {
			// Where there are more nodes than shards, one stands by.
			if n.scheduler.Owned() == 0 && n.scheduler.Served() < conn.Cluster().Shards {
				return errors.New("the node fires for no shard yet")
			}
			if parked := n.scheduler.Parked(); len(parked) > 0 {
				return fmt.Errorf("shard %d does not fire: %s", parked[0].Shard, parked[0].Reason)
			}
			return nil
		}})
	}
	if n.store != nil {
		ready = append(ready, check{"log_store", func(ctx context.Context) error {
			if _, err := n.store.Stats(ctx); err != nil {
				return errors.New("the log store does not answer")
			}
			return nil
		}})
	}
	alive := func() error { return errors.Join(connAlive(conn.Conn)(), connAlive(conn.Bulk().Conn)()) }
	layers, err := o.layers(ctx, n.metrics, alive, ready, log)
	n.layers = append(layers, n.layers...)
	return err
}

// connAlive returns a check of whether the process can ever work again: a connection that
// is closed, rather than interrupted, stays so.
func connAlive(conn *jet.Conn) func() error {
	return func() error {
		if conn.NC.IsClosed() {
			return errors.New("the connection to NATS is closed for good")
		}
		return nil
	}
}
