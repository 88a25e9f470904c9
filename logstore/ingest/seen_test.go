package ingest

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestNewsTakeTheRoomOfWhatWasHeld(t *testing.T) {
	said := func(runs ...job.RunID) *batch {
		b := &batch{}
		for _, id := range runs {
			b.message = &message{subject: string(id)}
			b.add(logstore.Update{Kind: runlog.KindRecorded, RunID: id, Attempt: 1, Status: job.StatusPending, Cause: job.CauseSchedule})
		}
		return b
	}
	seen := newSeenRuns()
	parts := []*batch{said("a", "b"), said("c"), said("d", "e")}
	for _, id := range []job.RunID{"b", "c", "e"} {
		seen.waiting[attempt{id, 1}] = struct{}{}
	}
	b := seen.news(parts)
	got := ""
	for i := range b.updates {
		if got += string(b.updates[i].RunID); b.sources[i].subject != string(b.updates[i].RunID) {
			t.Errorf("update of %s is said to be of message %s", b.updates[i].RunID, b.sources[i].subject)
		}
	}
	if got != "bce" {
		t.Errorf("news are of runs %q, want those that wait: bce", got)
	}
	seen.release()
	seen.waiting[attempt{"c", 1}] = struct{}{}
	if b = seen.news([]*batch{said("a", "b"), said("c")}); len(b.updates) != 1 || b.updates[0].RunID != "c" {
		t.Errorf("news are %v, want those of run c", b.updates)
	}
	parts = []*batch{said("c", "d"), said("e")}
	room := &parts[0].updates[0]
	if b = seen.news(parts); &b.updates[0] != room {
		t.Error("news were copied to room of their own")
	}
}
