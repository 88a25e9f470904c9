package catalog

import (
	"log/slog"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
)

// The watch is not running here: what a list shows came from the write itself.
func TestAWriteIsSeenByTheListAfterIt(t *testing.T) {
	conn, log := connect(t, bustest.NewBroker(t), "ours"), slog.New(slog.DiscardHandler)
	c := New(conn, nil, nodes.New(conn, log), func(job.Name) {}, log)
	c.index.finishLoading()
	ctx := local(t.Context())
	list := func(err error, paused bool, expected int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if page, err := c.Find(ctx, Filter{Paused: &paused}, "", "", pageSize); err != nil || page.Total != expected {
			t.Errorf("%d jobs with paused %v, want %d; %v", page.Total, paused, expected, err)
		}
	}
	edit := cluster.Edit{At: time.Now(), Author: "ann"}
	_, err := c.Save(ctx, &job.Document{Job: entryOf("billing/x", 0, nil).Job}, edit, false)
	list(err, false, 1)
	_, _, err = c.SetPaused(ctx, "billing/x", edit, Pause{Paused: true})
	list(err, true, 1)
	list(c.Delete(ctx, "billing/x", edit), true, 0)
}
