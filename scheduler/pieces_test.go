package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	sdk "github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// crew is real executors of group g, and what they were asked to do.
type crew struct {
	w       *world
	mu      sync.Mutex
	did     []string // "instance index/total attempt item", as handlers begin
	now     int      // how many are at it
	most    int      // how many ever were at once
	members map[string]*member
}

type member struct {
	conn *cluster.Conn
	stop context.CancelFunc
	done chan error
}

func (w *world) crew() *crew { return &crew{w: w, members: map[string]*member{}} }

// join adds an executor whose handler h is work.
func (c *crew) join(name string, labels job.Labels, work func(context.Context, *sdk.Run) (any, error)) {
	c.w.t.Helper()
	m := &member{conn: c.w.connect(name), done: make(chan error, 1)}
	x, err := sdk.New(m.conn.Conn, sdk.Config{Group: "g", Instance: name, Slots: 4, Labels: labels})
	if err != nil {
		c.w.t.Fatal(err)
	}
	x.Handle("h", sdk.HandlerFunc(func(ctx context.Context, r *sdk.Run) (any, error) {
		index, total := r.Broadcast()
		c.mu.Lock()
		c.did = append(c.did, strings.TrimSpace(fmt.Sprintf("%s %d/%d %d %s", name, index, total, r.Attempt(), r.Item())))
		c.now++
		c.most = max(c.most, c.now)
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.now--
		}()
		return work(ctx, r)
	}))
	ctx, stop := context.WithCancel(c.w.t.Context())
	m.stop = stop
	c.members[name] = m
	go func() { m.done <- x.Run(ctx) }()
	c.w.t.Cleanup(func() {
		if c.members[name] == m {
			stop()
			if err := <-m.done; err != nil {
				c.w.t.Errorf("executor %s: %v", name, err)
			}
		}
	})
}

// die ends an executor as a crash does.
func (c *crew) die(name string) {
	m := c.members[name]
	delete(c.members, name)
	m.conn.NC.Close()
	m.stop()
	if err := <-m.done; err != nil {
		c.w.t.Logf("executor %s died: %v", name, err)
	}
}

