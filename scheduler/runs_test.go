package scheduler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// executor does the runs of a group, each at once or as long as a test says.
type executor struct {
	w    *world
	conn *cluster.Conn
	// slots is how many runs it does at the same time, one if it is 0.
	slots int
	// lingers is how long it goes on with a run that it was told to end, and then reports it as if it
	// had not been told.
	lingers time.Duration
	// answers is how long after it has reported an end it acknowledges the trigger.
	answers time.Duration
}

// execute starts an executor of group g, which takes every trigger, works for the given time and
// says that it has succeeded. It ends with the test.
func (w *world) execute(takes time.Duration) {
	w.t.Helper()
	w.executeAs(func(*bus.Trigger) (time.Duration, job.Status) { return takes, job.StatusSucceeded })
}

// known makes an instance known, and returns where it is to take requests.
func (w *world) known(conn *cluster.Conn, group, instance string) bus.Address {
	w.t.Helper()
	beat := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{
		Group: group, Instance: instance, State: fleet.InstanceOnline, Protocol: fleet.Protocol, At: time.Now(),
	}}
	data, err := json.Marshal(beat)
	if err == nil {
		_, err = conn.JS.Publish(w.t.Context(), bus.SubjectHeartbeat(group, instance), data)
	}
	if err != nil {
		w.t.Error(err)
	}
	return beat.Address()
}

// executeAs is execute where do says how long an attempt takes, and how it ends unless
// it is killed first.
func (w *world) executeAs(do func(*bus.Trigger) (time.Duration, job.Status)) {
	w.t.Helper()
	w.executeBy(&executor{w: w, conn: w.connect("executor")}, do)
}

// executeBy is executeAs with an executor that may not end a run when it is told to.
func (w *world) executeBy(x *executor, do func(*bus.Trigger) (time.Duration, job.Status)) {
	w.t.Helper()
	const group = "g"
	if err := w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: group, HasRouted: true}); err != nil {
		w.t.Fatal(err)
	}
	killed := w.known(x.conn, group, "x").Subject(bus.VerbKill)
	ctx, stop := context.WithCancel(w.t.Context())
	var done sync.WaitGroup
	w.t.Cleanup(func() { stop(); done.Wait() })
	for _, from := range w.conn.Cluster().Partitions.Consumers(bus.ConsumerAny(group)) {
		c, err := x.conn.JS.Consumer(ctx, from.Stream, from.Consumer) // here, as the test may silence the stream next
		if err != nil {
			w.t.Fatal(err)
		}
		for range max(1, x.slots) {
			kills := make(chan *nats.Msg, 16)
			if _, err := x.conn.NC.ChanSubscribe(killed, kills); err != nil {
				w.t.Fatal(err)
			}
			done.Go(func() { x.run(ctx, c, kills, do) })
		}
	}
}

func (x *executor) run(ctx context.Context, c jetstream.Consumer, kills <-chan *nats.Msg, do func(*bus.Trigger) (time.Duration, job.Status)) {
	for ctx.Err() == nil {
		m, err := c.Next(jetstream.FetchContext(ctx))
		if err != nil {
			continue
		}
		tr, err := bus.DecodeTrigger(m.Headers(), m.Data())
		if err != nil {
			x.w.t.Error(err)
			return
		}
		takes, status := do(tr)
		if kill := killOf(ctx, tr.RunID, kills, takes); kill != nil {
			if x.lingers == 0 {
				status = job.StatusCancelled
			}
			if err := bus.RespondInstance(kill, &fleet.InstanceReply{Instance: "x", Answer: fleet.AnswerAccepted}); err != nil {
				x.w.t.Error(err)
			}
			time.Sleep(x.lingers)
		}
		if ctx.Err() != nil {
			return
		}
		e := bus.EventOf(tr, bus.EventFinished, time.Now())
		e.Status, e.StartedAt, e.FinishedAt = status, e.At.Add(-takes), e.At
		x.say(ctx, e, m.Headers().Get(bus.HeaderToken), tr.Report)
		time.Sleep(x.answers)
		if err := m.DoubleAck(ctx); err != nil && ctx.Err() == nil {
			x.w.t.Error(err)
		}
	}
}

