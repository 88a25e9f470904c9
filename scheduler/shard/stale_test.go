package shard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// dropsStale has a job fire each minute, try again after ten minutes, and drop what is stale.
func dropsStale(v *job.Version) {
	every(time.Minute, job.MisfireSkip)(v)
	v.Retry = job.Retry{Limit: 3, Backoff: job.BackoffConstant, Delay: job.Duration(10 * time.Minute), DropStale: true}
}

// endOf tells the machine of the end of the first attempt of the run that was due so many minutes
// after noon, at the instant of after.
func (b *bench) endOf(seq uint64, minutes int, s job.Status, after time.Duration) {
	b.m.Event(&bus.Event{
		Kind: bus.EventFinished, Job: "g/a", RunID: runAt(time.Duration(minutes) * time.Minute), Attempt: 1, Status: s,
	}, seq, noon.Add(after).UnixMilli())
}

// staleAt returns the line about the run of 12:0x that ends because that of 12:0y has succeeded.
func staleAt(minutes, later int) string {
	return fmt.Sprintf("12:%02d:00 g/a@1 cancelled schedule: it is not tried again: run %s of a later fire has succeeded",
		minutes, runAt(time.Duration(later)*time.Minute))
}

func TestAWaitingRetryIsDroppedWithTheBatchInWhichALaterFireSucceeds(t *testing.T) {
	b := newBench(t)
	b.put(time.Second, 1, dropsStale)
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	b.endOf(1, 1, job.StatusFailed, time.Minute+time.Second)
	b.want(b.step(time.Minute+time.Second, bus.MaxBatch), "12:01:00 g/a@1 queued schedule: attempt 1 failed; the next is due 10m later")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending schedule")
	b.endOf(2, 2, job.StatusSucceeded, 2*time.Minute+time.Second)
	b.want(b.step(2*time.Minute+time.Second, bus.MaxBatch), staleAt(1, 2))
	b.want(b.step(2*time.Minute+2*time.Second, bus.MaxBatch))
	if waits := b.waiting(); len(waits) != 0 {
		t.Errorf("the stream still has %v", waits)
	}
}

// waiting returns the kinds of the items that no stored cursor has released.
func (b *bench) waiting() (kinds []string) {
	for seq, d := range b.trig.deferred {
		if !b.trig.released[seq] {
			kinds = append(kinds, string(d.Kind))
		}
	}
	slices.Sort(kinds)
	return kinds
}

func TestAnAttemptThatFailsAfterALaterFireHasSucceededIsNotRepeatedByASuccessorEither(t *testing.T) {
	b := newBench(t)
	v := b.put(time.Second, 1, dropsStale)
	b.step(time.Minute, bus.MaxBatch)
	b.step(2*time.Minute, bus.MaxBatch)
	b.step(3*time.Minute, bus.MaxBatch)
	b.endOf(1, 2, job.StatusSucceeded, 3*time.Minute+time.Second)
	b.want(b.step(3*time.Minute+time.Second, bus.MaxBatch))
	if diff := strings.Join(b.waiting(), " "); diff != "alive alive succeeded" {
		t.Fatalf("the stream has %s", diff)
	}
	b.succeed()
	b.tell(v)
	for seq := range b.trig.last + 1 {
		if d := b.trig.deferred[seq]; d != nil {
			if err := b.m.PutDeferred(d, seq); err != nil {
				t.Fatal(err)
			}
		}
	}
	at := 3*time.Minute + 10*time.Second
	b.endOf(2, 3, job.StatusFailed, at) // later than the one that has succeeded
	b.endOf(3, 1, job.StatusFailed, at)
	b.want(b.step(at, bus.MaxBatch), "12:03:00 g/a@1 queued schedule: attempt 1 failed; the next is due 10m later",
		"12:01:00 g/a@1 queued schedule: attempt 1 failed; the next is due 10m later", staleAt(1, 2))
	if diff := strings.Join(b.waiting(), " "); diff != "retry" {
		t.Errorf("the stream has %s", diff)
	}
}

