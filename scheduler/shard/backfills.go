package shard

import (
	"fmt"
	"maps"
	"slices"
	"unique"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
)

// fillAtOnce is how many runs of backfills one step begins at most, so that they leave
// the batch to what is due.
const fillAtOnce = 50

// backfill is fires of the past that somebody wants to run. Two items on the stream
// hold it: the list of the fires, written once, and how far it has come, which keeps
// it known for a while when it is over.
type backfill struct {
	job.Backfill
	list, item *item
}

func (f *backfill) over() bool { return !f.EndedAt.IsZero() }

// stopped reports whether no further run of it begins.
func (f *backfill) stopped() bool { return f.over() || f.Cancelled != "" || f.Begun == f.Total }

// left returns the fires that have no run yet.
func (f *backfill) left() []int64 {
	if f.stopped() {
		return nil
	}
	return f.Fires[f.Begun:]
}

// askedBackfill is a request that the next batch takes in.
type askedBackfill struct {
	journal.BackfillRequest
	cancel bool // it asks for the end of the one with its id, because of Note
}

// Backfills run fires of the past that somebody wants to run.
type Backfills struct {
	cfg     *Config
	jobs    *jobs
	items   *items
	cluster *Cluster
	runs    *runs

	byJob map[uint32][]*backfill // by id of the job, oldest first
	going []uint32               // ids of jobs whose backfills may go on
	asked []askedBackfill
}

// Ask takes a request. It is stored with the next batch of Step that has room,
// which names it in Backfills; done is not nil when it is already. Fires that another
// backfill of the job has yet to run are left out. Errors: job.ErrNotFound,
// job.ErrConflict when that leaves none, runs of the job are done elsewhere, or there is no room for further runs, an *InvalidError.
func (bf *Backfills) Ask(r journal.BackfillRequest) (done *job.Backfill, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	id, ok := bf.jobs.find(r.Job)
	if !ok || bf.jobs.at(id).newest().Deleted {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	if bf.jobs.at(id).elsewhere() {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, refusal.RunsElsewhere.With(r.Job))
	}
	if f := bf.find(id, r.ID); f != nil {
		if f.item.seq == 0 { // its batch is on its way
			return nil, nil
		}
		return new(bf.shown(id, f)), nil
	}
	if len(bf.fresh(id, r.Fires)) == 0 {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, refusal.BackfillTwice.With(r.Job))
	}
	for _, other := range bf.asked {
		if other.ID == r.ID && other.Job == r.Job && !other.cancel {
			return nil, nil
		}
	}
	if why := bf.cluster.noRoom(r.Job.Group()); why != "" {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, why)
	}
	bf.asked = append(bf.asked, askedBackfill{BackfillRequest: r})
	return nil, nil
}

// Cancel has no further run of a backfill begin, which the next batch of Step
// says and names in Backfills. Errors: job.ErrNotFound, job.ErrConflict when it is over.
func (bf *Backfills) Cancel(name job.Name, backfillID, why string) error {
	id, ok := bf.jobs.find(name)
	if !ok {
		return fmt.Errorf("%w: job %s", job.ErrNotFound, name)
	}
	f := bf.find(id, backfillID)
	switch {
	case f == nil:
		return fmt.Errorf("%w: backfill %s of job %s", job.ErrNotFound, backfillID, name)
	case f.stopped():
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.BackfillOver.With(backfillID, name))
	}
	bf.asked = append(bf.asked, askedBackfill{cancel: true, BackfillRequest: journal.BackfillRequest{ID: backfillID, Job: name, Note: why}})
	return nil
}

