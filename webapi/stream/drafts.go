package stream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	// maxDrafts is how many tests of drafts a watch knows.
	maxDrafts = 1000
	// findWithin is how long a watch waits for the history before it begins without.
	findWithin = 3 * time.Second
)

// findDrafts asks the history which tests of drafts run: a watch shows none of their lines, as a
// search finds none. Those that begin later are heard of before they print anything.
func (w *watch) findDrafts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	page, err := w.store.Runs(ctx, logstore.RunFilter{Causes: []job.Cause{job.CauseTest}, Statuses: []job.Status{job.StatusRunning, job.StatusPending}, Limit: maxDrafts})
	if err != nil {
		w.log.DebugContext(ctx, "running tests of drafts are not known", "error", err)
		return
	}
	for i := range page.Runs {
		w.drafts[page.Runs[i].RunID] = true
	}
}

// takeEvent remembers tests of drafts.
func (w *watch) takeEvent(m *nats.Msg) {
	for e, err := range w.conn.Events().Decode(m.Subject, m.Header, m.Data, time.Now()) {
		if err != nil || e.Cause != job.CauseTest {
			continue
		}
		if len(w.drafts) >= maxDrafts {
			clear(w.drafts)
		}
		w.drafts[e.RunID] = true
	}
}