func TestMoreStaleRetriesThanABatchHasRoomForEndInThoseThatFollow(t *testing.T) {
	b := newBench(t)
	b.put(time.Second, 1, func(v *job.Version) {
		dropsStale(v)
		v.Retry.Delay = job.Duration(24 * time.Hour)
	})
	const runs = 40
	seq := uint64(0)
	for n := 1; n <= runs+1; n++ {
		b.step(time.Duration(n)*time.Minute, bus.MaxBatch)
		if n <= runs {
			seq++
			b.endOf(seq, n, job.StatusFailed, time.Duration(n)*time.Minute+time.Second)
			b.step(time.Duration(n)*time.Minute+time.Second, bus.MaxBatch)
		}
	}
	at := (runs+1)*time.Minute + time.Second
	for _, a := range b.m.runs.byJob[0].active { // were they called, so that each end takes a message
		a.caller = &journal.Caller{Job: "g/other", RunID: a.runID, Step: "s"}
		b.m.runs.byJob[0].called++
	}
	seq++
	b.endOf(seq, runs+1, job.StatusSucceeded, at)
	var dropped []string
	for batches := 0; len(dropped) < runs; batches++ {
		if batches == runs {
			t.Fatalf("after %d batches only %d runs have ended", batches, len(dropped))
		}
		got := b.step(at, 12)
		if len(got) == 0 || len(got) == runs {
			t.Fatalf("batch %d ends %d runs", batches, len(got))
		}
		dropped = append(dropped, got...)
	}
	for n := 1; n <= runs; n++ {
		if !slices.Contains(dropped, staleAt(n, runs+1)) {
			t.Errorf("%q is not among what was decided:\n%s", staleAt(n, runs+1), strings.Join(dropped, "\n"))
		}
	}
}

func TestOnlyTheScheduleSaysWhichRunIsLater(t *testing.T) {
	b := newBench(t)
	b.put(time.Second, 1, dropsStale)
	b.step(time.Minute, bus.MaxBatch)
	b.endOf(1, 1, job.StatusFailed, time.Minute+time.Second)
	b.step(time.Minute+time.Second, bus.MaxBatch)
	manual := job.NewRunID(noon.Add(90 * time.Second))
	if _, err := b.m.Requests.Submit(bus.TriggerRequest{RunID: manual, Job: "g/a", Cause: job.CauseManual}); err != nil {
		t.Fatal(err)
	}
	b.want(b.step(90*time.Second, bus.MaxBatch), "12:01:30 g/a@1 pending manual")
	b.m.Event(&bus.Event{Kind: bus.EventFinished, Job: "g/a", RunID: manual, Attempt: 1, Status: job.StatusSucceeded}, 2, noon.Add(95*time.Second).UnixMilli())
	b.want(b.step(95*time.Second, bus.MaxBatch)) // the retry still waits
	b.step(2*time.Minute, bus.MaxBatch)
	fill := journal.BackfillRequest{ID: "b1", Job: "g/a", AtOnce: 1, Fires: []int64{noon.Add(-time.Hour).UnixMilli()}}
	if _, err := b.m.Backfills.Ask(fill); err != nil {
		t.Fatal(err)
	}
	b.want(b.step(2*time.Minute+time.Second, bus.MaxBatch), "11:00:00 g/a@1 pending backfill: backfill b1: 1 of 1")
	b.endOf(3, 2, job.StatusSucceeded, 2*time.Minute+2*time.Second)
	b.want(b.step(2*time.Minute+2*time.Second, bus.MaxBatch), staleAt(1, 2))
	old := job.BackfillRunID("g/a", fill.Fires[0], "b1")
	b.m.Event(&bus.Event{Kind: bus.EventFinished, Job: "g/a", RunID: old, Attempt: 1, Status: job.StatusFailed}, 4, noon.Add(125*time.Second).UnixMilli())
	b.want(b.step(125*time.Second, bus.MaxBatch), "11:00:00 g/a@1 queued backfill: attempt 1 failed; the next is due 10m later")
}

func TestAStaleRunInPiecesRepeatsNoneOfThem(t *testing.T) {
	b := newBench(t)
	b.put(time.Second, 1, func(v *job.Version) {
		dropsStale(v)
		v.Map = &job.Map{Pieces: 2}
	})
	older := b.publish(time.Minute)
	later := b.publish(2 * time.Minute)
	seq := uint64(0)
	at := 2*time.Minute + 5*time.Second
	b.ends(&seq, at, job.StatusSucceeded, later.pieces...)
	b.want(b.step(at, bus.MaxBatch), "12:02:00 g/a@1 succeeded schedule")
	b.ends(&seq, at, job.StatusSucceeded, older.pieces[0])
	b.ends(&seq, at, job.StatusFailed, older.pieces[1])
	b.want(b.step(at+time.Second, bus.MaxBatch),
		"12:01:00 g/a@1 failed schedule: 1 of 2 pieces succeeded; 1 failed",
		"12:01:00 g/a@1 queued schedule: 1 piece of 2 did not succeed; attempt 2 repeats 1 of them 10m later",
		staleAt(1, 2))
	if waits := b.waiting(); len(waits) != 0 {
		t.Errorf("the stream still has %v", waits)
	}
}
