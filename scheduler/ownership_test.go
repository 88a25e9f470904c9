package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// secondly is a job that fires every second, and the first instant at which it does,
// if it is put when the world begins.
var secondly = job.Schedule{FixedRate: job.Duration(time.Second)}

func second(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

// names returns so many jobs that every shard has some.
func names(n int) []job.Name {
	all := make([]job.Name, n)
	for i := range all {
		all[i] = job.Name("g/job-" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
	}
	return all
}

func TestNodesShareTheShards(t *testing.T) {
	runAt(t, start, 32, func(w *world) {
		w.startNode("a")
		w.startNode("b")
		time.Sleep(5 * time.Second)
		two := w.owned()
		if two["a"]+two["b"] != 32 || two["a"] < 8 || two["b"] < 8 {
			t.Errorf("two nodes own %v", two)
		}
		for name, n := range w.nodes {
			if served := n.Served(); served != 32 {
				t.Errorf("node %s knows of %d shards that have a node", name, served)
			}
		}
		w.startNode("c")
		time.Sleep(5 * time.Second)
		three := w.owned()
		if three["a"]+three["b"]+three["c"] != 32 || three["a"] > two["a"] || three["b"] > two["b"] || three["c"] < 4 {
			t.Errorf("after %v, three nodes own %v", two, three)
		}
	})
}

// told counts lines of a log by their messages and what they count.
type told struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (h *told) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (h *told) WithAttrs([]slog.Attr) slog.Handler               { return h }
func (h *told) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += fmt.Sprintf(" %s=%v", a.Key, a.Value); return true })
	if strings.HasPrefix(r.Message, "shard") {
		h.lines = append(h.lines, line)
	}
	return nil
}

func TestANodeSaysOnceHowManyShardsItOwns(t *testing.T) {
	run(t, func(w *world) {
		h := &told{Handler: slog.DiscardHandler}
		w.log = slog.New(h)
		w.startNode("a")
		time.Sleep(time.Minute)
		w.log = nil
		w.startNode("b")
		time.Sleep(time.Minute)
		left := w.nodes["a"].Owned()
		w.stopNode("a")
		want := []string{
			"shards owned count=8 before=0 of=8 shards=0-7",
			fmt.Sprintf("shards owned count=%d before=8 of=8 shards=", left),
			fmt.Sprintf("shards released count=%d", left),
		}
		if len(h.lines) == 3 { // which are left is not of interest
			h.lines[1], _, _ = strings.Cut(h.lines[1], "shards=")
			h.lines[1] += "shards="
		}
		if diff := cmp.Diff(want, h.lines); diff != "" || left == 8 {
			t.Errorf("%d shards left; %s", left, diff)
		}
	})
}

func TestANodeThatIsCutOffSaysOnceWhichShardsItHasLost(t *testing.T) {
	run(t, func(w *world) {
		h := &told{Handler: slog.DiscardHandler}
		w.log = slog.New(h)
		w.put("g/a", secondly)
		w.startNode("a")
		time.Sleep(10 * time.Second)
		w.broker.Partition("a")
		time.Sleep(20 * time.Second)
		var lost []string
		h.mu.Lock()
		for _, line := range h.lines {
			if strings.Contains(line, "lost") {
				lost = append(lost, line)
			}
		}
		h.mu.Unlock()
		if len(lost) != 1 || !strings.HasPrefix(lost[0], "shards lost count=8 shards=0-7 reason=") {
			t.Errorf("it says %q", lost)
		}
		w.broker.Heal("a")
		time.Sleep(20 * time.Second)
	})
}

func TestNothingIsLostOrDoubledWhileNodesComeAndGo(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		time.Sleep(5 * time.Second)
		w.startNode("b")
		time.Sleep(5 * time.Second)
		w.startNode("c")
		time.Sleep(5 * time.Second)
		w.stopNode("a")
		time.Sleep(5 * time.Second)
		w.stopNode("b")
		time.Sleep(5500 * time.Millisecond)
		for n, all := range w.wantEachOnce(second(1), jobs...) {
			if d := longest(all[2:]); d > 100*time.Millisecond {
				t.Errorf("%s: a fire was decided %v late; hand-overs take milliseconds", n, d)
			}
		}
	})
}

func TestAKilledNodesShardsFireElsewhereOnceItsLeasesEnd(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		w.startNode("b")
		time.Sleep(5500 * time.Millisecond)
		w.killNode("a")
		time.Sleep(10 * time.Second)
		for n, all := range w.wantEachOnce(second(1), jobs...) {
			if d := longest(all[2:]); d > jet.LeaseTTL+time.Second {
				t.Errorf("%s: a fire was decided %v late", n, d)
			}
			if last := all[len(all)-1].node; last != "b" {
				t.Errorf("%s fires at %s", n, last)
			}
		}
	})
}

func TestANodeThatIsCutOffDoesNoHarm(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		w.startNode("b")
		time.Sleep(5500 * time.Millisecond)
		w.broker.Partition("a")
		time.Sleep(20 * time.Second)
		if n := w.nodes["a"].Owned(); n != 0 {
			t.Errorf("a node that is cut off still believes to own %d shards", n)
		}
		w.broker.Heal("a")
		time.Sleep(10 * time.Second)
		if own := w.owned(); own["a"] == 0 || own["a"]+own["b"] != 8 {
			t.Errorf("after healing the nodes own %v", own)
		}
		for n, all := range w.wantEachOnce(second(1), jobs...) {
			if d := longest(all[2:]); d > jet.LeaseTTL+time.Second {
				t.Errorf("%s: a fire was decided %v late", n, d)
			}
		}
	})
}