// List returns those of a job that are stored, oldest first, with their fires if
// that is asked for. The error is job.ErrNotFound.
func (bf *Backfills) List(r journal.BackfillsRequest) ([]job.Backfill, error) {
	id, ok := bf.jobs.find(r.Job)
	if !ok {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	list := []job.Backfill{}
	for _, f := range bf.byJob[id] {
		if f.item.seq == 0 && !f.item.gone {
			continue
		}
		shown := bf.shown(id, f)
		if r.Fires {
			shown.Fires = f.Fires
		}
		list = append(list, shown)
	}
	return list, nil
}

// State returns what is stored of a backfill. The error is job.ErrNotFound, or
// job.ErrConflict when it was not taken in, as others had all its fires.
func (bf *Backfills) State(key BackfillID) (*job.Backfill, error) {
	id, ok := bf.jobs.find(key.Job)
	if !ok {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, key.Job)
	}
	f := bf.find(id, key.ID)
	if f == nil && bf.jobs.at(id).newest().Deleted {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, key.Job)
	}
	if f == nil {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, refusal.BackfillTwice.With(key.Job))
	}
	return new(bf.shown(id, f)), nil
}

// shown returns what is to be told of a backfill.
func (bf *Backfills) shown(id uint32, f *backfill) job.Backfill {
	s := f.Backfill
	s.Fires = nil
	if !f.over() && f.Begun > 0 {
		s.Alive = bf.runs.byJob[id].backfilling()
	}
	return s
}

func (bf *Backfills) find(id uint32, backfillID string) *backfill {
	i := slices.IndexFunc(bf.byJob[id], func(f *backfill) bool { return f.ID == backfillID })
	if i < 0 {
		return nil
	}
	return bf.byJob[id][i]
}

