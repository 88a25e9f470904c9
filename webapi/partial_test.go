package webapi

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// replaced is a store for which another one answers who takes that.
type replaced struct {
	logstore.Store
	has runlog.Partial
}

func (s replaced) StandIn() *runlog.Partial { return &s.has }

func (s replaced) say(ctx context.Context) {
	if w := logstore.WitnessOf(ctx); w != nil {
		w.Say(s.has)
	}
}

func (s replaced) Runs(ctx context.Context, f logstore.RunFilter) (logstore.RunPage, error) {
	s.say(ctx)
	return s.Store.Runs(ctx, f)
}

func (s replaced) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	s.say(ctx)
	return s.Store.Run(ctx, id)
}

func (s replaced) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]runlog.Run, error) {
	s.say(ctx)
	return s.Store.LastRuns(ctx, jobs, n)
}

func (s replaced) Report(ctx context.Context, f logstore.ReportFilter) (logstore.Report, error) {
	s.say(ctx)
	return s.Store.Report(ctx, f)
}

func TestAnAnswerThatIsNotOfTheWholeHistorySaysSo(t *testing.T) {
	has := runlog.Partial{Since: noon.Add(-time.Hour), AsOf: noon.Add(5 * time.Millisecond)}
	w := newWorld(t, func(_ *Config, w *world) { w.store = replaced{w.store, has} })
	w.put("billing/x", "@daily")
	run := begun("billing/x", noon)
	w.history(run)
	for path, partial := range map[string]bool{
		"/runs": true, "/runs/" + string(run.RunID): true, "/runs/" + string(run.RunID) + "/logs": true, "/jobs": true, "/jobs?week=true&runs=0": false, "/jobs/billing/x": true, "/overview": true,
		// What adds up years, or judges by what is missing, takes no such answer.
		"/reports/runs": false, "/runs/export?format=csv": false, "/jobs/billing/x/ledger": false, "/ledger": false,
	} {
		a := w.send("GET", "/api/v1"+path, nil)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.text)
		}
		since, asOf := a.header.Get("Carillon-Since"), a.header.Get("Carillon-As-Of")
		if partial && (since != "2026-01-05T11:00:00Z" || asOf != "2026-01-05T12:00:00.005Z") || !partial && since+asOf != "" {
			t.Errorf("%s says since %q and as of %q", path, since, asOf)
		}
	}
	state, _ := want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil)
	if state.StandIn == nil || *state.StandIn != has || state.StoreAnswers {
		t.Errorf("the state of the history is %+v", state)
	}
}

// What changes something must not rest on what may be missing; but whose run it is that is
// to be cancelled, the streams tell as well.
func TestWhatChangesSomethingAsksTheWholeHistory(t *testing.T) {
	for path, want := range map[string]bool{"runs/x/cancel": true, "runs/x/rerun": false, "runs/x/mark": false, "jobs/counts": true, "jobs/bulk": false} {
		if got := mayBePartial("POST", "/api/v1/"+path); got != want {
			t.Errorf("%s takes a partial answer: %v; want %v", path, got, want)
		}
	}
}
