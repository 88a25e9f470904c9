package ingest_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
)

// A store passes over a write whose token it knows, so no two writes may share one, though
// the sequences of a stream that was made anew begin at 1 again.
func TestAStreamThatWasMadeAnewIsWrittenUnderTokensOfItsOwn(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Second)
		w.finish(fire{report, 0})
		time.Sleep(time.Minute)
		if err := w.conn.JS.DeleteStream(w.t.Context(), bus.StreamEvt); err != nil {
			t.Fatal(err)
		}
		if err := w.conn.Setup(w.t.Context(), cluster.Assets{Shards: shards, TrigBytes: 64 << 20, EvtBytes: 64 << 20, LogBytes: 64 << 20}); err != nil {
			t.Fatal(err)
		}
		w.finish(fire{report, 1})
		time.Sleep(5 * time.Minute)
		w.wantRows(2)
		for token, times := range w.store.taken() {
			if times > 1 {
				t.Errorf("%d writes share the token %s", times, token)
			}
		}
	})
}
