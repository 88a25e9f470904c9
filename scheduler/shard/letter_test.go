package shard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// newParted returns a machine of a cluster with several partitions, as the owner who has claimed its
// shard at so long after noon.
func newParted(t *testing.T, b *bench, partitions bus.Partitions, after time.Duration) {
	t.Helper()
	b.m = New(Config{
		Tokens: tokens, Shard: simShard, Shards: simShards, Partitions: partitions, Epoch: 7, Node: "n", Planner: &job.Planner{},
	}, b.trig.cursor, b.trig.cursorSeq)
	s := b.trig.publish(b.m.Claim(noon.Add(after).UnixMilli()).Messages)
	if s == nil {
		t.Fatal("claim refused")
	}
	b.m.Committed(s.first)
}

// childPerPartition are jobs of other shards, by the partition of their shard.
func childPerPartition(n bus.Partitions) map[int]job.Name {
	found := map[int]job.Name{}
	for i := 0; len(found) < n.Count(); i++ {
		name := nameIn(i, false)
		found[n.Of(name.Shard(simShards))] = name
	}
	return found
}

func TestALetterForAnotherPartitionWaitsInTheShardUntilItIsStoredThere(t *testing.T) {
	b := newBench(t)
	newParted(t, b, 2, 0)
	to := childPerPartition(2)
	parent := nameIn(0, true)
	put := func() {
		b.put(0, 1, func(v *job.Version) {
			minutely(v)
			v.Job.Job, v.Children = parent, []job.Child{{Job: to[0]}, {Job: to[1]}}
		})
	}
	put()
	b.step(time.Minute, bus.MaxBatch)
	b.m.Event(&bus.Event{Kind: bus.EventFinished, Job: parent, Attempt: 1, RunID: job.FireRunID(parent, noon.Add(time.Minute).UnixMilli(), job.CauseSchedule), Status: job.StatusSucceeded}, 1, noon.Add(61*time.Second).UnixMilli())
	batch := b.m.Step(noon.Add(61*time.Second).UnixMilli(), bus.MaxBatch)
	if n := len(b.m.Relay.Next(0, 10)); n != 0 {
		t.Errorf("%d letters are offered before they are stored", n)
	}
	b.m.Committed(b.trig.publish(batch.Messages).first)
	if diff := cmp.Diff([]int{to[1].Shard(simShards)}, batch.Nudges); diff != "" {
		t.Errorf("nudges (-want +got):\n%s", diff)
	}
	said := func() string {
		var text strings.Builder
		for p := range 2 {
			for _, w := range b.m.Relay.Next(p, 10) {
				d := b.m.Relay.Item(w)
				fmt.Fprintf(&text, "%d: %s %s from %d made %s, ", p, d.Kind, d.Job, d.Letter.From, d.Letter.At.Made.Format("15:04:05"))
				if kept := b.trig.deferred[d.Letter.At.Seq]; kept == nil || kept.Kind != journal.DeferredLetter {
					t.Errorf("at its sequence is %+v", kept)
				}
			}
		}
		return text.String()
	}
	want := fmt.Sprintf("0: child %s from 5 made 12:00:00, ", to[0])
	if got := said(); got != want {
		t.Errorf("letters %q, want %q", got, want)
	}
	newParted(t, b, 2, 2*time.Minute) // a successor
	put()
	for seq, d := range b.trig.deferred {
		if err := b.m.PutDeferred(d, seq); err != nil {
			t.Fatal(err)
		}
	}
	if got := said(); got != want {
		t.Errorf("to a successor, letters %q, want %q", got, want)
	}
	seq := b.m.Relay.Next(0, 10)[0].item.seq
	if b.m.Relay.Sent(0, 1); b.m.Relay.Len() != 0 {
		t.Errorf("%d letters are left", b.m.Relay.Len())
	}
	b.step(3*time.Minute, bus.MaxBatch)
	if !b.trig.released[seq] {
		t.Error("a letter that is stored in the other partition is not released")
	}
}