// wantDone compares what the crew was asked to do, in any order.
func (c *crew) wantDone(want ...string) {
	c.w.t.Helper()
	c.mu.Lock()
	got := slices.Sorted(slices.Values(c.did))
	c.mu.Unlock()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.w.t.Errorf("done:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// told returns what the records say of a run, as "attempt status pieces".
func (w *world) told(id job.RunID) (all []string, last journal.Decided) {
	w.t.Helper()
	w.records(func(_ *journal.Record, d journal.Decided) {
		if d.RunID == id {
			all = append(all, fmt.Sprintf("%d %s %d", d.Attempt, d.Status, d.Total))
			last = d
		}
	})
	return all, last
}

func (w *world) wantTold(id job.RunID, want ...string) journal.Decided {
	w.t.Helper()
	got, last := w.told(id)
	if !slices.Equal(got, want) {
		w.t.Errorf("the records say %q of the run, at last since %q; want %q", got, last.Reason, want)
	}
	return last
}

// work takes its time, unless it is called off.
func work(takes time.Duration) func(context.Context, *sdk.Run) (any, error) {
	return func(ctx context.Context, _ *sdk.Run) (any, error) {
		timer := time.NewTimer(takes)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func broadcast(j *job.Job) { j.Route = job.RouteBroadcast }

func mapped(m job.Map) func(*job.Job) { return func(j *job.Job) { j.Map = &m } }

// begin asks for a run of g/a.
func (w *world) begin() job.RunID {
	w.t.Helper()
	id := job.NewRunID(time.Now())
	if _, err := w.trigger(id, "g/a"); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func TestABroadcastIsDoneOnceByEachInstanceThatIsOnline(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("n1")
		c := w.crew()
		for _, name := range []string{"a", "b", "c"} {
			c.join(name, job.Labels{"zone": map[bool]string{true: "eu", false: "us"}[name != "c"]}, work(time.Minute))
		}
		w.put("g/a", job.Schedule{}, broadcast)
		time.Sleep(10 * time.Second)
		id := w.begin()
		time.Sleep(50 * time.Second)
		w.wantTold(id, "1 pending 3")
		time.Sleep(15 * time.Second)
		w.wantTold(id, "1 pending 3", "1 succeeded 3")
		c.wantDone("a 0/3 1", "b 1/3 1", "c 2/3 1")

		w.put("g/a", job.Schedule{}, broadcast, func(j *job.Job) { j.Labels = job.Labels{"zone": "eu"} })
		time.Sleep(time.Second)
		id = w.begin()
		time.Sleep(65 * time.Second)
		w.wantTold(id, "1 pending 2", "1 succeeded 2")
		c.wantDone("a 0/3 1", "b 1/3 1", "c 2/3 1", "a 0/2 1", "b 1/2 1")
	})
}

func TestABroadcastWaitsUntilAnInstanceIsOnline(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("n1")
		c := w.crew()
		w.put("g/a", job.Schedule{}, broadcast)
		time.Sleep(5 * time.Second)
		id := w.begin()
		time.Sleep(time.Minute)
		if last := w.wantTold(id, "1 queued 0"); !strings.Contains(last.Reason, "until an instance of executor group g is online") {
			t.Errorf("it waits since %q", last.Reason)
		}
		c.join("late", nil, work(0))
		time.Sleep(10 * time.Second)
		w.wantTold(id, "1 queued 0", "1 pending 1", "1 succeeded 1")
		c.wantDone("late 0/1 1")

		c.die("late")
		time.Sleep(time.Minute)
		w.put("g/a", job.Schedule{}, broadcast, func(j *job.Job) { j.StartWithin = job.Duration(time.Minute) })
		time.Sleep(time.Second)
		id = w.begin()
		time.Sleep(65 * time.Second)
		w.wantTold(id, "1 queued 0", "1 missed 0")
	})
}

func TestThePieceOfAnInstanceThatDiesIsDoneByAnother(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("n1")
		w.startNode("n2")
		c := w.crew()
		for _, name := range []string{"a", "b", "c"} {
			c.join(name, nil, work(20*time.Second))
		}
		w.put("g/a", job.Schedule{}, broadcast)
		time.Sleep(10 * time.Second)
		id := w.begin()
		time.Sleep(5 * time.Second)
		c.die("b")
		owner := "n1"
		if name := job.Name("g/a"); w.ownerOf(name.Shard(8)) == "n2" {
			owner = "n2"
		}
		w.killNode(owner)
		time.Sleep(time.Minute)
		w.wantTold(id, "1 pending 3", "1 succeeded 3")
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.did) != 4 || !strings.HasSuffix(c.did[3], " 1/3 1") || strings.HasPrefix(c.did[3], "b") {
			t.Errorf("done: %q; want piece 1 twice, at last by a or c", c.did)
		}
	})
}

// ownerOf returns the node that committed last for a shard.
func (w *world) ownerOf(shard int) (node string) {
	w.records(func(r *journal.Record, _ journal.Decided) {
		if r.Shard == shard {
			node = r.Node
		}
	})
	return node
}

func TestAMapRunsSoManyPiecesAtOnceAndRepeatsThoseThatFailed(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("n1")
		c := w.crew()
		do := func(ctx context.Context, r *sdk.Run) (any, error) {
			if index, _ := r.Broadcast(); (index == 3 || index == 8) && r.Attempt() == 1 {
				return nil, errors.New("not today")
			}
			return work(10*time.Second)(ctx, r)
		}
		c.join("a", nil, do)
		c.join("b", nil, do)
		w.put("g/a", job.Schedule{}, mapped(job.Map{Pieces: 10, AtOnce: 3}), func(j *job.Job) {
			j.Retry = job.Retry{Limit: 1, Delay: job.Duration(30 * time.Second)}
		})
		time.Sleep(5 * time.Second)
		id := w.begin()
		time.Sleep(3 * time.Minute)
		last := w.wantTold(id, "1 pending 10", "1 failed 10", "2 queued 10", "2 pending 10", "2 succeeded 10")
		if last.Reason != "" {
			t.Errorf("it has succeeded since %q", last.Reason)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.most != 3 {
			t.Errorf("%d pieces were done at once; want 3", c.most)
		}
		times := map[string]int{}
		for _, d := range c.did {
			times[strings.Join(strings.Fields(d)[1:], " ")]++
		}
		want := map[string]int{"3/10 2": 1, "8/10 2": 1}
		for i := range 10 {
			want[fmt.Sprintf("%d/10 1", i)] = 1
		}
		if !maps.Equal(times, want) {
			t.Errorf("done: %v; want %v", times, want)
		}
	})
}

