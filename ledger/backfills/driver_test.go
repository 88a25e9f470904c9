package backfills_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/backfill"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/ledger/backfills"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

var midnight = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

const shards = 2

// world is a broker, a history, a driver, and the owner of all jobs.
type world struct {
	*testing.T
	conn   *cluster.Conn
	store  logstore.Store
	driver *backfills.Driver
	writes int

	mu   sync.Mutex // guards what follows
	of   map[job.Name][]*job.Backfill
	runs map[job.RunID]int // how often each was begun
}

// run has jobs g/a, g/b and so on, that fire each hour and have missed all of 24 hours.
func run(t *testing.T, jobs int, f func(w *world)) {
	t.Helper()
	bustest.Run(t, midnight.Add(24*time.Hour+time.Minute), func(t *testing.T) {
		w := &world{T: t, of: map[job.Name][]*job.Backfill{}, runs: map[job.RunID]int{}}
		w.conn = clustertest.Setup(t, bustest.NewBroker(t), "test", shards)
		var err error
		w.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		w.check(err)
		t.Cleanup(func() { w.check(w.store.Close()) })
		w.takeOver()
		for shard := range shards {
			w.serve(shard)
		}
		for i := range jobs {
			j := job.Job{Job: name(i), Schedule: job.Schedule{Cron: "0 * * * *"}, Task: job.Task{Shell: "true"}}
			_, _, err := w.conn.Jobs().Put(t.Context(), j.WithDefaults(), cluster.Edit{At: midnight})
			w.check(err)
		}
		for i := range jobs {
			for h := 1; h <= 24; h++ {
				at := midnight.Add(time.Duration(h) * time.Hour).UnixMilli()
				w.write(logstore.Update{
					Kind: runlog.KindRecorded, RunID: job.FireRunID(name(i), at, job.CauseSchedule), Job: name(i), Version: 1, Attempt: 1,
					Cause: job.CauseSchedule, At: time.Now(), Status: job.StatusMissed,
				})
			}
		}
		for shard := range shards {
			m, err := (&journal.Cursor{Shard: shard, Epoch: 1, Node: "n", Commit: "1.1", Done: time.Now(), JobsSeq: 1000}).Msg()
			w.check(err)
			bus.Rollup(m)
			_, err = w.conn.JS.PublishMsg(t.Context(), m)
			w.check(err)
		}
		f(w)
	})
}

func name(i int) job.Name { return job.Name(fmt.Sprintf("g/%c", 'a'+i)) }

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(u logstore.Update) {
	w.Helper()
	w.writes++
	w.check(w.store.WriteRuns(w.Context(), fmt.Sprintf("TEST:%d", w.writes), []logstore.Update{u}))
}

// takeOver has another driver go on, which knows nothing but what is stored.
func (w *world) takeOver() {
	l := ledger.New(w.conn, w.store, logstore.DefaultRetention())
	w.driver = backfills.New(w.conn, l, slog.New(slog.DiscardHandler))
}

// serve answers as the owner of a shard does.
func (w *world) serve(shard int) {
	answer := func(verb string, of func(data []byte) (any, error)) {
		sub, err := w.conn.NC.Subscribe(bus.SubjectCommand(shard, verb), func(m *nats.Msg) {
			w.mu.Lock()
			defer w.mu.Unlock()
			value, err := of(m.Data)
			w.check(bus.Respond(m, value, err))
		})
		w.check(err)
		w.Cleanup(func() { w.check(sub.Unsubscribe()) })
	}
	answer(bus.VerbBackfill, func(data []byte) (any, error) {
		var r journal.BackfillRequest
		w.check(json.Unmarshal(data, &r))
		if err := r.Validate(); err != nil {
			return nil, err
		}
		if f := w.find(r.Job, r.ID); f != nil {
			return f, nil
		}
		f := &job.Backfill{ID: r.ID, AskedAt: time.Now(), AtOnce: r.AtOnce, Total: len(r.Fires), Fires: r.Fires, By: r.By}
		w.of[r.Job] = append(w.of[r.Job], f)
		return f, nil
	})
	answer(bus.VerbBackfills, func(data []byte) (any, error) {
		var r journal.BackfillsRequest
		w.check(json.Unmarshal(data, &r))
		list := journal.BackfillList{}
		for _, f := range w.of[r.Job] {
			list.Backfills = append(list.Backfills, *f)
		}
		return list, nil
	})
	answer(bus.VerbCancelBackfill, func(data []byte) (any, error) {
		var r journal.BackfillCancel
		w.check(json.Unmarshal(data, &r))
		f := w.find(r.Job, r.ID)
		f.Cancelled, f.EndedAt = bus.CancelRequest{By: r.By, Reason: r.Reason}.Text(), time.Now()
		return f, nil
	})
}

