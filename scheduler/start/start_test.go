package start_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler"
)

var began = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

// world is a bus with servers, on virtual time, and executors of groups g and h.
type world struct {
	t      *testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	n      int
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	bustest.Run(t, began, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t)}
		w.conn = clustertest.SetupAs(t, w.broker, "test", cluster.Assets{Shards: 4, TrigBytes: 64 << 20, EvtBytes: 16 << 20, LogBytes: 16 << 20})
		f(w)
	})
}

// server runs a node, and returns how to stop it.
func (w *world) server(name string) (stop func()) {
	w.t.Helper()
	s, err := scheduler.New(clustertest.Open(w.t, w.broker, name), scheduler.Config{Node: name})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	over := make(chan error, 1)
	go func() { over <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-over; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	time.Sleep(5 * time.Second)
	return stop
}

// executor runs an executor of a group with the handlers parent and child, until its test ends.
func (w *world) executor(group string, parent executor.HandlerFunc) {
	w.t.Helper()
	w.n++
	name := "x" + string(rune('0'+w.n))
	e, err := executor.New(clustertest.Open(w.t, w.broker, name).Conn, executor.Config{Group: group, Instance: name})
	if err != nil {
		w.t.Fatal(err)
	}
	e.Handle("parent", parent)
	e.Handle("child", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
	ctx, stop := context.WithCancel(w.t.Context())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	w.t.Cleanup(func() {
		stop()
		if err := <-over; err != nil {
			w.t.Error(err)
		}
	})
}

// put saves a job whose task is the handler of its own name.
func (w *world) put(name job.Name, change ...func(*job.Job)) {
	w.t.Helper()
	j := job.Job{Job: name, Task: job.Task{Handler: strings.TrimPrefix(string(name), name.Group()+"/")}}
	for _, f := range change {
		f(&j)
	}
	if err := w.conn.Groups().Ensure(w.t.Context(), name.Group()); err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.conn.Jobs().Put(w.t.Context(), j.WithDefaults(), cluster.Edit{At: time.Now()}); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
}

// fire asks for a run of the parent, as the API does.
func (w *world) fire() job.RunID {
	w.t.Helper()
	const name = "g/parent"
	var reply bus.TriggerReply
	r := bus.TriggerRequest{RunID: job.NewRunID(time.Now()), Job: name, Cause: job.CauseAPI}
	if err := w.conn.Shards().AskOwner(w.t.Context(), name, "trigger", 0, r, &reply, 5*time.Second); err != nil {
		w.t.Fatal(err)
	}
	return reply.RunID
}

// made returns the runs of a job that owners have decided to make, in their order.
func (w *world) made(name job.Name) (all []journal.Decided) {
	w.t.Helper()
	err := w.conn.Scan(w.t.Context(), bus.StreamTrig, bus.SubjectRecords, func(s *jet.Stored) bool {
		record, err := journal.DecodeRecord(s.Header, s.Data)
		if err != nil {
			w.t.Error(err)
			return true
		}
		err = record.Each(func(d journal.Decided) {
			if d.Job == name {
				all = append(all, d)
			}
		})
		if err != nil {
			w.t.Error(err)
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// wantMade checks that so many runs of a job were made, each once, as children of a run.
func (w *world) wantMade(name job.Name, want int, parent job.RunID) {
	w.t.Helper()
	made := w.made(name)
	seen := map[job.RunID]bool{}
	for _, d := range made {
		if d.Cause != job.CauseParent || d.Parent != parent || d.By != "g/parent" {
			w.t.Errorf("made %+v; want a child of run %s", d, parent)
		}
		seen[d.RunID] = true
	}
	if len(seen) != want || len(made) != want {
		w.t.Errorf("%d runs were made, in %d decisions; want %d", len(seen), len(made), want)
	}
}

func TestAHandlerThatStartsRunsAndFailsStartsEachOnce(t *testing.T) {
	const wait = 10 * time.Minute
	run(t, func(w *world) {
		stop := w.server("a")
		w.executor("g", func(ctx context.Context, r *executor.Run) (any, error) {
			for n := range 20 {
				if r.Attempt() == 1 && n == 10 {
					return nil, errors.New("half of it is done")
				}
				if _, err := r.Start(ctx, "g/child", map[string]int{"n": n / 2}); err != nil { // each twice
					return nil, err
				}
			}
			return nil, nil
		})
		w.put("g/child")
		w.put("g/parent", func(j *job.Job) {
			j.Retry = job.Retry{Limit: 1, Backoff: job.BackoffConstant, Delay: job.Duration(wait)}
		})
		parent := w.fire()
		time.Sleep(wait / 2)
		w.wantMade("g/child", 10, parent)
		stop()
		w.server("b")
		time.Sleep(wait + time.Minute)
		w.wantMade("g/child", 20, parent)
	})
}

func TestARequestForAStartThatIsRepeatedStartsOneRun(t *testing.T) {
	run(t, func(w *world) {
		w.server("a")
		w.server("b")
		w.put("g/child")
		token, ack := w.hold()
		var ids []job.RunID
		for range 3 { // the answers may be lost
			reply, err := w.ask("g", token, ack, &bus.StartRequest{Job: "g/child", Params: json.RawMessage(`{"n":1}`)})
			if err != nil {
				w.t.Fatal(err)
			}
			ids = append(ids, reply.RunID)
		}
		var same sync.WaitGroup
		for range 8 { // at the same time
			same.Go(func() {
				if _, err := w.ask("g", token, ack, &bus.StartRequest{Job: "g/child", Params: json.RawMessage(`{"n":2}`)}); err != nil {
					w.t.Error(err)
				}
			})
		}
		same.Wait()
		if len(slices.Compact(ids)) != 1 {
			w.t.Errorf("one request has started runs %v", ids)
		}
		if n := len(w.made("g/child")); n != 2 {
			w.t.Errorf("%d runs were made, want 2", n)
		}
	})
}

func TestAStartIsOnlyForALiveAttemptAndItsToken(t *testing.T) {
	run(t, func(w *world) {
		w.server("a")
		w.put("g/child")
		w.put("h/child")
		token, ack := w.hold()
		child := &bus.StartRequest{Job: "g/child"}
		refused := func(what string, kind error, group, token, ack string, r *bus.StartRequest) {
			w.t.Helper()
			if reply, err := w.ask(group, token, ack, r); !errors.Is(err, kind) {
				w.t.Errorf("%s: answered %+v, %v; want %v", what, reply, err, kind)
			}
		}
		forged := []byte(token)
		forged[len(forged)-1] ^= 1
		refused("without a token", job.ErrInvalid, "g", "", ack, child)
		refused("with another token", job.ErrInvalid, "g", string(forged), ack, child)
		refused("without the trigger", job.ErrInvalid, "g", token, "", child)
		refused("with a subject of another stream", job.ErrInvalid, "g", token, "$JS.ACK.EVT.x.1.1.1.1.1", child)
		refused("with a wildcard", job.ErrInvalid, "g", token, "$JS.ACK.*.x.1.1.1.1.1", child)
		refused("of another group", job.ErrInvalid, "h", token, ack, &bus.StartRequest{Job: "h/child"})
		refused("a job of another group", job.ErrConflict, "g", token, ack, &bus.StartRequest{Job: "h/child"})
		refused("a job that is not there", job.ErrNotFound, "g", token, ack, &bus.StartRequest{Job: "g/nothing"})
		refused("no job", job.ErrInvalid, "g", token, ack, &bus.StartRequest{Job: "x"})
		refused("too many bytes", job.ErrInvalid, "g", token, ack, &bus.StartRequest{Job: "g/child", Params: json.RawMessage(`"` + strings.Repeat("x", job.MaxParams) + `"`)})
		refused("a count beyond all", job.ErrInvalid, "g", token, ack, &bus.StartRequest{Job: "g/child", Count: bus.MaxStarts})
		refused("a negative count", job.ErrInvalid, "g", token, ack, &bus.StartRequest{Job: "g/child", Count: -1})
		refused("two instants", job.ErrInvalid, "g", token, ack, &bus.StartRequest{Job: "g/child", In: job.Duration(time.Hour), At: time.Now()})
		refused("an instant long ago", job.ErrInvalid, "g", token, ack, &bus.StartRequest{Job: "g/child", At: began.AddDate(0, -1, 0)})
		if made := w.made("g/child"); len(made) != 0 {
			w.t.Errorf("what was refused has made %+v", made)
		}
		if _, err := w.ask("g", token, ack, child); err != nil {
			w.t.Error(err)
		}
		if err := w.conn.NC.Publish(ack, []byte("+ACK")); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Second)
		refused("after its end", job.ErrConflict, "g", token, ack, &bus.StartRequest{Job: "g/child", Count: 1})
	})
}

func TestHandlersStartJobsOfAnotherGroupThatPermitsIt(t *testing.T) {
	run(t, func(w *world) {
		w.server("a")
		w.put("h/child")
		token, ack := w.hold()
		request := &bus.StartRequest{Job: "h/child"}
		startedBy := func(groups ...string) {
			if _, err := w.conn.Groups().Set(w.t.Context(), "h", cluster.GroupSettings{StartedBy: &groups}); err != nil {
				w.t.Fatal(err)
			}
		}
		refused := func() {
			const text = "handlers of group g may not start h/child: add g to started_by of group h"
			if _, err := w.ask("g", token, ack, request); !errors.Is(err, job.ErrConflict) || !strings.HasSuffix(err.Error(), text) {
				w.t.Errorf("refused with %v, want %s", err, text)
			}
		}
		refused()
		startedBy("x", "g")
		if _, err := w.ask("g", token, ack, request); err != nil {
			w.t.Error(err)
		}
		w.wantMade("h/child", 1, w.made("g/parent")[0].RunID)
		startedBy("x")
		refused()
	})
}

func TestCodeStartsAtMostAThousandRuns(t *testing.T) {
	run(t, func(w *world) {
		w.server("a")
		w.put("g/child")
		token, ack := w.hold()
		if _, err := w.ask("g", token, ack, &bus.StartRequest{Job: "g/child", Count: 7}); err != nil {
			w.t.Fatal(err)
		}
		runs := map[string]int64{} // and so many others
		for n := range bus.MaxStarts - 2 {
			runs[strconv.Itoa(n)] = 1
		}
		w.addStarted(runs)
		if _, err := w.ask("g", token, ack, &bus.StartRequest{Job: "g/child", Count: 8}); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.ask("g", token, ack, &bus.StartRequest{Job: "g/child", Params: json.RawMessage(`1`)}); !errors.Is(err, job.ErrTooMany) {
			w.t.Errorf("one more: %v", err)
		}
		if reply, err := w.ask("g", token, ack, &bus.StartRequest{Job: "g/child", Count: 7}); err != nil || !reply.Existed {
			w.t.Errorf("one of them again: %+v, %v", reply, err)
		}
	})
}

func TestARunThatStartsItselfEndsAtADepth(t *testing.T) {
	run(t, func(w *world) {
		w.server("a")
		var mu sync.Mutex
		var refused []error
		w.executor("g", func(ctx context.Context, r *executor.Run) (any, error) {
			_, err := r.Start(ctx, "g/parent", nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused = append(refused, err)
			}
			return nil, nil
		})
		w.put("g/parent")
		w.fire()
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if n := len(w.made("g/parent")); n != 1+bus.MaxStartDepth || len(refused) != 1 || !errors.Is(refused[0], job.ErrConflict) {
			w.t.Errorf("%d runs were made, and refused were %v", n, refused)
		}
	})
}

func TestAHandlerStartsRunsForLater(t *testing.T) {
	run(t, func(w *world) {
		w.server("a")
		due := began.Add(2 * time.Hour)
		w.executor("g", func(ctx context.Context, r *executor.Run) (any, error) {
			_, err := r.Start(ctx, "g/child", "${fire_time}", executor.At(due), executor.Expires(time.Hour))
			_, again := r.Start(ctx, "g/child", nil, executor.In(time.Hour))
			return nil, errors.Join(err, again)
		})
		w.put("g/child")
		w.put("g/parent")
		parent := w.fire()
		time.Sleep(time.Minute)
		w.wantMade("g/child", 2, parent) // they wait
		if at := w.made("g/child")[0]; at.Status != job.StatusQueued || !at.FireTime.Equal(due) {
			w.t.Errorf("the one of an instant is %+v", at)
		}
		given, err := w.conn.Overrides().Get(w.t.Context(), "g", w.made("g/child")[0].RunID)
		if literal, _ := job.ParamsAt(given.Params, due, time.UTC); err != nil || string(literal) != `"${fire_time}"` {
			w.t.Errorf("it is given %s, %v", given.Params, err)
		}
	})
}

// addStarted adds runs to those that the only run of g/parent has started.
func (w *world) addStarted(runs map[string]int64) {
	w.t.Helper()
	key := "$KV." + bus.BucketStarted + ".g." + string(w.made("g/parent")[0].RunID)
	stored, err := w.conn.Last(w.t.Context(), "KV_"+bus.BucketStarted, key)
	if err != nil {
		w.t.Fatal(err)
	}
	var all struct {
		Runs map[string]int64 `json:"runs"`
	}
	if err := json.Unmarshal(stored.Data, &all); err != nil {
		w.t.Fatal(err)
	}
	maps.Copy(all.Runs, runs)
	data, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.conn.JS.Publish(w.t.Context(), key, data); err != nil {
		w.t.Fatal(err)
	}
}

// hold pulls the trigger of a run of g/parent as an executor does, and keeps it.
func (w *world) hold() (token, ack string) {
	w.t.Helper()
	w.put("g/parent")
	w.fire()
	time.Sleep(time.Second)
	consumer, err := w.conn.JS.Consumer(w.t.Context(), bus.StreamTrig, bus.ConsumerAny("g"))
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := consumer.Next()
	if err != nil {
		w.t.Fatal(err)
	}
	return m.Headers().Get(bus.HeaderToken), m.Reply()
}

// ask sends a request to start a run.
func (w *world) ask(group, token, ack string, r *bus.StartRequest) (reply bus.StartReply, err error) {
	m, err := r.Msg(group, token, ack)
	if err != nil {
		return reply, err
	}
	answer, err := w.conn.NC.RequestMsg(&nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}, 10*time.Second)
	if err != nil {
		return reply, err
	}
	return reply, bus.DecodeReply(answer, m.Subject, &reply)
}
