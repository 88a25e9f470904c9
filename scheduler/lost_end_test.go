package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/journal"
)

// cursor returns the cursor of a shard.
func (w *world) cursor(shard int) *journal.Cursor {
	w.t.Helper()
	m, err := w.conn.Last(w.t.Context(), w.conn.TrigOf(shard), bus.SubjectCursor(shard))
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := journal.DecodeCursor(m.Header, m.Data)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func TestShardsWhoseOwnersKnewOfVersionsThatJOBSHasLostAreTakenOverTogether(t *testing.T) {
	const shards = 32 // several times as many as a node takes over at once
	runAt(t, start, shards, func(w *world) {
		w.put("g/j", secondly)
		w.startNode("a")
		time.Sleep(10 * time.Second)
		w.stopNode("a")
		bucket, err := w.conn.Jobs().Info(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for shard := range shards {
			cursor := w.cursor(shard)
			cursor.Jobs = journal.JobsMark{Made: bucket.Created, Seq: bucket.State.LastSeq + 100}
			msg, err := cursor.Msg()
			if err == nil {
				_, err = w.conn.JS.PublishMsg(w.t.Context(), msg)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
		w.startNode("b")
		time.Sleep(45 * time.Second)
		if n := w.nodes["b"].Owned(); n != shards {
			w.t.Errorf("after 45 s, b owns %d shards of %d", n, shards)
		}
	})
}
