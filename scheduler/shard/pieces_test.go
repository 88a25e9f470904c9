package shard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/journal"
)

// publish stores what a step at so long after noon decides, nil if that is nothing.
func (b *bench) publish(after time.Duration) *stored {
	b.t.Helper()
	batch := b.m.Step(noon.Add(after).UnixMilli(), bus.MaxBatch)
	if batch == nil {
		return nil
	}
	s := b.trig.publish(batch.Messages)
	if s == nil {
		b.t.Fatal("refused")
	}
	b.m.Committed(s.first)
	s.pieces, s.triggers = split(s.triggers)
	return s
}

// ends tells the machine that pieces have ended.
func (b *bench) ends(seq *uint64, after time.Duration, s job.Status, pieces ...*bus.Trigger) {
	for _, t := range pieces {
		e := bus.EventOf(t, bus.EventFinished, noon.Add(after))
		e.Status = s
		*seq++
		b.m.Event(e, *seq, noon.Add(after).UnixMilli())
	}
}

func inPieces(m job.Map) func(*job.Version) {
	return func(v *job.Version) {
		once := noon.Add(time.Second)
		v.Schedule.Once, v.Map = &once, &m
	}
}

func TestAFireOfThousandsOfPiecesLeavesRoomForOthers(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, inPieces(job.Map{Pieces: bus.MaxPieces}))
	b.put(0, 1, func(v *job.Version) {
		every(time.Second, job.FireAll)(v)
		v.Job.Job = "g/tick"
	})
	b.step(0, bus.MaxBatch)
	ticks, sent, steps, seen := 0, 0, 0, map[int]bool{}
	for after := time.Second; sent < bus.MaxPieces; after += time.Second {
		s := b.publish(after)
		if s == nil || len(s.pieces) > piecesAtOnce {
			t.Fatalf("after %s: %+v", after, s)
		}
		for _, p := range s.pieces {
			if seen[p.Index] || p.Total != bus.MaxPieces {
				t.Fatalf("piece %d of %d is triggered again", p.Index, p.Total)
			}
			seen[p.Index] = true
		}
		steps++
		ticks += len(s.triggers)
		sent += len(s.pieces)
		if items := len(s.deferred); items != 1 {
			t.Fatalf("%d items say how far the run is; want 1", items)
		}
	}
	if ticks != steps || steps != (bus.MaxPieces+piecesAtOnce-1)/piecesAtOnce {
		t.Errorf("%d pieces took %d steps, in which the other job fired %d times", sent, steps, ticks)
	}
}

func TestAStepSaysOnceHowFarARunIsHoweverManyPiecesHaveEnded(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, inPieces(job.Map{Pieces: 250}))
	b.step(0, bus.MaxBatch)
	first := b.publish(time.Second)
	var seq uint64
	b.ends(&seq, 2*time.Second, job.StatusSucceeded, first.pieces[:249]...)
	s := b.publish(2 * time.Second)
	if len(s.deferred) != 1 || strings.Count(s.deferred[0].Pieces.States, "s") != 249 || s.record != nil {
		t.Errorf("%d items, and the record %+v", len(s.deferred), s.record)
	}
	b.ends(&seq, 3*time.Second, job.StatusSucceeded, first.pieces[249], first.pieces[249])
	b.want(b.step(3*time.Second, bus.MaxBatch), "12:00:01 g/a@1 succeeded schedule")
	if len(b.m.runs.byID) != 0 {
		t.Error("the run is alive still")
	}
}