// killOf returns the request to kill a run that comes within the time that the run takes, or nil.
func killOf(ctx context.Context, id job.RunID, kills <-chan *nats.Msg, takes time.Duration) *nats.Msg {
	end := time.NewTimer(takes)
	defer end.Stop()
	for {
		select {
		case kill := <-kills:
			if request, err := bus.DecodeKill(kill.Data); err == nil && request.RunID == id {
				return kill
			}
		case <-end.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// say publishes an event about an attempt, with the token of its trigger, or a pack if the trigger says
// where to. As executors do, it sends again what nobody has answered, such as a stream that was deleted
// just then.
func (x *executor) say(ctx context.Context, e *bus.Event, token, report string) {
	msg, err := e.Msg(token)
	if err == nil && report != "" {
		msg = bustest.Pack(report, msg)
	}
	for err == nil {
		if _, err = x.conn.JS.PublishMsg(ctx, msg); err == nil {
			return
		}
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = nil
		}
	}
	if err != nil && ctx.Err() == nil {
		x.w.t.Error(err)
	}
}

// trigger asks for a run of a job now.
func (w *world) trigger(id job.RunID, name job.Name) (bus.TriggerReply, error) {
	var reply bus.TriggerReply
	err := w.conn.Ask(w.t.Context(), bus.SubjectCommand(name.Shard(w.conn.Cluster().Shards), "trigger"),
		bus.TriggerRequest{RunID: id, Job: name, Cause: job.CauseManual, By: "ann"}, &reply, 5*time.Second)
	return reply, err
}

// cancel asks for the end of a run of g/a.
func (w *world) cancel(id job.RunID) (bus.CancelReply, error) { return w.cancelOf("g/a", id) }

func (w *world) cancelOf(name job.Name, id job.RunID) (bus.CancelReply, error) {
	var reply bus.CancelReply
	err := w.conn.Ask(w.t.Context(), bus.SubjectCommand(name.Shard(w.conn.Cluster().Shards), "cancel"),
		bus.CancelRequest{RunID: id, Job: name, By: "ann", Reason: "wrong day"}, &reply, 5*time.Second)
	return reply, err
}

// events returns what EVT has, oldest first.
func (w *world) events() []*bus.Event {
	w.t.Helper()
	var all []*bus.Event
	err := w.conn.Scan(w.t.Context(), bus.StreamEvt, "evt.>", func(m *jet.Stored) bool {
		for e, err := range w.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At) {
			if err == nil {
				all = append(all, e)
			}
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func TestAFixedDelayCountsFromTheEndOfTheRunBefore(t *testing.T) {
	run(t, func(w *world) {
		w.execute(4 * time.Second)
		w.startNode("a")
		w.put("g/poll", job.Schedule{FixedDelay: job.Duration(10 * time.Second)})
		time.Sleep(20 * time.Second) // 00:00:50; the first run ended at 00:00:44.005
		w.stopNode("a")              // the next owner knows what the job waits for
		w.startNode("b")
		time.Sleep(18 * time.Second) // 00:01:08; the second run ended at 00:00:58.015
		w.broker.Stop()
		w.broker.Start()
		time.Sleep(2 * time.Second)
		all := w.fires("g/poll", 0)
		if len(all) != 3 {
			w.t.Fatalf("%d fires, want 3", len(all))
		}
		for i, f := range all {
			want := second(10 + 14*i)
			if d := f.FireTime.Sub(want); f.Status != job.StatusPending || d < 0 || d > 100*time.Millisecond {
				w.t.Errorf("fire %d at %v, %s; want it at %v", i, f.FireTime, f.Status, want)
			}
		}
	})
}

func TestGarbageAmongTheEventsIsPassedOver(t *testing.T) {
	runAt(t, start, 1, func(w *world) {
		w.execute(time.Second)
		w.startNode("a")
		w.put("g/poll", job.Schedule{FixedDelay: job.Duration(10 * time.Second)})
		for range 12 {
			for _, data := range []string{"", "garbage", "{}", `{"kind":"finished","job":"other/job"}`, "null", "[]"} {
				if _, err := w.conn.JS.Publish(w.t.Context(), bus.SubjectEvent(0, "g"), []byte(data)); err != nil {
					w.t.Fatal(err)
				}
			}
			time.Sleep(3 * time.Second)
		}
		if n := len(w.fires("g/poll", 0)); n != 3 {
			w.t.Errorf("%d fires, want 3", n)
		}
	})
}

func TestARunIsMadeWhenSomebodyAsks(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		id := job.NewRunID(time.Now())
		for range 3 { // the same request again makes no second run
			reply, err := w.trigger(id, "g/a")
			if err != nil || reply.RunID != id || reply.Version != 1 {
				w.t.Errorf("reply %+v, %v", reply, err)
			}
		}
		w.wantDecided("g/a 00:00:31 pending manual")
		if ids := w.triggers(); len(ids) != 1 || ids[0] != id {
			w.t.Errorf("triggers %v, want %s", ids, id)
		}
	})
}

func TestAWrongRequestIsRefused(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		if _, err := w.trigger(job.NewRunID(time.Now()), "g/none"); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("a run of an unknown job: %v", err)
		}
		if _, err := w.trigger("1", "g/a"); !errors.Is(err, job.ErrInvalid) {
			w.t.Errorf("a run with a bad id: %v", err)
		}
		if _, err := w.cancel(job.NewRunID(time.Now())); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("the end of an unknown run: %v", err)
		}
		shard := job.Name("g/a").Shard(8)
		for _, verb := range []string{"trigger", "cancel", "dance"} {
			m, err := w.conn.NC.Request(bus.SubjectCommand(shard, verb), []byte("garbage"), time.Second)
			if err != nil || !strings.Contains(string(m.Data), `"invalid"`) {
				w.t.Errorf("garbage to %s: %v, %v", verb, m, err)
			}
		}
	})
}