func TestLettersOfAnotherPartitionCountByTheStreamThatTheyAreFrom(t *testing.T) {
	b := newBench(t)
	newParted(t, b, 2, 0)
	child := nameIn(0, true)
	b.put(0, 1, func(v *job.Version) { v.Job.Job = child })
	runs := 0
	tell := func(minute int, seq uint64) int {
		d := &journal.Deferred{Kind: journal.DeferredChild, Job: child, Letter: &journal.LetterID{From: 4, At: journal.LetterMark{Made: noon.Add(time.Duration(minute) * time.Minute), Seq: seq}}, Parent: &journal.ParentEnd{
			Job: "g/parent", RunID: job.RunID(fmt.Sprintf("run %d", b.trig.last)), Status: job.StatusSucceeded, At: noon.Add(time.Second),
		}}
		b.trig.last++
		at := b.trig.last
		b.trig.deferred[at] = d
		if err := b.m.PutDeferred(d, at); err != nil {
			t.Fatal(err)
		}
		before := runs
		runs += len(b.step(time.Duration(b.trig.last)*time.Second, bus.MaxBatch))
		if !b.trig.released[at] {
			t.Errorf("letter %d of minute %d is not released", seq, minute)
		}
		return runs - before
	}
	for _, letter := range []struct {
		minute int
		seq    uint64
		runs   int
	}{
		{0, 7, 1},
		{0, 7, 0},
		{0, 6, 0},
		{0, 9, 1},
		{5, 1, 1},  // the parent's stream was made anew
		{0, 10, 0}, // which its former owner does not know
		{5, 1, 0},
		{5, 2, 1},
	} {
		if got := tell(letter.minute, letter.seq); got != letter.runs {
			t.Errorf("letter %d of the stream made at minute %d: %d runs, want %d", letter.seq, letter.minute, got, letter.runs)
		}
	}
	if diff := cmp.Diff(map[int]journal.LetterMark{4: {Made: noon.Add(5 * time.Minute), Seq: 2}}, b.trig.cursor.Letters); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestEachOwnerLeavesLaterLetters(t *testing.T) {
	b := newBench(t)
	newParted(t, b, 2, time.Hour)
	first := b.trig.cursor.Made
	newParted(t, b, 2, 0) // by a clock that is behind
	second := b.trig.cursor.Made
	b.trig = newStream(b.trig.cursor) // which the floor has
	newParted(t, b, 2, 0)
	if third := b.trig.cursor.Made; !first.Equal(noon.Add(time.Hour)) || !second.After(first) || !third.After(second) {
		t.Errorf("the cursors of three owners are of %s, %s and %s", first, second, third)
	}
	b.trig = newStream(&journal.Cursor{Shard: simShard, Done: noon})
	newParted(t, b, 1, 0)
	if got := b.trig.cursor.Made; !got.IsZero() {
		t.Errorf("the cursor of a shard without other partitions is of %s", got)
	}
}

// A machine that loses power may lose the end of the stream, while other partitions keep theirs.
func TestAShardWhoseStreamHasLostItsEndLeavesLaterLetters(t *testing.T) {
	b := newBench(t)
	parent := nameIn(0, true)
	leave := func(minute int) journal.LetterMark {
		t.Helper()
		newParted(t, b, 2, time.Duration(minute)*time.Minute)
		b.put(0, 1, func(v *job.Version) {
			minutely(v)
			v.Job.Job, v.Children = parent, []job.Child{{Job: childPerPartition(2)[0]}}
		})
		b.step(time.Duration(minute+1)*time.Minute, bus.MaxBatch)
		at := noon.Add(time.Duration(minute+1) * time.Minute)
		b.m.Event(&bus.Event{Kind: bus.EventFinished, Job: parent, Attempt: 1, RunID: job.FireRunID(parent, at.UnixMilli(), job.CauseSchedule), Status: job.StatusSucceeded}, b.m.Events.Seq()+1, at.UnixMilli())
		b.step(time.Duration(minute+1)*time.Minute+time.Second, bus.MaxBatch)
		letters := b.m.Relay.Next(0, 10)
		if len(letters) != 1 {
			t.Fatalf("%d letters are left, want 1", len(letters))
		}
		return b.m.Relay.Item(letters[0]).Letter.At
	}
	newParted(t, b, 2, 0)
	was := *b.trig
	b.trig.last += 1000 // messages of other shards
	first := leave(1)
	*b.trig = was
	b.trig.deferred = map[uint64]*journal.Deferred{}
	if second := leave(10); !second.After(first) || second.Seq > first.Seq {
		t.Errorf("letter %v is left after letter %v", second, first)
	}
}

func TestAShardFiresWhileAnyNumberOfLettersIsRelayed(t *testing.T) {
	b := newBench(t)
	newParted(t, b, 2, 0)
	b.put(0, 1, minutely)
	child := childPerPartition(2)[0]
	const letters = 2 * maxReleased
	first := b.trig.last + 1
	for seq := first; seq < first+letters; seq++ {
		d := &journal.Deferred{Kind: journal.DeferredLetter, Job: child, Letter: &journal.LetterID{From: simShard, At: journal.LetterMark{Made: noon}}, Parent: &journal.ParentEnd{
			Job: nameIn(0, true), Status: job.StatusSucceeded,
		}}
		b.trig.last, b.trig.deferred[seq] = seq, d
		if err := b.m.PutDeferred(d, seq); err != nil {
			t.Fatal(err)
		}
	}
	for minute := 1; b.m.Relay.Len() > 0; minute++ {
		for { // faster than the owner commits
			n := len(b.m.Relay.Next(0, 100))
			if n == 0 {
				break
			}
			b.m.Relay.Sent(0, n)
		}
		if got := b.step(time.Duration(minute)*time.Minute, bus.MaxBatch); len(got) != 1 {
			t.Fatalf("with %d letters left it decided %q, want one fire", b.m.Relay.Len(), got)
		}
		deleted := map[uint64]bool{}
		for _, seq := range b.m.Released() {
			deleted[seq] = true
		}
		b.m.Deleted(deleted)
	}
}
