package cluster_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
)

// What has ended is worth more than what it has printed.
func TestAPingThatIsTooLargeForNATSIsStoredWithoutItsOutput(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		conn := clustertest.Setup(t, bustest.NewBrokerWith(t, "max_payload: 8MB", "max_payload: 256KB"), "first", 1)
		put := func(id, output string) (got bus.Ping) {
			t.Helper()
			p := &bus.Ping{ID: id, Job: "ops/backup", Kind: bus.PingEnd, Host: "web1", Output: output, OutputCut: 5}
			if err := cluster.PingsOf(conn).Put(t.Context(), p, id); err != nil {
				t.Fatal(err)
			}
			stream, err := conn.JS.Stream(t.Context(), bus.StreamEvt)
			if err != nil {
				t.Fatal(err)
			}
			m, err := stream.GetLastMsgForSubject(t.Context(), bus.SubjectEvent(0, "ops"))
			if err == nil {
				err = json.Unmarshal(m.Data, &got)
			}
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := put("0123456789abcdee", strings.Repeat("x", bus.MaxPingOutput)); len(got.Output) != bus.MaxPingOutput || got.OutputCut != 5 {
			t.Errorf("%d bytes are kept", len(got.Output))
		}
		got := put("0123456789abcdef", strings.Repeat("\x01", bus.MaxPingOutput)) // six bytes each in JSON
		if got.ID != "0123456789abcdef" || got.Host != "web1" || got.Output != "" || got.OutputCut != bus.MaxPingOutput+5 {
			t.Errorf("%+v", got)
		}
	})
}
