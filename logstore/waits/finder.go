package waits

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
)

// How a finder looks.
const (
	// lookEvery is the pause between two looks at the steps that wait, idleEvery if there are none, and failedEvery
	// after the history or the bus did not answer.
	lookEvery   = time.Second
	idleEvery   = 5 * time.Second
	failedEvery = 10 * time.Second
	// roundLasts is after how long a round ends.
	roundLasts = time.Minute
	// maxOpen is how many steps are looked at. Groups share it, see [logstore.WaitFilter].
	maxOpen = 4000
	// spendable is after how long a look ends, if it is not done. What is left over comes first in the next one.
	spendable = 250 * time.Millisecond
	// A step of which a missing run is under way is judged again after lookEvery, but never for more than one part in
	// costShare of the time. Any other is judged less and less often, but after slowEvery at the latest.
	costShare = 20
	slowEvery = 15 * time.Second
	// askTimeout is how long the owner of a step may take to answer, and askedAgain after how long it is told again.
	askTimeout = 2 * time.Second
	askedAgain = 5 * time.Second
)

// Finder tells the owners of steps that the runs are there for which these wait. One of a cluster should be at
// work; two do no harm. It is not safe for concurrent use.
type Finder struct {
	conn   *cluster.Conn
	store  logstore.Store
	reader *Reader
	log    *slog.Logger
	looks  map[waiting]*look
	judged map[string]time.Time // when a step of a group was judged last
}

// waiting is a step that waits: its run, and since when.
type waiting struct {
	runID job.RunID
	since int64
}

// look is what is remembered of a step that waits.
type look struct {
	next  time.Time // when it is judged again
	have  int
	pause time.Duration
}

// NewFinder returns a finder. conn must be open, and store must have the history of the whole cluster.
func NewFinder(conn *cluster.Conn, store logstore.Store, l *ledger.Ledger, log *slog.Logger) *Finder {
	return &Finder{conn: conn, store: store, reader: NewReader(l, store), log: log, looks: map[waiting]*look{}, judged: map[string]time.Time{}}
}

