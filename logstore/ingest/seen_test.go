package ingest

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// announcing returns a record of a rush, as ingest pulls it.
func announcing(t *testing.T, first, runs int) *message {
	t.Helper()
	r := &journal.Record{Shard: 1, Epoch: 1, Commit: "1.1", Node: "a", At: time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)}
	o := journal.Outcome{Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: r.At}
	for i := range runs {
		o.Jobs = append(o.Jobs, journal.JobVersion(job.Name("g/"+strconv.Itoa(first+i)), 1))
	}
	r.Outcomes = []journal.Outcome{o}
	m, err := r.Msg()
	if err != nil {
		t.Fatal(err)
	}
	return &message{subject: m.Subject, header: m.Header, data: m.Data, seq: uint64(first)}
}

func TestRecordsThatAreHeldTakeLittleMemory(t *testing.T) {
	const records, lines = 40, 500
	metrics, err := newMetrics(prometheus.NewRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &feed{Ingest: &Ingest{metrics: metrics}, seen: newSeenRuns(seenMax), decode: decodeRecord}
	var messages []*message
	for i := range records {
		messages = append(messages, announcing(t, i*lines, lines))
	}
	before := heap()
	if n, pressing := f.expect(t.Context(), messages); n != records*lines || pressing {
		t.Fatalf("%d lines wait, pressing %t", n, pressing)
	}
	if each := (heap() - before) / (records * lines); each > 200 {
		t.Errorf("a line that is held takes %d bytes", each)
	}
	all := f.news(messages, false)
	if len(all.updates) != records*lines {
		t.Fatalf("news are %d updates, want all %d", len(all.updates), records*lines)
	}
	last := all.updates[len(all.updates)-1].RunID
	for i := range all.updates { // their events, but for one
		if u := &all.updates[i]; u.RunID != last {
			u.CommittedAt = u.At
		}
	}
	f.seen.note(all.updates)
	if b := f.news(messages, false); len(b.updates) != 1 || b.updates[0].RunID != last || b.sources[0].message != messages[records-1] {
		t.Errorf("%d lines are new to the store, want only that of the run without an event", len(b.updates))
	}
}

// The event of a run that waits for an executor tells less than the record: without its line, the run
// would be unknown until it begins.
func TestARunThatWaitsIsStillNews(t *testing.T) {
	seen := newSeenRuns(seenMax)
	waits := logstore.Update{RunID: "waits", Attempt: 1, Kind: runlog.KindHeld, CommittedAt: time.Now()}
	begun := logstore.Update{RunID: "begun", Attempt: 1, Kind: runlog.KindStarted, CommittedAt: time.Now()}
	lines := []logstore.Update{{RunID: "waits", Attempt: 1}, {RunID: "begun", Attempt: 1}}
	seen.expect(lines)
	seen.note([]logstore.Update{waits, begun})
	if n := seen.unseen(); n != 1 {
		t.Errorf("%d runs are unknown to the store, want the one that waits", n)
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

// A NATS server ends a connection for which more waits than max_pending, by default 64 MiB.
func TestAllFeedsTogetherAskForLessThanNATSKeepsForAConnection(t *testing.T) {
	for _, n := range []bus.Partitions{1, 3, bus.MaxPartitions} {
		bustest.Run(t, time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC), func(t *testing.T) {
			conn := clustertest.SetupAs(t, bustest.NewBroker(t), "test", cluster.Assets{Shards: 16, Partitions: n})
			in, err := New(conn, nil, Config{})
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for _, f := range in.feeds() {
				if total += f.bytes; f.bytes < 1<<20 {
					t.Errorf("with %d partitions %s asks for %d bytes, and one message may have more", n, f.stream, f.bytes)
				}
			}
			if total > 52<<20 {
				t.Errorf("with %d partitions all of them ask for %d bytes", n, total)
			}
		})
	}
}
