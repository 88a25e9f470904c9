package xxljob

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/recent"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Requests are answered before the instance looks after its runs: one that comes in between must not be
// taken for one that was taken over.
func TestARunThatComesWhileItsInstanceBeginsIsCarriedOnce(t *testing.T) {
	bustest.Run(t, now, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.Setup(t, broker, "test", 1)
		b, err := New(conn.Conn, Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }})
		check(t, err)
		b.work = &errgroup.Group{}
		is := state.Instance{Group: "g", Instance: "i", Holder: b.id, Address: "http://10.0.0.1:9999", Secret: bus.NewControlSecret()}
		revision, err := b.store.PutInstance(t.Context(), &is, 0)
		check(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		g := &group{b: b, name: "g", log: b.log, killed: recent.New[bus.AttemptRef](killedFor, maxKilled), done: recent.New[bus.AttemptRef](doneFor, maxDone), holders: map[bus.AttemptRef]*instance{}, changed: make(chan struct{}, 1)}
		i := newInstance(b, g, is, revision, cancel)
		answers := make(chan string, 10)
		_, err = conn.NC.Subscribe("ack", func(m *nats.Msg) { answers <- string(m.Data) })
		check(t, err)
		o := &offer{ack: "ack", delivery: 1, trigger: &bus.Trigger{RunID: job.NewRunID(now), Job: "g/j", Attempt: 1, TriggerBody: bus.TriggerBody{Task: job.Task{Handler: "h"}}}}
		if answer, _ := i.accept(o); answer != fleet.AnswerAccepted {
			t.Fatalf("the run is %s", answer)
		}
		var running sync.WaitGroup
		running.Go(func() { i.run(ctx) })
		time.Sleep(3 * time.Second)
		cancel(errLeft)
		running.Wait()
		check(t, b.work.Wait())
		if n := len(answers); n != 1 {
			t.Fatalf("its trigger was answered %d times", n)
		}
		if answer := <-answers; !strings.HasPrefix(answer, "-NAK") { // its executor cannot be reached
			t.Errorf("its trigger was answered %q", answer)
		}
	})
}

// Runs that begin at the same moment share blocks of numbers, so that log ids rise, and no two live ones
// have a cell in common.
func TestRunsThatBeginTogetherHaveRisingLogIDsAndCellsOfTheirOwn(t *testing.T) {
	bustest.Run(t, now, func(t *testing.T) {
		i := numbering(t)
		begin := func(n int) (ids []int64) {
			runs := make([]*run, n)
			var g errgroup.Group
			for k := range runs {
				runs[k] = newRun(state.Run{})
				g.Go(func() error { return i.attempt(runs[k]).number(t.Context()) })
			}
			check(t, g.Wait())
			for _, r := range runs {
				ids = append(ids, r.kept.LogID)
			}
			slices.Sort(ids)
			return ids
		}
		ids := begin(250)
		if first, last := ids[0], ids[249]; last-first != 249 {
			t.Errorf("250 runs have log ids from %d to %d", first, last)
		}
		for _, id := range ids[1:] {
			delete(i.byLog, id) // they end, and the first goes on
		}
		for last := ids[249]; last < ids[0]+state.Cells+100; {
			next := begin(1)[0]
			if next <= last || next == ids[0]+state.Cells {
				t.Fatalf("after %d comes %d, and %d is live", last, next, ids[0])
			}
			delete(i.byLog, next)
			last = next
		}
	})
}

// An executor with a run now and then uses a block of log ids for longer than it is known whose they are.
func TestALogIDIsGivenOnlyWhileItIsKnownLongEnoughWhoseItIs(t *testing.T) {
	bustest.Run(t, now, func(t *testing.T) {
		i := numbering(t)
		next := func() int64 {
			t.Helper()
			r := newRun(state.Run{})
			check(t, i.attempt(r).number(t.Context()))
			return r.kept.LogID
		}
		first := next()
		i.numbers.taken = i.numbers.taken.Add(-state.BlockFor)
		if id := next(); id != first+1 {
			t.Errorf("within its time the block goes on with %d, after %d", id, first)
		}
		i.numbers.taken = i.numbers.taken.Add(-time.Second)
		if id := next(); id/state.BlockSize != first/state.BlockSize+1 {
			t.Errorf("the block that was taken with %d is too old, and %d is given", first, id)
		}
		if id := next(); id != first+state.BlockSize-first%state.BlockSize+1 {
			t.Errorf("then %d is given", id)
		}
	})
}

