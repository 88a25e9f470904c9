package webapi

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/backfill"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestABackfillOfTooManyJobsIsRefusedWithTheirNumber(t *testing.T) {
	w := newWorld(t)
	names := make([]job.Name, backfill.MaxJobs+1)
	for i := range names {
		names[i] = job.Name(fmt.Sprintf("many/job-%03d", i))
		w.put(names[i], "0 0 1 1 *")
	}
	w.backfillsAsked("many jobs", map[string]any{"filter": map[string]any{"group": "many"}}, "selects 501 jobs; a backfill has at most 500")
	w.backfillsAsked("many names", map[string]any{"jobs": names}, "jobs", "500")
}

func TestABackfillOfTooManyFiresIsRefusedWithTheirNumber(t *testing.T) {
	w := newWorld(t)
	names := make([]job.Name, 11)
	for i := range names {
		names[i] = job.Name(fmt.Sprintf("seconds/job-%02d", i))
		w.put(names[i], "* * * * * ?")
	}
	w.backfillsAsked("many fires", map[string]any{"jobs": names}, "selects 108900 fires of 11 jobs; a backfill runs at most 100000")
	w.backfillsAsked("as many as there may be", map[string]any{"jobs": names[1:]})
}

// backfillsAsked asks what a backfill of all fires of 9900 seconds would run; it is refused with texts, if there are any.
func (w *world) backfillsAsked(name string, of map[string]any, refused ...string) {
	w.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	w.decide(now)
	owner(w, bus.VerbBackfills, func(journal.BackfillsRequest) (journal.BackfillList, error) { return journal.BackfillList{}, nil })
	of["name"], of["only"], of["from"], of["to"] = name, "all", now.Add(-10_000*time.Second), now.Add(-100*time.Second)
	const path = "/api/v1/backfills?dry_run=true"
	if len(refused) > 0 {
		w.problem(http.StatusBadRequest, "invalid", "POST", path, of, refused...)
		return
	}
	want[BulkBackfillResult](w, http.StatusOK, "POST", path, of)
}
