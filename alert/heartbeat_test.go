package alert_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAMonitorHearsFromACarillonThatFiresForAllShards(t *testing.T) {
	run(t, func(w *world) {
		leases, err := w.conn.Bucket(w.t.Context(), bus.BucketLease)
		if err != nil {
			w.t.Fatal(err)
		}
		own := func(shard int) {
			w.t.Helper()
			if _, err := leases.Put(w.t.Context(), fmt.Sprintf("shard.%d", shard), []byte(`{"node":"a"}`)); err != nil {
				w.t.Fatal(err)
			}
		}
		heard := func(want int) {
			w.t.Helper()
			w.mu.Lock()
			defer w.mu.Unlock()
			n := 0
			for _, r := range w.got {
				if r.host == "monitor.test" {
					n++
				}
			}
			if w.got = nil; n != want {
				w.t.Errorf("the monitor was called %d times, want %d", n, want)
			}
		}
		for shard := range shards - 1 {
			own(shard)
		}
		n := w.start("a", func(c *alert.Config) { c.HeartbeatURL = "https://monitor.test/ping/1" })
		time.Sleep(3 * time.Minute)
		heard(0) // a shard has no node
		own(shards - 1)
		time.Sleep(3 * time.Minute)
		heard(3)
		w.answers(func(request) int { return 500 }) // it is called again all the same
		time.Sleep(2 * time.Minute)
		heard(2)
		if err := leases.Delete(w.t.Context(), "shard.2"); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		heard(0)
		own(2)
		n.crash()
		time.Sleep(3 * time.Minute)
		heard(0) // nobody works
		w.start("b", func(c *alert.Config) { c.HeartbeatURL = "https://monitor.test/ping/1" })
		heard(1)
	})
}

func TestAHeartbeatURLMustBeAnAddress(t *testing.T) {
	run(t, func(w *world) {
		for _, address := range []string{"monitor", "ftp://monitor.test", "https://", ":"} {
			if _, err := alert.New(w.conn, alert.Config{HeartbeatURL: address}); !errors.Is(err, job.ErrInvalid) {
				w.t.Errorf("%q: %v", address, err)
			}
		}
	})
}