func TestARequestToAShardWithoutOwnerSaysSo(t *testing.T) {
	run(t, func(w *world) {
		w.put("g/a", job.Schedule{})
		began := time.Now()
		if _, err := w.trigger(job.NewRunID(began), "g/a"); !errors.Is(err, job.ErrUnavailable) || time.Since(began) > time.Second {
			w.t.Errorf("%v after %v, want unavailable at once", err, time.Since(began))
		}
	})
}

func TestRequestsDuringHandOversMakeOneRunOrSayThatTheyDidNot(t *testing.T) {
	run(t, func(w *world) {
		w.put("g/a", job.Schedule{})
		w.startNode("a")
		w.startNode("b")
		time.Sleep(5 * time.Second)
		stop := make(chan struct{})
		asked := make(chan map[job.RunID]error)
		go func() {
			all := map[job.RunID]error{}
			for {
				select {
				case <-stop:
					asked <- all
					return
				default:
				}
				id := job.NewRunID(time.Now())
				_, err := w.trigger(id, "g/a")
				all[id] = err
				time.Sleep(5 * time.Millisecond)
			}
		}()
		for range 3 {
			w.stopNode("a")
			w.startNode("a")
			time.Sleep(2 * time.Second)
			w.stopNode("b")
			w.startNode("b")
			time.Sleep(2 * time.Second)
		}
		close(stop)
		made := map[job.RunID]int{}
		for _, id := range w.triggers() {
			made[id]++
		}
		refused := 0
		for id, err := range <-asked {
			if err != nil {
				refused++
			}
			switch {
			case err == nil && made[id] != 1:
				w.t.Errorf("%d runs for a request that was confirmed", made[id])
			case err != nil && !errors.Is(err, job.ErrUnavailable):
				w.t.Errorf("refused with %v", err)
			case made[id] > 1:
				w.t.Errorf("%d runs for one request", made[id])
			}
		}
		if len(made) < 100 || refused > len(made) {
			w.t.Errorf("%d runs made, %d requests refused", len(made), refused)
		}
	})
}

func TestCancellingAPendingRunDeletesItsTriggerAndRecordsItsEnd(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		id, other := job.NewRunID(time.Now()), job.NewRunID(time.Now())
		for _, id := range []job.RunID{id, other} {
			if _, err := w.trigger(id, "g/a"); err != nil {
				w.t.Fatal(err)
			}
		}
		reply, err := w.cancel(id)
		if err != nil || reply.Found != job.StatusPending {
			w.t.Errorf("reply %+v, %v", reply, err)
		}
		if ids := w.triggers(); len(ids) != 1 || ids[0] != other {
			w.t.Errorf("triggers %v, want %s", ids, other)
		}
		events := w.events()
		if len(events) != 1 || events[0].RunID != id || events[0].Status != job.StatusCancelled || events[0].Message != "cancelled by ann: wrong day" {
			w.t.Errorf("events %+v", events)
		}
		time.Sleep(time.Second) // until its owner has heard of the end
		if _, err := w.cancel(id); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("cancelled again: %v", err)
		}
	})
}

