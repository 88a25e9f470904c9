package dispatch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// pack publishes a pack of triggers, of jobs of one shard whose names end in these words.
func (w *world) pack(words ...string) []*bus.Trigger {
	w.t.Helper()
	var all []*bus.Trigger
	var data []byte
	for _, word := range words {
		name := job.Name("g/" + word)
		for i := 0; name.Shard(shards) != 0; i++ {
			name = job.Name(fmt.Sprintf("g/x%d-%s", i, word))
		}
		w.n++
		now := time.Now().UTC().Truncate(time.Millisecond)
		t := &bus.Trigger{
			RunID: job.FireRunID(name, now.UnixMilli()+int64(w.n), job.CauseSchedule), Job: name, Version: 1, Attempt: 1,
			Cause: job.CauseSchedule, FireTime: now, CommittedAt: now, Report: bus.SubjectEnds(0, "g"),
			TriggerBody: bus.TriggerBody{Delivery: job.AtLeastOnce, Task: job.Task{Handler: "h"}},
		}
		body, err := t.Encode()
		if err != nil {
			w.t.Fatal(err)
		}
		data = bus.AppendPacked(data, w.conn.Tokens().Trigger(t, false, now), bus.AppendTrigger(nil, t, body))
		all = append(all, t)
	}
	if _, err := w.conn.JS.PublishMsg(w.t.Context(), bus.NewMessage(bus.SubjectTrigger(0, "g"), bus.MessageTriggers, data)); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// works runs an executor whose runs take as long as the end of their job's name says.
func (w *world) works(name string, slots int) *instance {
	w.t.Helper()
	conn := w.connect(name)
	e, err := executor.New(conn.Conn, executor.Config{Group: "g", Instance: name, Slots: slots, Grace: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	e.Handle("h", executor.HandlerFunc(func(ctx context.Context, r *executor.Run) (any, error) {
		word := r.Job().Short()[strings.LastIndexByte(r.Job().Short(), '-')+1:]
		w.mu.Lock()
		w.runs = append(w.runs, fmt.Sprintf("%s %s%s", name, word, map[bool]string{true: " again"}[r.Delivered() > 1]))
		w.mu.Unlock()
		takes, err := time.ParseDuration(word)
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(takes):
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}))
	ctx, cancel := context.WithCancel(w.t.Context())
	i := &instance{Executor: e, conn: conn, over: make(chan struct{})}
	go func() {
		defer close(i.over)
		if err := e.Run(ctx); err != nil {
			w.t.Errorf("executor %s: %v", name, err)
		}
	}()
	i.stop = sync.OnceFunc(func() { cancel(); <-i.over })
	w.t.Cleanup(i.stop)
	synctest.Wait()
	return i
}

// wantBeganAnyhow checks which runs began, in any order.
func (w *world) wantBeganAnyhow(want ...string) {
	w.t.Helper()
	got := strings.Split(w.began(), ", ")
	slices.Sort(got)
	if len(want) == 0 {
		want = []string{""}
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		w.t.Errorf("began %q, want %q", got, want)
	}
}

// wantEndedOnce checks that each run has ended once, and well.
func (w *world) wantEndedOnce(all []*bus.Trigger) {
	w.t.Helper()
	for _, tr := range all {
		n := 0
		for _, what := range w.told(tr) {
			if strings.HasPrefix(what, "finished succeeded") {
				n++
			} else if strings.HasPrefix(what, "finished") {
				w.t.Errorf("%s: %s", tr.Job, what)
			}
		}
		if n != 1 {
			w.t.Errorf("%s ended well %d times: %q", tr.Job, n, w.told(tr))
		}
	}
}

func TestAPackIsBegunAtOnceAndAcknowledgedWhenAllOfItHasEnded(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.works("a", 32)
		time.Sleep(time.Second)
		all := w.pack("1s", "2s", "40s")
		time.Sleep(time.Second / 2)
		w.wantBeganAnyhow("a 1s", "a 2s", "a 40s")
		time.Sleep(30 * time.Second)
		w.wantTriggers(1)
		time.Sleep(10 * time.Second)
		w.wantTriggers(0)
		w.wantBeganAnyhow()
		w.wantEndedOnce(all)
	})
}

func TestExecutorsDieInAPackTwiceAndEachRunIsJudgedByItself(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.dispatcher("other")
		a := w.works("a", 32)
		time.Sleep(time.Second)
		all := w.pack("1s", "2s", "90s", "100s")
		time.Sleep(3 * time.Second)
		w.wantBeganAnyhow("a 1s", "a 2s", "a 90s", "a 100s")
		a.die()
		b := w.works("b", 32)
		time.Sleep(70 * time.Second)
		w.wantBeganAnyhow("b 90s again", "b 100s again")
		w.wantTriggers(2)
		b.die()
		w.works("c", 32)
		time.Sleep(20 * time.Minute)
		w.wantBeganAnyhow("c 90s again", "c 100s again")
		w.wantEndedOnce(all)
		w.wantTriggers(0)
		for i, tr := range all {
			if told := strings.Join(w.told(tr), "\n"); strings.Count(told, "died or was cut off") != 2*(i/2) {
				t.Errorf("%s, with which two executors died if it is a long one: %s", tr.Job, told)
			}
		}
	})
}