// fresh returns the fires that no backfill of the job is still to run.
func (bf *Backfills) fresh(id uint32, fires []int64) []int64 {
	taken := map[int64]bool{}
	for _, f := range bf.byJob[id] {
		for _, at := range f.left() {
			taken[at] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(fires), func(at int64) bool { return taken[at] })
}

// wake schedules the job's backfills for the next Step.
func (bf *Backfills) wake(id uint32) {
	if len(bf.byJob[id]) > 0 && !slices.Contains(bf.going, id) {
		bf.going = append(bf.going, id)
	}
}

// take writes the requests, as far as b has room.
func (bf *Backfills) take(b *builder) {
	for len(bf.asked) > 0 && b.fits(2) {
		r := bf.asked[0]
		bf.asked = bf.asked[1:]
		b.Backfills = append(b.Backfills, BackfillID{r.Job, r.ID})
		id, ok := bf.jobs.find(r.Job)
		if !ok {
			continue // it is gone, and so are its backfills
		}
		if r.cancel {
			if f := bf.find(id, r.ID); f != nil && !f.stopped() {
				f.Cancelled = r.Note
				bf.write(b, id, f)
				bf.wake(id)
			}
			continue
		}
		fires := bf.fresh(id, r.Fires)
		if len(fires) == 0 || bf.jobs.at(id).newest().Deleted {
			continue // one that came before it has them all, or the job was deleted since
		}
		f := &backfill{Backfill: job.Backfill{
			ID: r.ID, AskedAt: b.now, By: r.By, Note: r.Note, AtOnce: r.AtOnce, First: instant(fires[0]), Last: instant(fires[len(fires)-1]), Total: len(fires), Fires: fires,
		}}
		f.list = b.deferred(bf.cfg.Shard, &journal.Deferred{Kind: journal.DeferredBackfill, Job: r.Job, Backfill: &f.Backfill})
		bf.write(b, id, f)
		bf.byJob[id] = append(bf.byJob[id], f)
		bf.wake(id)
	}
}

// BackfillID names a backfill.
type BackfillID struct {
	Job job.Name
	ID  string
}

// write writes the progress of a backfill.
func (bf *Backfills) write(b *builder, id uint32, f *backfill) {
	bf.items.release(f.item)
	progress := f.Backfill
	progress.Fires = nil
	f.item = b.deferred(bf.cfg.Shard, &journal.Deferred{Kind: journal.DeferredBackfilled, Job: bf.jobs.at(id).name, Backfill: &progress})
}

// fill begins runs of backfills, as far as b has room.
func (bf *Backfills) fill(b *builder) {
	most := fillAtOnce
	for len(bf.going) > 0 {
		id := bf.going[0]
		for _, f := range bf.byJob[id] {
			if f.over() {
				continue
			}
			n, full := bf.fillOne(b, id, f, most)
			if most -= n; full {
				return
			}
			if !f.over() {
				break // one at a time
			}
		}
		bf.going = bf.going[1:]
	}
}

// fillOne begins runs of one backfill, at most that many, and returns how many; full
// when there could be more, but not in this batch.
func (bf *Backfills) fillOne(b *builder, id uint32, f *backfill, most int) (n int, full bool) {
	if !b.fits(1) {
		return 0, true
	}
	changed := false
	if bf.jobs.at(id).newest().Deleted && !f.stopped() {
		f.Cancelled = "the job was deleted"
		changed = true
	}
	alive, room := bf.runs.byJob[id].backfilling(), bf.cluster.noRoom(bf.jobs.at(id).name.Group()) == ""
	for ; room && len(f.left()) > 0 && alive < f.AtOnce; alive++ {
		if n == most || !b.fits(launch+1) {
			full = true
			break
		}
		bf.fillRun(b, id, f)
		changed = true
		n++
	}
	ended := f.stopped() && alive == 0 && !full
	if ended {
		f.EndedAt, f.Fires = b.now, nil
		bf.items.release(f.list)
	}
	if changed || ended {
		bf.write(b, id, f)
	}
	return n, full
}

// fillRun begins the next run of a backfill, by the job's newest version but for its
// priority: in its group, too, what is due now comes first.
func (bf *Backfills) fillRun(b *builder, id uint32, f *backfill) {
	e := bf.jobs.at(id)
	at := f.Fires[f.Begun]
	f.Begun++
	r := attempt{runID: job.BackfillRunID(e.name, at, f.ID), version: e.newest().Version, number: 1, cause: job.CauseBackfill, fireTime: at}
	low, err := e.newestBody().lowest()
	if err != nil {
		bf.cfg.bug("%v", err)
	}
	a := &watchedRun{attempt: r, jobID: id, job: e.name, body: unique.Make(low), since: b.now.UnixMilli()}
	admitted := bf.runs.launch(b, a)
	bf.runs.add(a)
	r.total = admitted.total
	b.record.addRun(e.name, r, admitted.status, reason.Join(reason.Backfill.With(f.ID, f.Begun, f.Total), admitted.reason)).By = f.By
}

// restore enters one of the two items of a backfill. Where there are several
// that say how far it has come, the last one holds.
func (bf *Backfills) restore(id uint32, d *journal.Deferred, seq uint64) {
	f := bf.find(id, d.Backfill.ID)
	if f == nil {
		f = &backfill{item: &item{gone: true}}
		f.Backfill = *d.Backfill
		bf.byJob[id] = append(bf.byJob[id], f)
	}
	if d.Kind == journal.DeferredBackfill {
		f.list, f.Fires = &item{seq: seq}, d.Backfill.Fires
	} else {
		fires := f.Fires
		bf.items.release(f.item)
		f.Backfill, f.item = *d.Backfill, &item{seq: seq}
		f.Fires = fires
	}
	if f.over() {
		bf.items.release(f.list)
		f.Fires = nil
	}
	bf.wake(id)
}

// forget drops the backfills of a job that is removed.
func (bf *Backfills) forget(id uint32) {
	for _, f := range bf.byJob[id] {
		bf.items.release(f.list)
		bf.items.release(f.item)
	}
	delete(bf.byJob, id)
	bf.going = slices.DeleteFunc(bf.going, func(other uint32) bool { return other == id })
}

// age drops backfills that ended more than [journal.BackfillShown] ago.
func (bf *Backfills) age(now int64) {
	for _, id := range slices.Sorted(maps.Keys(bf.byJob)) {
		bf.byJob[id] = slices.DeleteFunc(bf.byJob[id], func(f *backfill) bool {
			old := f.over() && now-f.EndedAt.UnixMilli() > journal.BackfillShown.Milliseconds()
			if old {
				bf.items.release(f.item)
			}
			return old
		})
		if len(bf.byJob[id]) == 0 {
			delete(bf.byJob, id)
		}
	}
}
