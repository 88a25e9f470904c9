package catalog

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
)

// The watch is not running here: what a list shows came from the write itself.
func TestAWriteIsSeenByTheListAfterIt(t *testing.T) {
	conn, log := connect(t, bustest.NewBroker(t), "ours"), slog.New(slog.DiscardHandler)
	c := New(conn, nil, nodes.New(conn, log), Limits{}, func(job.Name) {}, log)
	c.index.finishLoading()
	ctx := local(t.Context())
	list := func(err error, paused bool, expected int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if page, err := c.Search().Find(ctx, Filter{Paused: &paused}, "", "", pageSize); err != nil || page.Total != expected {
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

func TestAGroupHasNoMoreJobsThanItMay(t *testing.T) {
	conn, log := connect(t, bustest.NewBroker(t), "ours"), slog.New(slog.DiscardHandler)
	c := New(conn, nil, nodes.New(conn, log), Limits{Jobs: 2, Bytes: 2000}, func(job.Name) {}, log)
	c.index.finishLoading()
	ctx, edit := local(t.Context()), cluster.Edit{At: time.Now(), Author: "ann"}
	save := func(name job.Name, size int, dry bool, want string) {
		t.Helper()
		j := entryOf(name, 0, nil).Job
		j.Description = strings.Repeat("x", size)
		_, err := c.Save(ctx, &job.Document{Job: j}, edit, dry)
		if problems := job.Problems(err); want == "" && err != nil || want != "" && (len(problems) != 1 || problems[0].Field != "job" || !strings.Contains(problems[0].Reason, want)) {
			t.Errorf("%s of %d bytes: %v, want %q", name, size, err, want)
		}
	}
	const many, large = "group billing has 2 jobs, and may have no more", "may have 2000"
	save("billing/a", 100, false, "")
	save("billing/b", 100, false, "")
	save("billing/c", 0, true, many)
	save("billing/c", 0, false, many)
	save("ops/a", 100, false, "") // another group
	save("billing/a", 2000, true, large)
	save("billing/a", 2000, false, large)
	save("billing/a", 110, false, "")
	c.limits.Bytes = 100 // whoever has more than a lower limit may still make jobs smaller, pause and delete them
	save("billing/a", 111, false, "may have 100")
	save("billing/a", 50, false, "")
	if _, _, err := c.SetPaused(ctx, "billing/a", edit, Pause{Paused: true}); err != nil {
		t.Error(err)
	}
	if err := c.Delete(ctx, "billing/a", edit); err != nil {
		t.Error(err)
	}
	c.limits.Bytes = 2000
	save("billing/c", 100, false, "")
	if _, held := c.index.held["billing"]; !held || c.index.held["billing"].jobs != 2 {
		t.Errorf("%+v", c.index.held)
	}
}
