package ledger

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// asked is a store that counts what it is asked for.
type asked struct {
	logstore.Store
	times int
}

func (s *asked) Runs(context.Context, logstore.RunFilter) (logstore.RunPage, error) {
	s.times++
	return logstore.RunPage{}, nil
}

func TestWhatHasBeenReadAnswersNoOtherQuestion(t *testing.T) {
	from := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	to := from.Add(time.Hour)
	store := &asked{}
	read := &prefetched{Store: store, from: from, to: to, rows: map[job.Name][]runlog.Run{"g/a": {{FireTime: from}, {FireTime: to}}}}
	page, err := read.Runs(t.Context(), ofSchedule([]job.Name{"g/a"}, from, to))
	if err != nil || len(page.Runs) != 1 || store.times != 0 {
		t.Errorf("%d runs, %v; the store was asked %d times", len(page.Runs), err, store.times)
	}
	for name, change := range map[string]func(*logstore.RunFilter){
		"another job":    func(f *logstore.RunFilter) { f.Jobs = []job.Name{"g/b"} },
		"two jobs":       func(f *logstore.RunFilter) { f.Jobs = append(f.Jobs, "g/b") },
		"earlier":        func(f *logstore.RunFilter) { f.From = from.Add(-1) },
		"later":          func(f *logstore.RunFilter) { f.To = to.Add(1) },
		"a version":      func(f *logstore.RunFilter) { f.Version = 1 },
		"a status":       func(f *logstore.RunFilter) { f.Statuses = []job.Status{job.StatusMissed} },
		"other causes":   func(f *logstore.RunFilter) { f.Causes = nil },
		"all attempts":   func(f *logstore.RunFilter) { f.AllAttempts = true },
		"the next page":  func(f *logstore.RunFilter) { f.Cursor = "c" },
		"a smaller page": func(f *logstore.RunFilter) { f.Limit = 1 },
	} {
		store.times = 0
		f := ofSchedule([]job.Name{"g/a"}, from, to)
		change(&f)
		if _, err := read.Runs(t.Context(), f); err != nil || store.times != 1 {
			t.Errorf("%s: %v; the store was asked %d times", name, err, store.times)
		}
	}
}
