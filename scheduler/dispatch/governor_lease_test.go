package dispatch

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
)

// A node may stand still until another has taken its lease. Awake again it must not govern
// for another moment: both would begin as many runs as the group may have.
func TestAGovernorWhoseLeaseHasEndedGovernsNoMore(t *testing.T) {
	start := time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)
	bustest.Run(t, start, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.Setup(t, broker, "node", 1)
		d, err := New(conn, Config{Node: "node"})
		if err != nil {
			t.Fatal(err)
		}
		lease, err := conn.AcquireLease(t.Context(), "role.dispatch-g", "node", nil)
		if err != nil {
			t.Fatal(err)
		}
		governs := func() time.Duration {
			began := time.Now()
			p := newPlacer(newGroup(d, "g"), cluster.Group{Dispatched: true, GroupLimits: cluster.GroupLimits{Limit: 1}})
			done := make(chan struct{})
			go func() { defer close(done); p.run(t.Context(), lease) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Error("it still governs after a minute, though nobody renewed its lease")
				conn.NC.Close()
			}
			return time.Since(began)
		}
		if took := governs(); took > jet.LeaseTTL {
			t.Errorf("it governs for %v, longer than its lease", took)
		}
		if took := governs(); took > 0 {
			t.Errorf("it governs for %v after its lease has ended", took)
		}
	})
}
