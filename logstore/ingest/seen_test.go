package ingest

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/cluster/clustertest"
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
	seen := newSeenRuns(seenMax)
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

func TestNewsOfARushAreCopiedOnce(t *testing.T) {
	seen := newSeenRuns(seenMax)
	parts := make([]*batch, 100)
	for p := range parts {
		parts[p] = &batch{}
		for i := range 100 {
			id := job.RunID(strconv.Itoa(100*p + i))
			parts[p].add(logstore.Update{Kind: runlog.KindRecorded, RunID: id, Attempt: 1, Status: job.StatusPending, Cause: job.CauseSchedule})
		}
		seen.expect(parts[p].updates)
	}
	allocations := testing.AllocsPerRun(1, func() {
		if b := seen.news(parts); len(b.updates) != 100*100 {
			t.Fatalf("news are %d updates, want all", len(b.updates))
		}
	})
	if allocations > 10 { // the batch, its updates and their messages; the race detector adds some
		t.Errorf("news took %v allocations, want a few", allocations)
	}
}

func TestARunThatWasSeenDoesNotKeepTheTextOfItsEvent(t *testing.T) {
	const events, length = 64, 1 << 20
	before := heap()
	seen := newSeenRuns(events)
	for i := range events {
		text := strconv.Itoa(1000+i) + strings.Repeat("x", length)
		seen.note([]logstore.Update{{RunID: job.RunID(text[:4]), Attempt: 1, CommittedAt: time.Now()}})
	}
	if kept := heap() - before; kept > events*length/4 {
		t.Errorf("%d runs keep %d MB in memory, as much as their events", len(seen.recent), kept>>20)
	}
	if len(seen.recent) != events {
		t.Errorf("%d runs were seen, want %d", len(seen.recent), events)
	}
}

// heap returns how much of the heap is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestPartitionsRememberNoMoreTogetherThanOne(t *testing.T) {
	for _, n := range []bus.Partitions{1, 4} {
		bustest.Run(t, time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC), func(t *testing.T) {
			conn := clustertest.SetupAs(t, bustest.NewBroker(t), "test", cluster.Assets{Shards: 4, Partitions: n})
			in, err := New(conn, nil, Config{})
			if err != nil {
				t.Fatal(err)
			}
			runs, lines := 0, 0
			for _, f := range in.feeds() {
				lines += f.holdLines
				if f.seen == nil || f.queue {
					continue
				}
				for i := range 3 * seenMax {
					f.seen.note([]logstore.Update{{RunID: job.RunID(strconv.Itoa(i)), Attempt: 1, CommittedAt: time.Now()}})
				}
				runs += len(f.seen.recent) + len(f.seen.older)
			}
			if runs != 2*seenMax || lines != holdLines {
				t.Errorf("with %d partitions, %d runs are remembered and %d lines held; want %d and %d", n, runs, lines, 2*seenMax, holdLines)
			}
		})
	}
}