// NATS may cut it for what others made it send; see cluster.Conn.Bulk.
func TestANodeWhoseBulkConnectionIsCutKeepsItsShardsAndFires(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(8)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		conn := w.connect("a")
		if err := conn.OpenBulk(jet.Config{Name: "a", Options: []nats.Option{nats.InProcessServer(w.broker.Dialer("a bulk"))}}); err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.Open(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.startNodeOn("a", conn)
		time.Sleep(5500 * time.Millisecond)
		w.broker.Partition("a bulk")
		for range 40 {
			time.Sleep(time.Second)
			if n := w.nodes["a"].Owned(); n != 8 {
				t.Fatalf("the node owns %d of 8 shards", n)
			}
		}
		for n, all := range w.wantEachOnce(second(1), jobs...) {
			if d := longest(all[2:]); d > time.Second {
				t.Errorf("%s: a fire was decided %v late", n, d)
			}
		}
		w.broker.Heal("a bulk")
		time.Sleep(10 * time.Second)
		w.put("late/one", secondly)
		time.Sleep(5 * time.Second)
		if len(w.fires("late/one", time.Second)) == 0 {
			t.Error("a job that was saved once the connection was there again does not fire")
		}
	})
}

func TestABatchWhoseAnswerIsLostIsStoredOnce(t *testing.T) {
	for _, deaf := range []time.Duration{500 * time.Millisecond, 3 * time.Second, 30 * time.Second} {
		t.Run(deaf.String(), func(t *testing.T) {
			run(t, func(w *world) {
				jobs := names(16)
				for _, n := range jobs {
					w.put(n, secondly)
				}
				w.startNode("a")
				time.Sleep(5900 * time.Millisecond)
				w.broker.Deafen("a")
				time.Sleep(deaf)
				w.broker.Heal("a")
				time.Sleep(20 * time.Second)
				w.wantEachOnce(second(1), jobs...)
			})
		})
	}
}

func TestABatchIsTakenForStoredOnlyIfThisNodeHasStoredIt(t *testing.T) {
	runAt(t, start, 1, func(w *world) {
		s, err := scheduler.New(w.conn, scheduler.Config{Node: "a"})
		if err != nil {
			t.Fatal(err)
		}
		// Both commits have one name, as after the leases were lost, and their epochs with them.
		batchOf := func(node string) (*shard.Machine, *shard.Batch) {
			m := shard.New(shard.Config{Tokens: w.conn.Tokens(), Epoch: 1, Node: node, Planner: &job.Planner{}}, &journal.Cursor{Done: start}, 0)
			return m, m.Claim(start.UnixMilli())
		}
		ours, batch := batchOf("a")
		if again, lost, err := s.Resolve(w.t.Context(), ours, batch); !again || lost || err != nil {
			t.Errorf("a batch that is not stored: to be sent again %t, lost %t, %v", again, lost, err)
		}
		_, foreign := batchOf("b")
		if foreign.Commit != batch.Commit {
			t.Fatalf("commits %s and %s", foreign.Commit, batch.Commit)
		}
		if _, err := w.conn.PublishBatch(w.t.Context(), foreign.Messages); err != nil {
			t.Fatal(err)
		}
		if again, lost, err := s.Resolve(w.t.Context(), ours, batch); again || !lost || err != nil {
			t.Errorf("a batch in whose place another node has stored one: to be sent again %t, lost %t, %v", again, lost, err)
		}
	})
}

func TestALateOwnersBatchIsRefusedWhole(t *testing.T) {
	runAt(t, start, 1, func(w *world) {
		w.put("g/a", secondly)
		w.startNode("a")
		time.Sleep(3500 * time.Millisecond)
		m, err := w.conn.Last(w.t.Context(), bus.StreamTrig, bus.SubjectCursor(0))
		if err != nil {
			w.t.Fatal(err)
		}
		cursor, err := journal.DecodeCursor(m.Header, m.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		entry, err := w.conn.Jobs().Get(w.t.Context(), "g/a")
		if err != nil {
			w.t.Fatal(err)
		}
		zombie := shard.New(shard.Config{Tokens: w.conn.Tokens(), Epoch: cursor.Epoch, Node: cursor.Node, Planner: &job.Planner{}}, cursor, m.Seq)
		if err := zombie.PutVersion(&entry.Version, entry.Revision); err != nil {
			w.t.Fatal(err)
		}
		w.startNode("b") // whoever owns the shard now goes on
		time.Sleep(5 * time.Second)
		batch := zombie.Step(time.Now().UnixMilli(), bus.MaxBatch)
		before := w.state(bus.StreamTrig)
		_, err = w.conn.PublishBatch(w.t.Context(), batch.Messages)
		if refusal, ok := errors.AsType[*jet.BatchError](err); !ok || !refusal.Stale() {
			t.Errorf("a late owner's batch: %v, want stale", err)
		}
		if after := w.state(bus.StreamTrig); after.LastSeq != before.LastSeq {
			t.Errorf("the stream went from %d to %d", before.LastSeq, after.LastSeq)
		}
		time.Sleep(time.Second)
		w.wantEachOnce(second(1), "g/a")
	})
}

func TestTwoNodesOfOneNameDoNotShareALease(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(8)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		time.Sleep(3500 * time.Millisecond)
		first := w.nodes["a"]
		w.startNode("a")
		time.Sleep(10 * time.Second)
		if n := w.nodes["a"].Owned(); n != 0 {
			t.Errorf("the second node of a name owns %d shards while the first lives", n)
		}
		first.stop()
		if err := <-first.done; err != nil {
			t.Error(err)
		}
		first.conn.NC.Close()
		time.Sleep(5 * time.Second)
		if n := w.nodes["a"].Owned(); n != 8 {
			t.Errorf("the second node of a name owns %d shards after the first has gone", n)
		}
		w.wantEachOnce(second(1), jobs...)
	})
}