func TestPiecesThatDoNotBeginInTimeAreMissed(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) {
		inPieces(job.Map{Pieces: 3})(v)
		v.StartWithin = job.Duration(time.Minute)
	})
	b.step(0, bus.MaxBatch)
	first := b.publish(time.Second)
	if want := noon.Add(time.Second + time.Minute); !first.pieces[2].StartBy.Equal(want) {
		t.Errorf("a piece is to begin by %s; want %s", first.pieces[2].StartBy, want)
	}
	var seq uint64
	b.ends(&seq, 2*time.Second, job.StatusSucceeded, first.pieces[0])
	seq++
	b.m.Event(bus.EventOf(first.pieces[1], bus.EventStarted, noon.Add(3*time.Second)), seq, noon.Add(3*time.Second).UnixMilli())
	s := b.publish(3 * time.Second)
	if got := s.deferred[0].Pieces.States; got != "sbt" {
		t.Errorf("the pieces are %q; want sbt", got)
	}
	// A successor knows which have begun.
	b.succeed()
	b.put(0, 1, func(v *job.Version) {
		inPieces(job.Map{Pieces: 3})(v)
		v.StartWithin = job.Duration(time.Minute)
	})
	for at, d := range b.trig.deferred {
		if err := b.m.PutDeferred(d, at); err != nil {
			t.Fatal(err)
		}
	}
	b.step(4*time.Second, bus.MaxBatch)
	s = b.publish(2 * time.Minute)
	if got := s.deferred[0].Pieces.States; got != "sbm" {
		t.Errorf("the pieces are %q; want sbm", got)
	}
	b.ends(&seq, 3*time.Minute, job.StatusSucceeded, first.pieces[1])
	b.want(b.step(3*time.Minute, bus.MaxBatch),
		"12:00:01 g/a@1 failed schedule: 2 of 3 pieces succeeded; 1 did not begin in time")
}

func TestARunWhosePiecesCannotSaveItIsNotTriedAgain(t *testing.T) {
	ends := func(share job.Share, want string, statuses ...job.Status) {
		t.Helper()
		b := newBench(t)
		b.put(0, 1, func(v *job.Version) {
			inPieces(job.Map{Pieces: len(statuses)})(v)
			v.SucceedsIf = share
			v.Retry = job.Retry{Limit: 1, Delay: job.Duration(time.Minute), On: []job.Status{job.StatusFailed}}
		})
		b.step(0, bus.MaxBatch)
		first := b.publish(time.Second)
		var seq uint64
		for i, s := range statuses {
			b.ends(&seq, 2*time.Second, s, first.pieces[i])
		}
		got := b.step(2*time.Second, bus.MaxBatch)
		lines := 1
		if strings.HasPrefix(want, "queued") {
			lines = 2 // the first says how the attempt has ended
		}
		if len(got) != lines || lines == 2 && !strings.Contains(got[0], "failed schedule: ") || !strings.Contains(got[lines-1], want) {
			t.Errorf("after %v, of which %s have to succeed, it is %q; want %q", statuses, share, got, want)
		}
	}
	good, bad, gone := job.StatusSucceeded, job.StatusFailed, job.StatusLost
	ends(0, "succeeded schedule", good, good)
	ends(0, "queued schedule: 1 piece of 2 did not succeed; attempt 2 repeats 1 of them 1m later", good, bad)
	ends(0, "failed schedule: 1 of 3 pieces succeeded; 1 failed; 1 lost", good, bad, gone)
	ends(50, "queued", bad, gone)
	ends(50, "succeeded schedule: 1 of 2 pieces succeeded; 1 failed; 50% have to", good, bad)
	ends(0, "lost schedule", good, gone)
	ends(0, "missed schedule", job.StatusMissed, job.StatusMissed)
	ends(0, "failed schedule: 1 of 2 pieces succeeded; 1 did not begin in time", good, job.StatusMissed)
	ends(0, "cancelled schedule", bad, job.StatusCancelled)
}

