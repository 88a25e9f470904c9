package cluster

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestTheClusterIsDrawn(t *testing.T) {
	drawtest.Golden(t, "nodes", func(tab *draw.Table) {
		drawNodes(tab, client.NodeList{Shards: 8, Unowned: []int{6}, Items: []client.Node{{Node: "n1", Shards: []int{0, 1, 2, 5}}, {Node: "n2", Shards: []int{3, 4, 7}}, {Node: "new"}}})
	})
	drawtest.Golden(t, "bus", func(tab *draw.Table) {
		drawBus(tab, client.BusState{
			Server: "n1", Version: "2.15.2", Cluster: "carillon", Bytes: 3_000_000_000, Durability: fleet.Degraded, Replicas: 3,
			Streams: []fleet.StreamState{
				{Stream: "EVT", Messages: 1234567, Bytes: 2_100_000_000, MaxBytes: 8 << 30, Refuses: true, OldestAt: drawtest.At("03:00:00.000"), Consumers: 1, Replicas: 3, Leader: "n2", Behind: []string{"n3"}},
				{Stream: "TRIG", Consumers: 3, Replicas: 3},
				{Stream: "INST", Bucket: true, Messages: 812, Bytes: 260_000, MaxBytes: 1 << 30, Refuses: true, OldestAt: drawtest.At("03:00:00.000"), Replicas: 3},
				{Stream: "JOBS", Bucket: true, Bytes: 1000, Replicas: 3},
			},
			Kept:      []fleet.Kept{{Group: "ops", Bucket: "INST", Keys: 800, MaxKeys: 1000, Unreadable: 3}, {Group: "ops", Bucket: "OVERRIDES", Keys: 4000, MaxKeys: 500000, Bytes: 200 << 20, MaxBytes: 512 << 20}, {Group: "ops", Bucket: "CLAIM", Keys: 12000, MaxKeys: 250000}},
			Consumers: []fleet.ConsumerState{{Stream: "TRIG", Consumer: "any-ops", Group: "ops", Waiting: 20000, Unacknowledged: 8, Redelivered: 1}, {Stream: "EVT", Consumer: "ingest"}},
		})
	})
	drawtest.Golden(t, "history", func(tab *draw.Table) {
		drawHistory(tab, client.HistoryState{
			AsOf: drawtest.At("03:00:00.000"), StoreAnswers: true, Bytes: 3_000_000_000, OldestRun: drawtest.At("01:00:00.000"),
			Backlog: []fleet.IngestBacklog{{Stream: "TRIG"}, {Stream: "TRIG1", Unavailable: true}, {Stream: "EVT", Messages: 12000, Since: drawtest.At("03:00:00.000"), PerSecond: 74.6}, {Stream: "EVT1", Unavailable: true}},
		})
	})
	drawtest.Golden(t, "nodes-empty", func(tab *draw.Table) { drawNodes(tab, client.NodeList{Shards: 3, Unowned: []int{0, 1, 2}}) })
}
