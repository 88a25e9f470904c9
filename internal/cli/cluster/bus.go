package cluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func newGetBusCommand() *cobra.Command {
	return cli.List[client.BusState]{
		Use:   "bus",
		Short: "Show the NATS streams, their replicas and consumers",
		Long: "Show the NATS server, the size of its streams and their limits, whether all replicas are in sync,\n" +
			"the consumers with the largest backlog, and the groups that keep most in the buckets that executors\n" +
			"write. -o json and -o yaml include all buckets.",
		Example: "  carillon get bus\n  carillon get bus -o json | jq .durability",
		Fetch: func(ctx context.Context, api *client.API) (client.BusState, error) {
			return client.Read[client.BusState](api.GetBus(ctx))
		},
		Columns: drawBus,
	}.Command()
}

func drawBus(t *draw.Table, s client.BusState) {
	server := "NATS " + s.Version + ", server " + s.Server
	if s.Cluster != "" {
		server += " of the cluster " + s.Cluster
	}
	t.Line(server + ", " + draw.Bytes(int64(min(s.Bytes, 1<<62))) + " on disk")
	switch s.Durability {
	case fleet.OneCopy:
		t.Line("1 replica: data survives a restart but not the loss of a disk; see --replicas")
	case fleet.Replicated:
		t.Line(fmt.Sprintf("%d replicas, all in sync", s.Replicas))
	case fleet.Degraded:
		t.Line(fmt.Sprintf("DEGRADED: of %d replicas, some are behind or away", s.Replicas))
	}
	t.Line("")
	t.Row("STREAM", "MESSAGES", "SIZE", "FULL", "OLDEST", "COPIES", "CONSUMERS")
	buckets, held := 0, uint64(0)
	for _, st := range s.Streams {
		if st.Bucket {
			if len(st.Behind) == 0 && st.MaxBytes == 0 { // only those that executors write have a bound
				buckets, held = buckets+1, held+st.Bytes
				continue
			}
		}
		copies := strconv.Itoa(st.Replicas)
		if len(st.Behind) > 0 {
			copies += " (behind: " + strings.Join(st.Behind, ", ") + ")"
		}
		full := "-"
		if st.MaxBytes > 0 {
			full = fmt.Sprintf("%d %%", uint64(100*float64(st.Bytes)/float64(st.MaxBytes)))
		}
		t.Row(st.Stream, draw.Thousands(int64(min(st.Messages, 1<<62))), draw.Bytes(int64(min(st.Bytes, 1<<62))), full, t.Instant(st.OldestAt), copies, strconv.Itoa(st.Consumers))
	}
	t.Line(fmt.Sprintf("and %d other buckets with %s", buckets, draw.Bytes(int64(min(held, 1<<62)))))
	if len(s.Kept) > 0 {
		t.Line("")
		t.Row("GROUP", "KEEPS IN", "KEYS", "OF AT MOST", "BYTES", "OF AT MOST", "UNREADABLE")
		for _, k := range s.Kept {
			size, most := "-", "-"
			if k.MaxBytes > 0 {
				size, most = draw.Bytes(k.Bytes), draw.Bytes(k.MaxBytes)
			}
			t.Row(k.Group, k.Bucket, draw.Thousands(int64(min(k.Keys, 1<<62))), draw.Thousands(int64(k.MaxKeys)), size, most, strconv.Itoa(k.Unreadable))
		}
	}
	if len(s.Consumers) == 0 {
		return
	}
	t.Line("")
	t.Row("CONSUMER", "STREAM", "WAITING", "UNACKNOWLEDGED", "REDELIVERED")
	for _, c := range s.Consumers {
		t.Row(t.Cell(c.Consumer, 60), c.Stream, draw.Thousands(int64(min(c.Waiting, 1<<62))), strconv.Itoa(c.Unacknowledged), strconv.Itoa(c.Redelivered))
	}
}