// A run that has succeeded must not be begun elsewhere, however late its executor has said so.
func TestAReportThatIsInHandWhenADrainsTimeIsOverEndsTheRun(t *testing.T) {
	for name, after := range map[string]time.Duration{"it comes first": 0, "the last lines are waited for": lastLogWait / 2} {
		bustest.Run(t, now, func(t *testing.T) {
			i, runs, answers := cutOff(t, 8) // a select picks any of what is ready
			var all sync.WaitGroup
			carry := func() {
				for _, r := range runs {
					all.Go(func() { i.attempt(r).carry(t.Context()) })
				}
			}
			if after > 0 {
				carry()
				time.Sleep(after)
			}
			for _, r := range runs {
				all.Go(func() {
					if known, err := i.called(t.Context(), wire.Callback{LogID: r.kept.LogID, Code: wire.CodeOK}); err != nil || !known {
						t.Errorf("%s: the report is answered by %t, %v", name, known, err)
					}
				})
			}
			if after == 0 {
				synctest.Wait() // they are in hand
				carry()
			}
			all.Wait()
			check(t, i.b.work.Wait())
			for _, r := range runs {
				if got := <-answers; got != "+ACK" || !r.stored || r.kept.Unheard {
					t.Errorf("%s: a trigger is answered %q; the run is %+v", name, got, r.kept)
				}
			}
		})
	}
}

func TestARunThatIsCutOffIsGivenBackWithoutAWordFromItsExecutor(t *testing.T) {
	bustest.Run(t, now, func(t *testing.T) {
		i, runs, answers := cutOff(t, 1)
		r, begun := runs[0], time.Now()
		i.attempt(r).carry(t.Context())
		if took := time.Since(begun); took > lastLogWait+500*time.Millisecond || !i.idle() || !r.kept.GivenUp {
			t.Errorf("after %s the run is %+v, and the instance idle: %t", took, r.kept, i.idle())
		}
		if got := <-answers; !strings.HasPrefix(got, "-NAK") {
			t.Errorf("the trigger is answered %q", got)
		}
		if !i.busy[r.kept.Trigger.Job] {
			t.Error("another run of the job may begin, and be killed in its place")
		}
		check(t, i.b.work.Wait())
	})
}

// cutOff returns an instance whose executor takes calls and answers none, runs of it that are to be given
// up since a drain's time is over, and how their triggers are answered.
func cutOff(t *testing.T, n int) (i *instance, runs []*run, answers <-chan string) {
	t.Helper()
	conn := clustertest.Setup(t, bustest.NewBroker(t), "test", 1)
	b, err := New(conn.Conn, Config{Dial: func(context.Context, string, string) (net.Conn, error) { mine, _ := net.Pipe(); return mine, nil }})
	check(t, err)
	t.Cleanup(b.peers.Close)
	b.work = &errgroup.Group{}
	is := state.Instance{Group: "g", Instance: "i", Holder: b.id, Address: "http://10.0.0.1:9999", Secret: bus.NewControlSecret()}
	revision, err := b.store.PutInstance(t.Context(), &is, 0)
	check(t, err)
	g := &group{b: b, name: "g", log: b.log, killed: recent.New[bus.AttemptRef](killedFor, maxKilled), done: recent.New[bus.AttemptRef](doneFor, maxDone), holders: map[bus.AttemptRef]*instance{}, changed: make(chan struct{}, 1)}
	i = newInstance(b, g, is, revision, func(error) {})
	said := make(chan string, 10)
	_, err = conn.NC.Subscribe("ack", func(m *nats.Msg) { said <- string(m.Data) })
	check(t, err)
	for id := range int64(n) {
		i.resume(&state.Run{
			Trigger: &bus.Trigger{RunID: job.NewRunID(now), Job: "g/j", Attempt: 1, TriggerBody: bus.TriggerBody{Task: job.Task{Handler: "h"}}},
			Ack:     "ack", Delivery: 1, LogID: id + 1, JobID: 1, Came: now, Started: now, Said: true,
		})
		runs = append(runs, i.byLog[id+1])
	}
	i.leaving = true
	i.cutOffAll()
	return i, runs, said
}

// numbering returns an instance that gives log ids to runs.
func numbering(t *testing.T) *instance {
	t.Helper()
	b, err := New(clustertest.Setup(t, bustest.NewBroker(t), "test", 1).Conn, Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }})
	check(t, err)
	return newInstance(b, &group{b: b, name: "g"}, state.Instance{Group: "g", Instance: "i"}, 0, func(error) {})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
