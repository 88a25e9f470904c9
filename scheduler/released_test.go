package scheduler_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestAnOwnerDeletesWhatItsPredecessorLeftBeforeItDecides(t *testing.T) {
	runAt(t, start, 1, func(w *world) {
		w.put("g/a", cron("* * * * *"))
		cursor := &journal.Cursor{Done: start, Node: "gone"}
		for seq := range uint64(11_000) { // more than an owner lets wait
			cursor.Released = append(cursor.Released, 100+seq)
		}
		m, err := cursor.Msg()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.conn.PublishBatch(w.t.Context(), []*nats.Msg{m}); err != nil {
			t.Fatal(err)
		}
		w.startNode("a")
		time.Sleep(time.Minute)
		w.wantDecided("g/a 00:01:00 pending schedule")
		last, err := w.conn.Last(w.t.Context(), bus.StreamTrig, bus.SubjectCursor(0))
		if err != nil {
			t.Fatal(err)
		}
		if cursor, err = journal.DecodeCursor(last.Header, last.Data); err != nil || len(cursor.Released) != 0 {
			t.Errorf("the cursor lists %d items to delete, want none: %v", len(cursor.Released), err)
		}
	})
}