func TestARunSucceedsWhenEnoughOfItsPiecesDo(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("n1")
		c := w.crew()
		c.join("a", nil, func(_ context.Context, r *sdk.Run) (any, error) {
			if index, _ := r.Broadcast(); index%4 == 0 {
				return nil, errors.New("bad piece")
			}
			return nil, nil
		})
		w.put("g/a", job.Schedule{}, mapped(job.Map{Pieces: 8}), func(j *job.Job) { j.SucceedsIf = 75 })
		time.Sleep(5 * time.Second)
		id := w.begin()
		time.Sleep(5 * time.Second)
		last := w.wantTold(id, "1 pending 8", "1 succeeded 8")
		if last.Reason != "6 of 8 pieces succeeded; 2 failed; 75% have to" {
			t.Errorf("it has succeeded since %q", last.Reason)
		}
		w.put("g/a", job.Schedule{}, mapped(job.Map{Pieces: 8}), func(j *job.Job) { j.SucceedsIf = 76 })
		time.Sleep(time.Second)
		id = w.begin()
		time.Sleep(5 * time.Second)
		w.wantTold(id, "1 pending 8", "1 failed 8")
	})
}

func TestASplitRunIsDoneInThePiecesThatItsFirstAttemptLists(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("n1")
		c := w.crew()
		list := any([]any{"x", 7, map[string]int{"n": 1}})
		c.join("a", nil, func(_ context.Context, r *sdk.Run) (any, error) {
			if r.Split() {
				return list, nil
			}
			return nil, nil
		})
		w.put("g/a", job.Schedule{}, mapped(job.Map{Split: true}))
		time.Sleep(5 * time.Second)
		id := w.begin()
		time.Sleep(5 * time.Second)
		w.wantTold(id, "1 pending 0", "2 pending 3", "2 succeeded 3")
		c.wantDone(`a 0/1 1`, `a 0/3 2 "x"`, `a 1/3 2 7`, `a 2/3 2 {"n":1}`)
		list = "no list"
		id = w.begin()
		time.Sleep(5 * time.Second)
		if last := w.wantTold(id, "1 pending 0", "1 failed 0"); !strings.Contains(last.Reason, "JSON list") {
			t.Errorf("it has failed since %q", last.Reason)
		}
	})
}

func TestCancellingARunInPiecesEndsAllOfThem(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("n1")
		c := w.crew()
		c.join("a", nil, work(time.Hour))
		c.join("b", nil, work(time.Hour))
		w.put("g/a", job.Schedule{}, mapped(job.Map{Pieces: 30, AtOnce: 12})) // 8 slots: 4 triggers wait
		time.Sleep(5 * time.Second)
		id := w.begin()
		time.Sleep(20 * time.Second)
		reply, err := w.cancel(id)
		if err != nil || reply.Found != job.StatusRunning {
			t.Fatalf("cancelled: %+v, %v", reply, err)
		}
		time.Sleep(20 * time.Second)
		last := w.wantTold(id, "1 pending 30", "1 cancelled 30")
		if !strings.Contains(last.Reason, "30 cancelled") {
			t.Errorf("it was cancelled since %q", last.Reason)
		}
		c.mu.Lock()
		begun := len(c.did)
		c.mu.Unlock()
		if left := w.triggers(); len(left) != 0 || begun != 8 {
			t.Errorf("%d pieces were begun, and %d triggers are left; want 8 and none", begun, len(left))
		}
		if _, err := w.cancel(id); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("cancelled again: %v", err)
		}
	})
}
