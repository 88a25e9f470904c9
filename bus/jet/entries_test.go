package jet_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/embedded"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// While a message of a subject replaces the one before it, NATS has neither among those that a
// consumer has yet to get.
func TestAKeyThatIsWrittenWhileABucketIsReadIsNotPassedOver(t *testing.T) {
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