func TestAPackThatFindsTooFewSlotsGoesOnElsewhere(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.works("a", 2)
		time.Sleep(time.Second)
		all := w.pack("30s", "31s", "32s", "33s")
		time.Sleep(time.Second / 2)
		w.wantBeganAnyhow("a 30s", "a 31s")
		w.works("b", 32)
		time.Sleep(25 * time.Second)
		w.wantBeganAnyhow("b 32s again", "b 33s again")
		time.Sleep(time.Minute)
		w.wantEndedOnce(all)
		w.wantTriggers(0)
		for _, tr := range all { // nobody died
			if told := strings.Join(w.told(tr), "\n"); strings.Contains(told, "died") {
				t.Errorf("%s: %s", tr.Job, told)
			}
		}
	})
}

func TestAnExecutorThatStopsInAPackGivesTheRestOfItBack(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.works("a", 32)
		time.Sleep(fleet.InstanceTTL) // until the dispatcher knows who is there
		all := w.pack("1s", "50s", "51s")
		time.Sleep(3 * time.Second)
		w.works("b", 32)
		a.stop()
		w.wantBeganAnyhow("a 1s", "a 50s", "a 51s")
		time.Sleep(10 * time.Second)
		w.wantBeganAnyhow("b 50s again", "b 51s again")
		time.Sleep(time.Minute)
		w.wantEndedOnce(all)
		w.wantTriggers(0)
	})
}

func TestAnExecutorKnowsWhatIsLeftOfAPackThatCameAgain(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.works("a", 32)
		w.works("b", 32)
		time.Sleep(time.Second)
		all := w.pack("1s", "60s", "61s")
		time.Sleep(2 * time.Second)
		first := w.began()
		// Though nobody was silent, the pack is taken apart, by two servers at once.
		at := w.packAt()
		var both sync.WaitGroup
		for _, name := range []string{"x", "y"} {
			conn := w.connect(name)
			both.Go(func() {
				if err := conn.Attempts().TakeApart(w.t.Context(), at, false); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		w.wantTriggers(3)
		time.Sleep(10 * time.Second)
		w.wantTriggers(2) // the first has ended
		time.Sleep(2 * time.Minute)
		if again := w.began(); again != "" || strings.Count(first, ",") != 2 {
			t.Errorf("began %s, then %s", first, again)
		}
		w.wantEndedOnce(all)
		w.wantTriggers(0)
	})
}

// packAt returns where the only pack is.
func (w *world) packAt() (at bus.Position) {
	w.t.Helper()
	if err := w.conn.Scan(w.t.Context(), bus.StreamTrig, "trig.>", func(m *jet.Stored) bool {
		if bus.IsPack(m.Header) {
			at = bus.Position{Stream: bus.StreamTrig, Seq: m.Seq}
		}
		return true
	}); err != nil || at.Seq == 0 {
		w.t.Fatalf("no pack: %v", err)
	}
	return at
}
