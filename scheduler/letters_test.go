package scheduler_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// family puts a job of the first shard with a child in each other one, the first of which has one, too. It
// returns the names of all, the parent first and the child's child last.
func (w *world) family() (names []job.Name) {
	w.t.Helper()
	const last job.Name = "g/last"
	names = w.everywhere()
	var children []job.Child
	for i, name := range names[1:] {
		w.put(name, job.Schedule{}, func(j *job.Job) {
			if i == 0 {
				j.Children = []job.Child{{Job: last, On: job.OnEnd}}
			}
		})
		children = append(children, job.Child{Job: name})
	}
	w.put(last, job.Schedule{})
	w.put(names[0], job.Schedule{}, func(j *job.Job) { j.Children = children })
	return append(names, last)
}

func TestChildrenInOtherPartitionsRunOnceAfterTheirParent(t *testing.T) {
	runPartitioned(t, start, 8, partitions, func(w *world) {
		w.execute(time.Second)
		w.startNode("a")
		w.startNode("b")
		time.Sleep(10 * time.Second)
		names := w.family()
		time.Sleep(time.Second)
		const rounds = 6
		for i := range rounds { // each of which interrupts a node somewhere else
			if _, err := w.trigger(job.NewRunID(time.Now()), names[0]); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(time.Second + time.Duration(i)*2*time.Millisecond)
			w.killNode("a")
			time.Sleep(20 * time.Second)
			w.startNode("a")
			time.Sleep(20 * time.Second)
		}
		for name, all := range w.firesOf(0, names...) {
			if n := len(all); n != rounds {
				w.t.Errorf("%s has run %d times after %d runs of its parents", name, n, rounds)
			}
		}
		w.wantNothingLeft()
		for _, node := range []string{"a", "b"} {
			if n := w.metric(node, "carillon_letters_waiting"); n != 0 {
				w.t.Errorf("%v letters wait at node %s in the end", n, node)
			}
		}
	})
}

func TestALetterWaitsForAPartitionThatIsFullAndHoldsUpNoOtherOne(t *testing.T) {
	runPartitioned(t, start, 8, partitions, func(w *world) {
		w.execute(time.Second)
		w.startNode("a")
		time.Sleep(10 * time.Second)
		names := w.family()
		time.Sleep(time.Second)
		full := w.conn.TrigOf(1)
		of := w.conn.Cluster().Partitions.Of
		w.limit(full, 1)
		if _, err := w.trigger(job.NewRunID(time.Now()), names[0]); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		fires := w.firesOf(0, names[:8]...)
		for shard, name := range names[:8] {
			want := 1
			if of(shard) == 1 {
				want = 0
			}
			if n := len(fires[name]); n != want {
				w.t.Errorf("while %s is full, %s of shard %d has run %d times, want %d", full, name, shard, n, want)
			}
		}
		want := 3.0 // for shards 1, 4 and 7
		if of(names[8].Shard(8)) == 1 {
			want++ // one of the two for which the last one waits has run
		}
		if n := w.metric("a", "carillon_letters_waiting"); n != want {
			w.t.Errorf("%v letters wait, want %v", n, want)
		}
		w.killNode("a")
		w.startNode("b")
		time.Sleep(20 * time.Second)
		if n := w.metric("b", "carillon_letters_waiting"); n != want {
			w.t.Errorf("%v letters wait at the next owner, want %v", n, want)
		}
		w.limit(full, w.assets.TrigBytes)
		time.Sleep(30 * time.Second)
		for name, all := range w.firesOf(0, names...) {
			if n := len(all); n != 1 {
				w.t.Errorf("%s has run %d times", name, n)
			}
		}
		w.wantNothingLeft()
	})
}

func TestALetterThatAFormerOwnerSendsOnceMoreHasNoEffect(t *testing.T) {
	runPartitioned(t, start, 8, partitions, func(w *world) {
		w.execute(time.Second)
		w.startNode("a")
		time.Sleep(10 * time.Second)
		names := w.family()
		time.Sleep(time.Second)
		if _, err := w.trigger(job.NewRunID(time.Now()), names[0]); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		m, err := w.conn.Last(w.t.Context(), w.conn.TrigOf(4), bus.SubjectCursor(4))
		if err != nil {
			w.t.Fatal(err)
		}
		cursor, err := journal.DecodeCursor(m.Header, m.Data)
		if err != nil || cursor.Letters[0].Seq == 0 {
			w.t.Fatalf("cursor %s, %v: want the mark of the letters of shard 0", m.Data, err)
		}
		say := func(at journal.LetterMark) {
			w.t.Helper()
			letter := &journal.Deferred{Kind: journal.DeferredChild, Job: names[4], Letter: &journal.LetterID{From: 0, At: at}, Parent: &journal.ParentEnd{
				Job: names[0], RunID: job.NewRunID(time.Now()), Status: job.StatusSucceeded, At: time.Now(), Depth: 1,
			}}
			var msg *nats.Msg
			if msg, err = letter.Msg(4); err == nil {
				_, err = w.conn.JS.PublishMsg(w.t.Context(), msg)
			}
			if err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		at := cursor.Letters[0]
		say(at)
		w.killNode("a")
		w.startNode("b")
		time.Sleep(20 * time.Second)
		say(at)
		if n := len(w.fires(names[4], 0)); n != 1 {
			w.t.Errorf("%s has run %d times", names[4], n)
		}
		at.Seq++
		say(at)
		if n := len(w.fires(names[4], 0)); n != 2 {
			w.t.Errorf("after a further letter, %s has run %d times", names[4], n)
		}
		w.wantNothingLeft()
	})
}

func TestABacklogOfLettersIsRelayedAsFastAsItIsDeleted(t *testing.T) {
	runPartitioned(t, start, 8, partitions, func(w *world) {
		names := w.everywhere()
		w.put(names[1], job.Schedule{})
		const letters = 2500
		for i := range letters {
			letter := &journal.Deferred{Kind: journal.DeferredLetter, Job: names[1], Letter: &journal.LetterID{At: journal.LetterMark{Made: start}}, Parent: &journal.ParentEnd{
				Job: names[0], RunID: job.NewRunID(start.Add(time.Duration(i))), Status: job.StatusSucceeded, At: start, Depth: 1,
			}}
			m, err := letter.Msg(0)
			if err == nil {
				_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
		w.startNode("a")
		time.Sleep(20 * time.Second)
		if n := len(w.fires(names[1], 0)); n != letters {
			w.t.Errorf("the child has run %d times after %d letters", n, letters)
		}
		if n := w.metric("a", "carillon_letters_waiting"); n != 0 {
			w.t.Errorf("%v letters wait", n)
		}
		w.wantNothingLeft()
	})
}
