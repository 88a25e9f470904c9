package node

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/cluster"
)

// reconnectMetrics counts how often a server had to connect to NATS again, for each of its connections.
func reconnectMetrics(conn *cluster.Conn) []prometheus.Collector {
	reconnects := func(which string, of *cluster.Conn) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "carillon", Subsystem: "nats", Name: "reconnects_total", ConstLabels: prometheus.Labels{"connection": which},
			Help: "How often this server connected to NATS again: on the connection main, which has leases and fires, or bulk, which has reads whose size others decide.",
		}, func() float64 { return float64(of.NC.Stats().Reconnects) })
	}
	return []prometheus.Collector{reconnects("main", conn), reconnects("bulk", conn.Bulk())}
}

// roomMetrics returns gauges of whether NATS refuses to store messages. They ask NATS when
// they are scraped, because Carillon's own alerts need a NATS that stores.
func roomMetrics(ctx context.Context, conn *cluster.Conn) []prometheus.Collector {
	refuses := func(what, help string, is func(*cluster.NoRoomError) bool) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "carillon", Subsystem: "nats", Name: "refuses", Help: help, ConstLabels: prometheus.Labels{"what": what},
		}, func() float64 {
			asking, cancel := context.WithTimeout(ctx, checkWithin)
			defer cancel()
			full, ok := errors.AsType[*cluster.NoRoomError](conn.Streams().CheckRoom(asking))
			if ok && is(full) {
				return 1
			}
			return 0
		})
	}
	const help = "1 while NATS refuses what Carillon stores, because a stream (TRIG or EVT) or its disk is full."
	return []prometheus.Collector{
		refuses("disk", help, func(e *cluster.NoRoomError) bool { return e.Disk }),
		refuses("stream", help, func(e *cluster.NoRoomError) bool { return !e.Disk }),
	}
}