func (w *world) find(name job.Name, id string) *job.Backfill {
	i := slices.IndexFunc(w.of[name], func(f *job.Backfill) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return w.of[name][i]
}

// runs has the owner run some more fires of a job, which end with a status.
func (w *world) ran(of job.Name, n int, s job.Status) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.of[of][len(w.of[of])-1]
	for ; n > 0; n-- {
		at := f.Fires[f.Begun]
		id := job.BackfillRunID(of, at, f.ID)
		w.runs[id]++
		f.Begun++
		w.write(logstore.Update{Kind: runlog.KindRecorded, RunID: id, Job: of, Version: 1, Attempt: 1, Cause: job.CauseBackfill, At: time.Now(), Status: s})
	}
	if f.Begun == f.Total {
		f.EndedAt = time.Now()
	}
}

func (w *world) look() {
	w.Helper()
	_, err := w.driver.Look(w.Context())
	w.check(err)
}

// create stores a backfill of all jobs over the whole day.
func (w *world) create(jobs, atOnce int) {
	w.Helper()
	b := &backfill.Bulk{
		ID: "b", Name: "again", From: midnight, To: time.Now().UTC(), Only: outcome.OnlyMissed, AtOnce: atOnce, CreatedAt: time.Now().UTC(),
		By: "ann", Events: []backfill.Event{{At: time.Now().UTC(), By: "ann", Act: backfill.Created}},
	}
	for i := range jobs {
		b.Jobs = append(b.Jobs, backfill.Part{Job: name(i), State: backfill.Waiting, Fires: 24, Round: 1})
	}
	w.check(cluster.BackfillsOf(w.conn).Create(w.Context(), b))
}

// says checks how the jobs stand: state, and how many fires have begun, succeeded and failed.
func (w *world) says(want ...string) *backfill.Bulk {
	w.Helper()
	b, err := cluster.BackfillsOf(w.conn).Get(w.Context(), "b")
	w.check(err)
	var got []string
	for i := range b.Jobs {
		p := &b.Jobs[i]
		got = append(got, fmt.Sprintf("%s %d=%d+%d", p.State, p.Begun, p.Succeeded, p.Failed))
	}
	if !slices.Equal(got, want) {
		w.Errorf("%v; want %v", got, want)
	}
	return b
}

func (w *world) act(do func(*backfill.Bulk, backfill.Event) (bool, error)) {
	w.Helper()
	_, err := cluster.BackfillsOf(w.conn).Edit(w.Context(), "b", func(b *backfill.Bulk) (bool, error) {
		return do(b, backfill.Event{At: time.Now().UTC(), By: "bob"})
	})
	w.check(err)
}

// once checks that the owner has begun so many runs, and each of them once.
func (w *world) once(runs int) {
	w.Helper()
	if len(w.runs) != runs {
		w.Errorf("%d runs; want %d", len(w.runs), runs)
	}
	for id, n := range w.runs {
		if n != 1 {
			w.Errorf("run %s was begun %d times", id, n)
		}
	}
}