func TestABroadcastGoesToThoseWhoHaveTheLabelsAndCanDoTheTask(t *testing.T) {
	b := newBench(t)
	b.m.PutInstances("g", []*fleet.Instance{
		{Instance: "a", Kinds: []string{"handler"}, Handlers: []string{"h"}, Labels: job.Labels{"zone": "eu"}},
		{Instance: "b", Kinds: []string{"handler"}, Handlers: []string{"other"}, Labels: job.Labels{"zone": "eu"}},
		{Instance: "c", Kinds: []string{"shell"}, Labels: job.Labels{"zone": "eu"}},
		{Instance: "d", Kinds: []string{"handler"}, Handlers: []string{"h"}, Labels: job.Labels{"zone": "us"}},
		{Instance: "e", Kinds: []string{"handler"}, Handlers: []string{"g", "h"}, Labels: job.Labels{"zone": "eu", "gpu": "true"}},
	})
	b.put(0, 1, func(v *job.Version) {
		once := noon.Add(time.Second)
		v.Schedule.Once, v.Route, v.Labels = &once, job.RouteBroadcast, job.Labels{"zone": "eu"}
	})
	b.step(0, bus.MaxBatch)
	var got []string
	for _, p := range b.publish(time.Second).pieces {
		got = append(got, fmt.Sprintf("%d/%d %s", p.Index, p.Total, p.Prefer))
	}
	if want := []string{"0/2 a", "1/2 e"}; !slices.Equal(got, want) {
		t.Errorf("pieces: %q; want %q", got, want)
	}
}

func TestASuccessorKnowsThatARunHasBegunInTime(t *testing.T) {
	b := newBench(t)
	watched := func(v *job.Version) {
		once := noon.Add(time.Second)
		v.Schedule.Once, v.StartWithin = &once, job.Duration(time.Minute)
	}
	b.put(0, 1, watched)
	b.step(0, bus.MaxBatch)
	run := b.publish(time.Second).triggers[0]
	held := bus.EventOf(run, bus.EventHeld, noon.Add(2*time.Second))
	b.m.Event(held, 1, noon.Add(2*time.Second).UnixMilli())
	if s := b.publish(2 * time.Second); s != nil {
		t.Errorf("a run that nobody has taken makes %+v", s)
	}
	started := bus.EventOf(run, bus.EventStarted, noon.Add(3*time.Second))
	b.m.Event(started, 2, noon.Add(3*time.Second).UnixMilli())
	b.step(3*time.Second, bus.MaxBatch)
	b.succeed()
	b.put(0, 1, watched)
	for at, d := range b.trig.deferred {
		if err := b.m.PutDeferred(d, at); err != nil {
			t.Fatal(err)
		}
	}
	b.want(b.step(10*time.Minute, bus.MaxBatch))
	end := bus.EventOf(run, bus.EventFinished, noon.Add(11*time.Minute))
	end.Status = job.StatusSucceeded
	b.m.Event(end, 3, noon.Add(11*time.Minute).UnixMilli())
	b.want(b.step(11*time.Minute, bus.MaxBatch))
	if len(b.m.runs.byID) != 0 {
		t.Error("the run is alive still")
	}
}

func TestASuccessorEndsWhatAnOwnerThatDiedWasCallingOff(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, inPieces(job.Map{Pieces: 3, AtOnce: 2}))
	b.step(0, bus.MaxBatch)
	first := b.publish(time.Second)
	if !b.m.Cancels.Add(first.pieces[0].RunID, "wrong day", false) {
		t.Fatal("there is no such run")
	}
	if s := b.publish(2 * time.Second); s.deferred[0].Pieces.States != "ttc" {
		t.Errorf("the pieces are %q; want ttc", s.deferred[0].Pieces.States)
	}
	b.succeed()
	b.put(0, 1, inPieces(job.Map{Pieces: 3, AtOnce: 2}))
	for at, d := range b.trig.deferred {
		if err := b.m.PutDeferred(d, at); err != nil {
			t.Fatal(err)
		}
	}
	batch := b.m.Step(noon.Add(3*time.Second).UnixMilli(), bus.MaxBatch)
	if batch == nil || len(batch.Kills) != 1 || batch.Kills[0].Reason != "wrong day" {
		t.Fatalf("the successor's first step is %+v", batch)
	}
	b.m.Committed(b.trig.publish(batch.Messages).first)
	var seq uint64
	b.ends(&seq, 4*time.Second, job.StatusCancelled, first.pieces...)
	b.want(b.step(4*time.Second, bus.MaxBatch),
		"12:00:01 g/a@1 cancelled schedule: wrong day; 0 of 3 pieces succeeded; 3 cancelled")
}

