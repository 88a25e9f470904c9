package bustest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
)

// holder holds a lease on one key whenever it can and notes the ticks at which
// it believes in it: until ttl after it last asked for a renewal that succeeded,
// by its own clock.
type holder struct {
	id   string
	kv   jetstream.KeyValue
	ttl  time.Duration
	held []time.Time
}

func (h *holder) run(ctx context.Context) {
	tick := time.NewTicker(h.ttl / 4)
	defer tick.Stop()
	var revision uint64
	var until time.Time
	for {
		asked := time.Now()
		var err error
		if revision, err = h.ask(ctx, revision); err == nil {
			until = asked.Add(h.ttl)
		} else {
			revision = 0
		}
		if now := time.Now(); now.Before(until) {
			h.held = append(h.held, now)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ask takes the lease, or replaces the one at revision by one with a fresh TTL.
func (h *holder) ask(ctx context.Context, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, h.ttl/4)
	defer cancel()
	if revision != 0 {
		if err := h.kv.Delete(ctx, "slot", jetstream.LastRevision(revision)); err != nil {
			return 0, err
		}
	}
	return h.kv.Create(ctx, "slot", []byte(h.id), jetstream.KeyTTL(h.ttl))
}

// TestALeaseMovesWhenItsHolderIsCutOff shows all of it together: TTLs in a KV
// bucket, a silent partition, the clocks of three clients.
func TestALeaseMovesWhenItsHolderIsCutOff(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		b := bustest.NewBroker(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()

		holders := make([]*holder, 3)
		for i := range holders {
			id := string(rune('a' + i))
			kv, err := jetStream(t, b.Connect(id)).CreateOrUpdateKeyValue(ctx,
				jetstream.KeyValueConfig{Bucket: "leases", LimitMarkerTTL: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			holders[i] = &holder{id: id, kv: kv, ttl: 20 * time.Second}
			go holders[i].run(ctx)
			time.Sleep(time.Second) // so that a is the first to ask
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		a, others := holders[0], holders[1:]
		if len(a.held) == 0 || len(others[0].held)+len(others[1].held) > 0 {
			t.Fatalf("ticks held before the partition: %d %d %d", len(a.held), len(others[0].held), len(others[1].held))
		}

		b.Partition("a")
		cut := time.Now()
		time.Sleep(2 * time.Minute)
		b.Heal("a")
		time.Sleep(time.Minute)
		cancel()
		synctest.Wait()

		last := a.held[len(a.held)-1]
		if last.Sub(cut) > a.ttl {
			t.Errorf("a believed in its lease until %v after the cut, longer than its TTL", last.Sub(cut))
		}
		var first time.Time
		for _, h := range others {
			if len(h.held) > 0 && (first.IsZero() || h.held[0].Before(first)) {
				first = h.held[0]
			}
		}
		if first.IsZero() {
			t.Fatal("nobody took over")
		}
		if !last.Before(first) {
			t.Errorf("two owners: a until %v, its successor from %v", last, first)
		}
	})
}
