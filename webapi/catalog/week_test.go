package catalog

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// slow is a log store whose reports take as long as one says.
type slow struct {
	logstore.Store
	takes time.Duration
	runs  int // of its one job, one more with each report
}

func (s *slow) Report(ctx context.Context, _ logstore.ReportFilter) (logstore.Report, error) {
	s.runs++
	runs := s.runs
	select {
	case <-ctx.Done():
		return logstore.Report{}, ctx.Err()
	case <-time.After(s.takes):
		return logstore.Report{Rows: []runlog.ReportRow{{Job: "billing/x", Statuses: map[job.Status]int{job.StatusSucceeded: runs}}}}, nil
	}
}

func TestNobodyWaitsForAWeekThatIsReadAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &week{store: &slow{takes: 3 * time.Second}, index: newIndex(nil, nil, slog.New(slog.DiscardHandler)), log: slog.New(slog.DiscardHandler)}
		check := func(what string, ask func() map[job.Name]api.JobWeek, executed int, after time.Duration) {
			t.Helper()
			began := time.Now()
			var want map[job.Name]api.JobWeek
			if executed > 0 {
				want = map[job.Name]api.JobWeek{"billing/x": {Executed: executed}}
			}
			if diff := cmp.Diff(want, ask()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
			if took := time.Since(began); took != after {
				t.Errorf("%s: took %v, want %v", what, took, after)
			}
		}
		known := func() map[job.Name]api.JobWeek { return w.known(t.Context()) }
		call := func() map[job.Name]api.JobWeek {
			of, err := w.call(t.Context())
			if err != nil {
				t.Error(err)
			}
			return of
		}
		check("at first, by who can do without", known, 0, weekPatience)
		check("at first, by who cannot", call, 1, 3*time.Second-weekPatience)
		check("at once after that", call, 1, 0)
		time.Sleep(weekShare * 3 * time.Second)
		check("when it has become old", call, 1, 0)
		check("while it is read anew", known, 1, 0)
		time.Sleep(3 * time.Second)
		synctest.Wait() // both wake at the same instant
		check("once it was read anew", known, 2, 0)
		time.Sleep(weekOld)
		check("when it is too old", known, 0, weekPatience)
		time.Sleep(3 * time.Second)
		synctest.Wait() // both wake at the same instant
		check("after that", known, 3, 0)
	})
}

func TestAWeekWithoutRunsIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{runs: -1}
		w := &week{store: none{store}, index: newIndex(nil, nil, slog.New(slog.DiscardHandler)), log: slog.New(slog.DiscardHandler)}
		for _, s := range []logstore.Store{none{store}, store} {
			w.store = s
			of, err := w.call(t.Context())
			if _, some := s.(none); err != nil || some != (len(of) == 0) {
				t.Errorf("%v %v", of, err)
			}
		}
	})
}

// none is a log store of no runs.
type none struct{ logstore.Store }

func (none) Report(context.Context, logstore.ReportFilter) (logstore.Report, error) {
	return logstore.Report{}, nil
}
