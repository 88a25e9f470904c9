package catalog

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestTheIndexCatchesUpAfterTheBusWasAway(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		ours, other := connect(t, broker, "ours"), connect(t, broker, "other")
		put := func(name job.Name) {
			t.Helper()
			if _, _, err := other.Jobs().Put(t.Context(), entryOf(name, 0, nil).Job, cluster.Edit{At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		put("a/before")
		x := newIndex(ours, func(job.Name) {}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		if got := listed(t, x, query{}); len(got) != 1 {
			t.Errorf("at first: %v", got)
		}

		broker.Partition("ours")
		put("a/while-cut-off")
		time.Sleep(time.Minute)
		broker.Heal("ours")
		time.Sleep(30 * time.Second)
		if got := listed(t, x, query{}); len(got) != 2 {
			t.Errorf("after the partition: %v", got)
		}

		broker.Stop()
		time.Sleep(time.Minute)
		broker.Start()
		time.Sleep(10 * time.Second)
		put("a/after-restart")
		time.Sleep(30 * time.Second)
		if got := listed(t, x, query{}); len(got) != 3 {
			t.Errorf("after the restart: %v", got)
		}
	})
}