// Round looks again and again for a minute.
func (f *Finder) Round(ctx context.Context) error {
	var err error
	for ends := time.Now().Add(roundLasts); err == nil && ctx.Err() == nil && time.Now().Before(ends); {
		var open int
		pause := lookEvery
		if open, err = f.Look(ctx); open == 0 {
			pause = idleEvery
		}
		if err != nil {
			pause = failedEvery
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	return err
}

// Look judges the steps that wait for runs, as far as it is time, and tells the owners of those whose runs are there.
// It returns how many wait. The error is about the history, or about the first that could not be judged.
func (f *Finder) Look(ctx context.Context) (open int, err error) {
	steps, err := f.store.OpenWaits(ctx, logstore.WaitFilter{Kind: runlog.WaitRuns, Limit: maxOpen})
	if err != nil {
		return 0, fmt.Errorf("read which steps wait for runs: %w", err)
	}
	now := time.Now()
	due := f.due(steps, now)
	read := map[job.Name]*awaited{}
	known := map[question]Judgement{}
	for _, s := range due {
		if time.Since(now) > spendable || ctx.Err() != nil {
			break
		}
		begun := time.Now()
		f.judged[s.run.Job.Group()] = begun
		v, failed := f.judge(ctx, s.run, read, known)
		if failed != nil { // others may do
			err = cmp.Or(err, failed)
			s.look.next = time.Now().Add(failedEvery)
			continue
		}
		if v.Met {
			f.tell(ctx, s.run, &v)
			s.look.next = time.Now().Add(askedAgain)
			continue
		}
		s.look.later(&v, time.Now(), time.Since(begun))
	}
	return len(steps), err
}

// dueStep is a step that is to be judged.
type dueStep struct {
	run  *runlog.Run
	look *look
	turn int       // among those of its group
	last time.Time // when one of its group was judged
}

// due returns the steps that are to be judged now. Groups take turns, so that one in which much waits does not hold up
// others: the group that was longest not judged begins, with the step that was longest not. It forgets all that do not
// wait any more.
func (f *Finder) due(steps []runlog.Run, now time.Time) (due []dueStep) {
	looks := make(map[waiting]*look, len(steps))
	for i := range steps {
		r := &steps[i]
		if r.Wait == nil || r.Wait.Runs == nil {
			continue
		}
		key := waiting{r.RunID, r.Wait.Since.UnixMilli()}
		l := f.looks[key]
		if l == nil {
			l = &look{}
		}
		if looks[key] = l; !l.next.After(now) {
			due = append(due, dueStep{run: r, look: l})
		}
	}
	f.looks = looks
	slices.SortStableFunc(due, func(a, b dueStep) int { return a.look.next.Compare(b.look.next) })
	groups := map[string]int{} // how many steps of each come before
	for i := range due {
		group := due[i].run.Job.Group()
		due[i].turn, due[i].last = groups[group], f.judged[group]
		groups[group]++
	}
	maps.DeleteFunc(f.judged, func(group string, _ time.Time) bool { return groups[group] == 0 })
	slices.SortStableFunc(due, func(a, b dueStep) int { return cmp.Or(cmp.Compare(a.turn, b.turn), a.last.Compare(b.last)) })
	return due
}

// question is what steps wait for: several may wait for the same.
type question struct {
	runlog.AwaitedRuns
	fireTime int64 // of the step, if that matters
}

// judge judges what a step waits for. What read and known have is not looked at again.
func (f *Finder) judge(ctx context.Context, r *runlog.Run, read map[job.Name]*awaited, known map[question]Judgement) (Judgement, error) {
	q := question{AwaitedRuns: *r.Wait.Runs}
	if q.Last > 0 {
		q.fireTime = r.FireTime.UnixMilli()
	}
	if v, ok := known[q]; ok {
		return v, nil
	}
	of := read[q.Job]
	if of == nil {
		var err error
		if of, err = f.reader.of(ctx, q.Job); err != nil {
			return Judgement{}, fmt.Errorf("read what job %s owes: %w", q.Job, err)
		}
		read[q.Job] = of
	}
	v, err := of.judge(ctx, r.Wait.Runs, r.FireTime)
	if err == nil {
		known[q] = v
	}
	return v, err
}

// later sets when a step is judged again that was not met.
func (l *look) later(v *Judgement, now time.Time, took time.Duration) {
	pause := max(lookEvery, costShare*took)
	if v.Have != l.have || v.alive {
		l.pause = lookEvery
	} else {
		l.pause = min(max(2*l.pause, lookEvery), slowEvery)
	}
	l.have = v.Have
	l.next = now.Add(max(pause, l.pause))
}

// tell tells the owner of a step's job that the runs are there. Told again, it does nothing. What it refuses is not
// waited for any more, and the history will say so.
func (f *Finder) tell(ctx context.Context, r *runlog.Run, v *Judgement) {
	result, err := json.Marshal(v.Result())
	if err != nil {
		panic("BUG: " + err.Error())
	}
	request := bus.WaitRequest{
		ID:    job.RetryRunID(r.RunID, string(bus.WaitMet)+strconv.FormatInt(r.Wait.Since.UnixMilli(), 10)),
		RunID: r.Parent, Job: r.Job, Step: r.Step, Act: bus.WaitMet, Result: result, At: time.Now().UTC().Truncate(time.Millisecond), Since: r.Wait.Since,
	}
	var reply bus.TriggerReply
	err = f.conn.Shards().AskOwner(ctx, r.Job, bus.VerbWait, 0, request, &reply, askTimeout)
	if err != nil && ctx.Err() == nil && !errors.Is(err, job.ErrConflict) && !errors.Is(err, job.ErrNotFound) {
		f.log.WarnContext(ctx, "owner not told of awaited runs", "job", r.Job, "run_id", r.Parent, "step", r.Step, "error", err)
	}
}
