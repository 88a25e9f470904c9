package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
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

// The runs of an instance have one condition, that the instance is served as before, so one that is in
// flight keeps the others out.
func TestRunsOfAnInstanceThatBeginTogetherAreStoredOnThreeCopies(t *testing.T) {
	w, err := benchOptions{replicas: 3}.world(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	store := state.New(w.conn.Conn)
	revision, err := store.PutInstance(t.Context(), &state.Instance{Group: "billing", Instance: "a", Holder: "bridge"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	fence := state.Fence{Group: "billing", Instance: "a", Revision: revision}
	var runs sync.WaitGroup
	for id := range int64(100) {
		runs.Go(func() {
			if err := store.PutRun(t.Context(), &state.Run{LogID: id, Trigger: &bus.Trigger{Job: "billing/report"}}, fence); err != nil {
				t.Errorf("run %d: %v", id, err)
			}
		})
	}
	runs.Wait()
}

func TestALeaseIsReleasedThoughARenewalIsInFlightOnThreeCopies(t *testing.T) {
	w, err := benchOptions{replicas: 3}.world(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for n := range 50 {
		key := fmt.Sprintf("bench.%d", n)
		held, err := w.conn.AcquireLease(t.Context(), key, "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		soon, cancel := context.WithTimeout(t.Context(), 50*time.Microsecond)
		_ = held.Renew(soon) // mostly sent, and not answered in time
		cancel()
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last, err := w.conn.Last(t.Context(), "KV_"+bus.BucketLease, "$KV."+bus.BucketLease+"."+key); err != nil || last.Header.Get("KV-Operation") == "" {
			t.Errorf("lease %d is held after its release, %v", n, err)
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
