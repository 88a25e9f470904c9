package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func TestASaveIsRefusedWhileALiveServerCannotReadIt(t *testing.T) {
	inCluster(t, func(w *world) {
		ctx, stop := context.WithCancel(w.t.Context())
		defer stop()
		go w.conn.Nodes().Announce(ctx, "present", slog.New(slog.DiscardHandler))
		before := w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()})
		if before.Format != 1 {
			t.Errorf("saved with format %d", before.Format)
		}
		old, err := w.conn.AcquireLease(ctx, "server.old", "old", map[string]int{"format": 0})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = w.conn.Jobs().Put(ctx, aJob("g/a", "2 * * * *"), cluster.Edit{At: time.Now()})
		if !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "which server old cannot read: upgrade all servers first") {
			t.Errorf("an edit: %v", err)
		}
		if err := w.conn.Jobs().Delete(ctx, "g/a", cluster.Edit{At: time.Now()}); !errors.Is(err, job.ErrConflict) {
			t.Errorf("a deletion: %v", err)
		}
		if now, err := w.conn.Jobs().Get(ctx, "g/a"); err != nil || now.Revision != before.Revision {
			t.Errorf("%+v, %v", now, err)
		}
		if _, changed, err := w.conn.Jobs().Put(ctx, aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()}); changed || err != nil {
			t.Errorf("what is there was saved again: %v, %v", changed, err)
		}
		if err := old.Release(ctx); err != nil {
			t.Fatal(err)
		}
		w.put(aJob("g/a", "2 * * * *"), cluster.Edit{At: time.Now()})
	})
}

func TestAServerThatDiedBlocksNoSaveOnceItsLeaseHasEnded(t *testing.T) {
	inCluster(t, func(w *world) {
		if _, err := w.conn.AcquireLease(w.t.Context(), "server.old", "old", nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.conn.Jobs().Put(w.t.Context(), aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()}); !errors.Is(err, job.ErrConflict) {
			t.Errorf("while it may live: %v", err)
		}
		time.Sleep(jet.LeaseTTL + time.Second)
		w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()})
	})
}
