package ingest

import (
	"strings"
	"sync"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// seenRuns knows which runs the store has heard of by their events. A line of a record
// that only announces such a run is no news any more, and to write it first would
// cost as much as the event does.
//
// It is a memory of this process, and bounded: a line too many changes nothing.
type seenRuns struct {
	most    int                  // recent has no more
	mu      sync.Mutex           // guards all below
	waiting map[attempt]struct{} // of lines that are held back
	recent  map[attempt]struct{} // heard of, and not held back by then
	older   map[attempt]struct{} // recent, until that was full
}

type attempt struct {
	run    job.RunID
	number int
}

// seenMax bounds the runs in seenRuns.recent, of all partitions together.
const seenMax = 50_000

func newSeenRuns(most int) *seenRuns {
	return &seenRuns{most: most, waiting: map[attempt]struct{}{}, recent: map[attempt]struct{}{}}
}

// note takes in updates by events that the store has.
func (t *seenRuns) note(updates []logstore.Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range updates {
		u := &updates[i]
		if u.CommittedAt.IsZero() || u.Kind == runlog.KindHeld {
			continue // it tells less than the record
		}
		key := attempt{u.RunID, u.Attempt}
		if _, ok := t.waiting[key]; ok {
			delete(t.waiting, key)
			continue
		}
		if len(t.recent) >= t.most {
			t.older, t.recent = t.recent, make(map[attempt]struct{}, t.most)
		}
		key.run = job.RunID(strings.Clone(string(key.run))) // else it keeps the text of its whole event
		t.recent[key] = struct{}{}
	}
}

// expect makes events of the updates' runs count, until release.
func (t *seenRuns) expect(updates []logstore.Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range updates {
		key := attempt{updates[i].RunID, updates[i].Attempt}
		_, recent := t.recent[key]
		_, older := t.older[key]
		if !recent && !older {
			t.waiting[key] = struct{}{}
		}
	}
}

// unseen returns how many of the held runs the store has not heard of.
func (t *seenRuns) unseen() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

// news adds to b those lines of a record that are new to the store.
func (t *seenRuns) news(lines, b *batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b.updates == nil { // in a rush, to make room step by step would take three times as much
		b.updates, b.sources = make([]logstore.Update, 0, len(t.waiting)), make([]source, 0, len(t.waiting))
	}
	for i := range lines.updates {
		u := &lines.updates[i]
		if _, waits := t.waiting[attempt{u.RunID, u.Attempt}]; waits || !announces(u) {
			b.updates, b.sources = append(b.updates, *u), append(b.sources, lines.sources[i])
		}
	}
}

// release expects nothing any more.
func (t *seenRuns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.waiting)
}

// announces reports whether an update tells nothing that an event of its run does
// not, and nobody waits for it: who asks for a run looks for it at once.
func announces(u *logstore.Update) bool {
	return u.Plain() && u.Status == job.StatusPending && u.Cause != job.CauseManual && u.Cause != job.CauseAPI && u.Cause != job.CauseTest
}