func TestCancellingARunningRunIsItsExecutorsBusiness(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		id := job.NewRunID(time.Now())
		if _, err := w.trigger(id, "g/a"); err != nil {
			w.t.Fatal(err)
		}
		heard := make(chan bus.KillRequest, 1)
		executor := w.connect("executor")
		if _, err := executor.NC.Subscribe(w.known(executor, "g", "x").Subject(bus.VerbKill), func(m *nats.Msg) {
			var r bus.KillRequest
			if err := errors.Join(bus.CheckRequest(m), json.Unmarshal(m.Data, &r)); err != nil {
				w.t.Error(err)
			}
			heard <- r
			_ = bus.RespondInstance(m, &fleet.InstanceReply{Instance: "x", Answer: fleet.AnswerAccepted})
		}); err != nil {
			w.t.Fatal(err)
		}
		if err := executor.NC.Flush(); err != nil {
			w.t.Fatal(err)
		}
		reply, err := w.cancel(id)
		if err != nil || reply.Found != job.StatusRunning {
			w.t.Errorf("reply %+v, %v", reply, err)
		}
		if r := <-heard; r.RunID != id || r.By != "ann" || r.Reason != "wrong day" {
			w.t.Errorf("the executor heard %+v", r)
		}
		if ids := w.triggers(); len(ids) != 1 {
			w.t.Errorf("triggers %v: it is its executor's to acknowledge", ids)
		}
		if n := len(w.events()); n != 0 {
			w.t.Errorf("%d events: it is its executor's to record the end", n)
		}
	})
}

func TestARequestWaitsForTheVersionThatItsAskerHasSaved(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		first := w.put("g/a", job.Schedule{})
		synctest.Wait()
		ask := func(revision uint64) <-chan string {
			answer := make(chan string, 1)
			go func() {
				var reply bus.TriggerReply
				err := w.conn.Shards().AskOwner(w.t.Context(), "g/a", "trigger", revision,
					bus.TriggerRequest{RunID: job.NewRunID(time.Now()), Job: "g/a", Cause: job.CauseManual}, &reply, 5*time.Second)
				answer <- fmt.Sprint(reply.Version, errors.Is(err, job.ErrUnavailable))
			}()
			synctest.Wait()
			return answer
		}
		want := func(answer <-chan string, want string) {
			w.t.Helper()
			if got := <-answer; got != want {
				w.t.Errorf("answer %q, want %q", got, want)
			}
		}
		want(ask(first), "1 false")
		early := ask(first + 1)
		select {
		case got := <-early:
			w.t.Fatalf("answered %q before the version was heard of", got)
		default:
		}
		w.put("g/a", job.Schedule{FixedRate: job.Duration(time.Hour)})
		want(early, "2 false")
		want(ask(first+1000), "0 true") // never comes: says so before the asker gives up
	})
}

func TestNoMoreThanSomeRequestsWaitForTheirVersions(t *testing.T) {
	const most = 1024 // of a shard
	run(t, func(w *world) {
		w.startNode("a")
		revision := w.put("g/a", job.Schedule{}) + 1
		synctest.Wait()
		refused := make(chan time.Time, most+2)
		for i := range most + 2 {
			go func() {
				var reply bus.TriggerReply
				err := w.conn.Shards().AskOwner(w.t.Context(), "g/a", "trigger", revision,
					bus.TriggerRequest{RunID: job.NewRunID(time.Now()), Job: "g/a", Cause: job.CauseManual}, &reply, 5*time.Second)
				if errors.Is(err, job.ErrUnavailable) {
					refused <- time.Now()
				}
			}()
			if i%100 == 0 { // the owner reads some at a time
				synctest.Wait()
			}
		}
		synctest.Wait()
		if n := len(refused); n != 2 {
			t.Errorf("%d requests of %d are refused at once, want 2", n, most+2)
		}
		w.put("g/a", job.Schedule{FixedRate: job.Duration(time.Hour)})
		synctest.Wait()
		if n := len(refused); n != 2 {
			t.Errorf("%d requests are refused after their version has come, want 2", n)
		}
	})
}
