package bench

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

func TestEachCopyOfAStreamIsOnAServerOfItsOwn(t *testing.T) {
	w, err := benchOptions{replicas: 3}.world(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	s, err := w.conn.JS.Stream(t.Context(), bus.StreamTrig)
	if err != nil {
		t.Fatal(err)
	}
	if info := s.CachedInfo(); info.Config.Replicas != 3 || info.Cluster == nil || len(info.Cluster.Replicas) != 2 {
		t.Errorf("%d copies, %+v", info.Config.Replicas, info.Cluster)
	}
}

// A consumer with copies counts a message as delivered before it hands it out. What a request leaves
// behind comes again only after a minute, and holds up what is read in order.
func TestPullsWithALimitOfBytesLeaveNothingBehindOnThreeCopies(t *testing.T) {
	w, err := benchOptions{replicas: 3}.world(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	const count, size = 2000, 1000
	if _, err := w.conn.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	for range count {
		if _, err := w.conn.JS.PublishAsync("s", make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	<-w.conn.JS.PublishAsyncComplete()
	if _, err := w.conn.JS.CreateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: "c", AckPolicy: jetstream.AckAllPolicy, MaxAckPending: 2 * count, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	for next := uint64(1); next <= count; {
		messages, err := w.conn.Pull(t.Context(), "S", "c", jet.PullRequest{Batch: 500, MaxBytes: 100 * size, NoWait: true})
		if next == 1 && errors.Is(err, nats.ErrNoResponders) {
			continue // this server has not heard of the consumer yet
		}
		if err != nil || len(messages) == 0 {
			t.Fatalf("%d of %d messages have come, %v", next-1, count, err)
		}
		for _, m := range messages {
			if meta, err := m.Metadata(); err != nil || meta.Sequence.Consumer != next {
				t.Fatalf("delivery %d came when %d was next, %v", meta.Sequence.Consumer, next, err)
			}
			next++
		}
	}
}

func TestReplicasThatCannotBeAreRefused(t *testing.T) {
	for _, o := range []benchOptions{{replicas: 2}, {replicas: 0}, {replicas: 3, nats: "nats.conf"}} {
		if _, err := o.world(t.Context()); err == nil || !strings.Contains(err.Error(), "--replicas") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