func TestChildrenGetWhatThePiecesHaveReturned(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) {
		inPieces(job.Map{Pieces: 4})(v)
		v.SucceedsIf = 50
		v.Children = []job.Child{{Job: nameIn(3, false), PassResult: true}}
	})
	pieces := b.publish(time.Second).pieces
	for i, p := range pieces {
		e := bus.EventOf(p, bus.EventFinished, noon.Add(2*time.Second))
		e.Status, e.Result = job.StatusSucceeded, []byte(fmt.Sprintf(`{"n":%d}`, i))
		switch i {
		case 1:
			e.Status, e.Result = job.StatusFailed, []byte(`"not this"`)
		case 2: // too long for the list
			e.Result = []byte(`"` + strings.Repeat("x", bus.MaxResults) + `"`)
		}
		b.m.Event(e, uint64(i+1), noon.Add(2*time.Second).UnixMilli())
	}
	s := b.publish(3 * time.Second)
	for _, d := range s.deferred {
		if d.Kind == journal.DeferredChild {
			if got, want := string(d.Parent.Params), `[{"n":0},null,null,{"n":3}]`; got != want {
				t.Errorf("the child gets %s, want %s", got, want)
			}
			return
		}
	}
	t.Errorf("the child is not told: %+v", s.deferred)
}

func TestABroadcastHasNoMorePiecesOutThanItMay(t *testing.T) {
	b := newBench(t)
	b.m.PutInstances("g", instancesOf("a", "b", "c", "d", "e"))
	b.put(0, 1, func(v *job.Version) {
		once := noon.Add(time.Second)
		v.Schedule.Once, v.Route, v.AtOnce = &once, job.RouteBroadcast, 2
		v.Task = job.Task{Shell: "x"}
	})
	seq := uint64(0)
	out := b.publish(time.Second).pieces
	for after, want := 2*time.Second, []int{2, 2, 1}; len(want) > 0; after, want = after+time.Second, want[1:] {
		if len(out) != want[0] {
			t.Fatalf("after %s %d pieces are out, want %d", after, len(out), want[0])
		}
		b.ends(&seq, after, job.StatusSucceeded, out...)
		out = b.publish(after).pieces
	}
}

// The end of a run in pieces takes messages of a batch: for the pieces, the count of
// failures, and the next fixed delay.
func TestAFixedDelayGoesOnAfterPiecesHoweverLittleRoomTheirEndHas(t *testing.T) {
	for room := overhead + 2; room <= overhead+6; room++ {
		b := newBench(t)
		b.put(0, 1, func(v *job.Version) {
			v.Schedule = job.Schedule{FixedDelay: job.Duration(time.Minute)}
			v.Map, v.PauseAfter = &job.Map{Pieces: 1}, 3
		})
		b.publish(0)
		first := b.publish(time.Minute)
		if first == nil || len(first.pieces) != 1 {
			t.Fatalf("room for %d messages: the first fire is %+v", room, first)
		}
		var seq uint64
		b.ends(&seq, time.Minute, job.StatusFailed, first.pieces...)
		for range 3 {
			if batch := b.m.Step(noon.Add(time.Minute).UnixMilli(), room); batch != nil {
				b.m.Committed(b.trig.publish(batch.Messages).first)
			}
		}
		if next := b.publish(3 * time.Minute); next == nil || len(next.pieces) != 1 {
			t.Errorf("room for %d messages: after the first run has failed there is %+v", room, next)
		}
	}
}