func TestEachFireOfEachJobRunsOnce(t *testing.T) {
	run(t, 2, func(w *world) {
		w.create(2, 1)
		w.look()
		w.says("working 0=0+0", "waiting 0=0+0")
		if n := len(w.of["g/a"]); n != 1 || w.of["g/a"][0].Total != 24 {
			w.Fatalf("%d backfills: %+v", n, w.of["g/a"])
		}
		w.ran("g/a", 20, job.StatusSucceeded)
		w.takeOver()
		w.look()
		w.ran("g/a", 4, job.StatusFailed)
		w.look() // counts
		w.look() // begins the next
		w.says("done 24=20+4", "working 0=0+0")
		w.ran("g/b", 24, job.StatusSucceeded)
		w.look()
		if b := w.says("done 24=20+4", "done 24=24+0"); b.EndedAt.IsZero() {
			w.Error("it has not ended")
		}
		w.once(48)
	})
}

func TestARequestWhoseAnswerIsLostIsAskedAgain(t *testing.T) {
	run(t, 1, func(w *world) {
		w.create(1, 1)
		w.act(func(b *backfill.Bulk, _ backfill.Event) (bool, error) { return b.Begin(time.Now().UTC()), nil }) // and then it dies
		w.look()
		w.ran("g/a", 24, job.StatusSucceeded)
		w.look()
		w.says("done 24=24+0")
		w.once(24)
	})
}

// The owner forgets a backfill a day after its end.
func TestAForgottenRoundIsNotRunAgain(t *testing.T) {
	run(t, 1, func(w *world) {
		w.create(1, 1)
		w.look()
		w.ran("g/a", 24, job.StatusSucceeded)
		w.of["g/a"] = nil
		w.act(func(b *backfill.Bulk, _ backfill.Event) (bool, error) {
			b.Jobs[0].AskedAt = b.Jobs[0].AskedAt.Add(-journal.BackfillShown)
			return true, nil
		})
		w.look()
		if b := w.says("cancelled 24=24+0"); b.Jobs[0].Why == "" || len(w.of["g/a"]) != 0 {
			w.Errorf("%+v %v", b.Jobs[0], w.of)
		}
	})
}

func TestAPauseKeepsTheRestForLater(t *testing.T) {
	run(t, 1, func(w *world) {
		w.create(1, 1)
		w.look()
		w.ran("g/a", 9, job.StatusSucceeded)
		w.ran("g/a", 1, job.StatusFailed)
		w.act((*backfill.Bulk).Pause)
		w.look() // stops it
		w.look() // counts
		w.look()
		w.says("waiting 10=9+1")
		w.act((*backfill.Bulk).Resume)
		w.look()
		if f := w.of["g/a"][1]; f.ID != "b-2" || f.Total != 14 {
			w.Fatalf("%+v", f)
		}
		w.ran("g/a", 14, job.StatusSucceeded)
		w.look()
		w.says("done 24=23+1")
		w.once(24)
	})
}

func TestFailedRunsRunAgainAndOthersDoNot(t *testing.T) {
	run(t, 1, func(w *world) {
		w.create(1, 1)
		w.look()
		w.ran("g/a", 21, job.StatusSucceeded)
		w.ran("g/a", 3, job.StatusFailed)
		w.look()
		w.act((*backfill.Bulk).Retry)
		w.look()
		if f := w.of["g/a"][1]; f.Total != 3 {
			w.Fatalf("%+v", f)
		}
		w.ran("g/a", 2, job.StatusSucceeded)
		w.ran("g/a", 1, job.StatusFailed)
		w.look()
		w.says("done 24=23+1")
		w.once(27)
	})
}

func TestACancelledBackfillBeginsNothing(t *testing.T) {
	run(t, 2, func(w *world) {
		w.create(2, 1)
		w.look()
		w.ran("g/a", 10, job.StatusSucceeded)
		w.act((*backfill.Bulk).Cancel)
		w.look()
		w.look()
		if b := w.says("cancelled 10=10+0", "cancelled 0=0+0"); b.EndedAt.IsZero() {
			w.Error("it has not ended")
		}
		w.once(10)
	})
}

func TestAJobThatIsGoneIsRefusedAndOthersRun(t *testing.T) {
	run(t, 2, func(w *world) {
		w.create(3, 3)
		w.look()
		w.look()
		w.says("working 0=0+0", "working 0=0+0", "refused 0=0+0")
	})
}
