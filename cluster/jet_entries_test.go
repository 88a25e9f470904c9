package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

// startBus starts NATS on real time, and connects to it.
func startBus(t *testing.T) *jet.Conn {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown() })
	conn, err := jet.Connect(jet.Config{URL: srv.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.NC.Close)
	return conn
}

// While a message of a subject replaces the one before it, NATS has neither among those that a
// consumer has yet to get.
func TestAKeyThatIsWrittenWhileABucketIsReadIsNotPassedOver(t *testing.T) {
	conn := startBus(t)
	kv, err := conn.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "B"})
	if err != nil {
		t.Fatal(err)
	}
	missed := 0
	const times = 300
	for n := range times {
		key := fmt.Sprintf("incident.%d", n%20)
		if _, err := kv.PutString(t.Context(), key, "opened"); err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() {
			for range 3 {
				if _, err := kv.PutString(t.Context(), key, "sent"); err != nil {
					written <- err
					return
				}
			}
			written <- nil
		}()
		found := false
		err := conn.Entries(t.Context(), "B", "incident.>", false, func(e jetstream.KeyValueEntry) error {
			found = found || e.Key() == key
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			missed++
		}
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	if missed > 0 {
		t.Errorf("a key was passed over %d of %d times", missed, times)
	}
}

// The consumer counts them among those that it has yet to give.
func TestKeysThatAreRemovedWhileABucketIsReadAreNotAwaited(t *testing.T) {
	conn := startBus(t)
	if _, err := conn.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "B"}); err != nil {
		t.Fatal(err)
	}
	const keys, removed = 600, 100 // all behind the first page
	for n := range keys {
		if _, err := conn.JS.Publish(t.Context(), fmt.Sprintf("$KV.B.instance.%d", n), nil); err != nil {
			t.Fatal(err)
		}
	}
	w, err := conn.WatchAll(t.Context(), "B")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Stop() }()
	<-w.Updates() // so the first page is on its way, and none other is asked for before it has been read
	for n := keys - removed; n < keys; n++ {
		if err := conn.Purge(t.Context(), "KV_B", fmt.Sprintf("$KV.B.instance.%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	wantCaughtUp(t, w, keys-removed)
}

// A consumer that is paused is like one on a replica that lags behind: it has a message that it does
// not give.
func TestAWatchDoesNotWaitForAConsumerThatLagsBehind(t *testing.T) {
	conn := startBus(t)
	if _, err := conn.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "B"}); err != nil {
		t.Fatal(err)
	}
	put := func(n int) {
		t.Helper()
		if _, err := conn.JS.Publish(t.Context(), fmt.Sprintf("$KV.B.instance.%d", n), nil); err != nil {
			t.Fatal(err)
		}
	}
	const keys = 500 // a page
	for n := range keys {
		put(n)
	}
	w, err := conn.WatchAll(t.Context(), "B")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Stop() }()
	<-w.Updates() // so the first page is on its way, and its end is not looked at before it has been read
	stream, err := conn.JS.Stream(t.Context(), "KV_B")
	if err != nil {
		t.Fatal(err)
	}
	for name := range stream.ConsumerNames(t.Context()).Name() {
		if _, err := stream.PauseConsumer(t.Context(), name, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	put(keys)
	wantCaughtUp(t, w, keys+1)
}

// wantCaughtUp reads on behind the first update, and checks how many keys there are before all is said.
func wantCaughtUp(t *testing.T, w jetstream.KeyWatcher, keys int) {
	t.Helper()
	late := time.After(30 * time.Second)
	for n := 1; ; n++ {
		select {
		case e := <-w.Updates():
			if e != nil {
				continue
			}
			if n != keys {
				t.Errorf("caught up after %d keys, there are %d", n, keys)
			}
			return
		case <-late:
			t.Fatalf("not caught up after %d keys; there are %d", n, keys)
		}
	}
}
