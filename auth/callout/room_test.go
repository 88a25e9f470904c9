package callout

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
)

func TestBudgetsGoByTheFullestStreamThoughOneIsSilent(t *testing.T) {
	bustest.Run(t, time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC), func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.SetupAs(t, broker, "server", cluster.Assets{Shards: 3, Partitions: 3, EvtBytes: 3 << 20})
		s := &Service{conn: conn, budgets: newBudgets(0), log: slog.New(slog.DiscardHandler)}
		want := func(when string, full bool) {
			t.Helper()
			s.lookAtRoom(t.Context())
			if got := s.budgets.rate < s.budgets.normal; got != full {
				t.Errorf("%s: the rate is %v of %v", when, s.budgets.rate, s.budgets.normal)
			}
		}
		want("at first", false)
		broker.Silence("EVT")
		content := make([]byte, 600<<10)
		_, _ = rand.Read(content) // which cannot be compressed
		if _, err := conn.JS.Publish(t.Context(), bus.SubjectEvent(1, "g"), content); err != nil {
			t.Fatal(err)
		}
		want("half of EVT1 is full, and EVT is silent", true)
		broker.Silence("EVT1")
		want("EVT1 is silent", true)
		broker.Silence("")
		if err := conn.Events().Purge(t.Context(), "EVT1", "", 1); err != nil {
			t.Fatal(err)
		}
		want("EVT1 is empty", false)
	})
}
