package shard

import (
	"fmt"
	"maps"
	"slices"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
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
	bus.BackfillRequest
	cancel bool // it asks for the end of the one with its id, because of Note
}

// Backfill takes a request. It is stored with the next batch of Step that has room,
// which names it in Backfills; done is not nil when it is already. Fires that another
// backfill of the job has yet to run are left out. Errors: job.ErrNotFound,
// job.ErrConflict when that leaves none or there is no room for further runs, an *InvalidError.
func (m *Machine) Backfill(r bus.BackfillRequest) (done *job.Backfill, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	id, ok := m.jobs.find(r.Job)
	if !ok || m.jobs.at(id).newest().Deleted {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	if f := m.backfillOf(id, r.ID); f != nil {
		if f.item.seq == 0 { // its batch is on its way
			return nil, nil
		}
		return new(m.shown(id, f)), nil
	}
	if len(m.freshFires(id, r.Fires)) == 0 {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, reason.BackfillTwice.With(r.Job))
	}
	for _, other := range m.backfills.asked {
		if other.ID == r.ID && other.Job == r.Job && !other.cancel {
			return nil, nil
		}
	}
	if why := m.Cluster.noRoom(r.Job.Group()); why != "" {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, why)
	}
	m.backfills.asked = append(m.backfills.asked, askedBackfill{BackfillRequest: r})
	return nil, nil
}

// CancelBackfill has no further run of a backfill begin, which the next batch of Step
// says and names in Backfills. Errors: job.ErrNotFound, job.ErrConflict when it is over.
func (m *Machine) CancelBackfill(name job.Name, backfillID, why string) error {
	id, ok := m.jobs.find(name)
	if !ok {
		return fmt.Errorf("%w: job %s", job.ErrNotFound, name)
	}
	f := m.backfillOf(id, backfillID)
	switch {
	case f == nil:
		return fmt.Errorf("%w: backfill %s of job %s", job.ErrNotFound, backfillID, name)
	case f.stopped():
		return fmt.Errorf("%w: %s", job.ErrConflict, reason.BackfillOver.With(backfillID, name))
	}
	m.backfills.asked = append(m.backfills.asked, askedBackfill{cancel: true, BackfillRequest: bus.BackfillRequest{ID: backfillID, Job: name, Note: why}})
	return nil
}

// Backfills returns those of a job that are stored, oldest first, with their fires if
// that is asked for. The error is job.ErrNotFound.
func (m *Machine) Backfills(r bus.BackfillsRequest) ([]job.Backfill, error) {
	id, ok := m.jobs.find(r.Job)
	if !ok {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	list := []job.Backfill{}
	for _, f := range m.backfills.byJob[id] {
		if f.item.seq == 0 && !f.item.gone {
			continue
		}
		shown := m.shown(id, f)
		if r.Fires {
			shown.Fires = f.Fires
		}
		list = append(list, shown)
	}
	return list, nil
}

// BackfillState returns what is stored of a backfill. The error is job.ErrNotFound, or
// job.ErrConflict when it was not taken in, as others had all its fires.
func (m *Machine) BackfillState(key BackfillID) (*job.Backfill, error) {
	id, ok := m.jobs.find(key.Job)
	if !ok {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, key.Job)
	}
	f := m.backfillOf(id, key.ID)
	if f == nil && m.jobs.at(id).newest().Deleted {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, key.Job)
	}
	if f == nil {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, reason.BackfillTwice.With(key.Job))
	}
	return new(m.shown(id, f)), nil
}

// shown returns what is to be told of a backfill.
func (m *Machine) shown(id uint32, f *backfill) job.Backfill {
	s := f.Backfill
	s.Fires = nil
	if !f.over() && f.Begun > 0 {
		s.Alive = m.runs.backfilling(id)
	}
	return s
}

func (m *Machine) backfillOf(id uint32, backfillID string) *backfill {
	i := slices.IndexFunc(m.backfills.byJob[id], func(f *backfill) bool { return f.ID == backfillID })
	if i < 0 {
		return nil
	}
	return m.backfills.byJob[id][i]
}

// freshFires returns those fires that no backfill of the job has yet to run.
func (m *Machine) freshFires(id uint32, fires []int64) []int64 {
	taken := map[int64]bool{}
	for _, f := range m.backfills.byJob[id] {
		for _, at := range f.left() {
			taken[at] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(fires), func(at int64) bool { return taken[at] })
}

// fillLater has the job's backfills looked at in the next Step.
func (m *Machine) fillLater(id uint32) {
	if len(m.backfills.byJob[id]) > 0 && !slices.Contains(m.backfills.going, id) {
		m.backfills.going = append(m.backfills.going, id)
	}
}

// takeBackfills writes what was asked for, as far as b has room.
func (m *Machine) takeBackfills(b *builder) {
	for len(m.backfills.asked) > 0 && b.fits(2) {
		r := m.backfills.asked[0]
		m.backfills.asked = m.backfills.asked[1:]
		b.Backfills = append(b.Backfills, BackfillID{r.Job, r.ID})
		id, ok := m.jobs.find(r.Job)
		if !ok {
			continue // it is gone, and so are its backfills
		}
		if r.cancel {
			if f := m.backfillOf(id, r.ID); f != nil && !f.stopped() {
				f.Cancelled = r.Note
				m.writeBackfill(b, id, f)
				m.fillLater(id)
			}
			continue
		}
		fires := m.freshFires(id, r.Fires)
		if len(fires) == 0 || m.jobs.at(id).newest().Deleted {
			continue // one that came before it has them all, or the job was deleted since
		}
		f := &backfill{Backfill: job.Backfill{
			ID: r.ID, AskedAt: b.now, By: r.By, Note: r.Note, AtOnce: r.AtOnce, First: instant(fires[0]), Last: instant(fires[len(fires)-1]), Total: len(fires), Fires: fires,
		}}
		f.list = b.deferred(m.cfg.Shard, &bus.Deferred{Kind: bus.DeferredBackfill, Job: r.Job, Backfill: &f.Backfill})
		m.writeBackfill(b, id, f)
		m.backfills.byJob[id] = append(m.backfills.byJob[id], f)
		m.fillLater(id)
	}
}

// BackfillID names a backfill.
type BackfillID struct {
	Job job.Name
	ID  string
}

// writeBackfill says how far a backfill has come.
func (m *Machine) writeBackfill(b *builder, id uint32, f *backfill) {
	m.items.release(f.item)
	progress := f.Backfill
	progress.Fires = nil
	f.item = b.deferred(m.cfg.Shard, &bus.Deferred{Kind: bus.DeferredBackfilled, Job: m.jobs.at(id).name, Backfill: &progress})
}

// fill begins runs of backfills. It comes last in a step, and not before everything
// that is due has been decided.
func (m *Machine) fill(b *builder) {
	if m.sweepTo != 0 || len(m.late.versions) > 0 {
		return
	}
	most := fillAtOnce
	for len(m.backfills.going) > 0 {
		id := m.backfills.going[0]
		for _, f := range m.backfills.byJob[id] {
			if f.over() || m.jobs.at(id).newest().Unreadable {
				continue
			}
			n, full := m.fillOne(b, id, f, most)
			if most -= n; full {
				return
			}
			if !f.over() {
				break // one at a time
			}
		}
		m.backfills.going = m.backfills.going[1:]
	}
}

// fillOne begins runs of one backfill, at most that many, and returns how many; full
// when there could be more, but not in this batch.
func (m *Machine) fillOne(b *builder, id uint32, f *backfill, most int) (n int, full bool) {
	if !b.fits(1) {
		return 0, true
	}
	changed := false
	if m.jobs.at(id).newest().Deleted && !f.stopped() {
		f.Cancelled = "the job was deleted"
		changed = true
	}
	alive, room := m.runs.backfilling(id), m.Cluster.noRoom(m.jobs.at(id).name.Group()) == ""
	for ; room && len(f.left()) > 0 && alive < f.AtOnce; alive++ {
		if n == most || !b.fits(launch+1) {
			full = true
			break
		}
		m.fillRun(b, id, f)
		changed = true
		n++
	}
	ended := f.stopped() && alive == 0 && !full
	if ended {
		f.EndedAt, f.Fires = b.now, nil
		m.items.release(f.list)
	}
	if changed || ended {
		m.writeBackfill(b, id, f)
	}
	return n, full
}

// fillRun begins the next run of a backfill, by the job's newest version but for its
// priority: in its group, too, what is due now comes first.
func (m *Machine) fillRun(b *builder, id uint32, f *backfill) {
	e := m.jobs.at(id)
	at := f.Fires[f.Begun]
	f.Begun++
	r := run{id: job.BackfillRunID(e.name, at, f.ID), version: e.newest().Version, attempt: 1, cause: job.CauseBackfill, fireTime: at}
	low, err := e.newestBody().lowest()
	if err != nil {
		m.cfg.bug("%v", err)
	}
	a := &alive{run: r, id: id, job: e.name, body: unique.Make(low), since: b.now.UnixMilli()}
	admitted := m.runs.launch(b, a)
	m.runs.add(a)
	r.total = admitted.total
	b.record.addRun(e.name, r, admitted.status, reason.Join(reason.Backfill.With(f.ID, f.Begun, f.Total), admitted.reason)).By = f.By
}

// restoreBackfill enters one of the two items of a backfill. Where there are several
// that say how far it has come, the last one holds.
func (m *Machine) restoreBackfill(id uint32, d *bus.Deferred, seq uint64) {
	f := m.backfillOf(id, d.Backfill.ID)
	if f == nil {
		f = &backfill{item: &item{gone: true}}
		f.Backfill = *d.Backfill
		m.backfills.byJob[id] = append(m.backfills.byJob[id], f)
	}
	if d.Kind == bus.DeferredBackfill {
		f.list, f.Fires = &item{seq: seq}, d.Backfill.Fires
	} else {
		fires := f.Fires
		m.items.release(f.item)
		f.Backfill, f.item = *d.Backfill, &item{seq: seq}
		f.Fires = fires
	}
	if f.over() {
		m.items.release(f.list)
		f.Fires = nil
	}
	m.fillLater(id)
}

// forgetBackfills drops those of a job that is forgotten.
func (m *Machine) forgetBackfills(id uint32) {
	for _, f := range m.backfills.byJob[id] {
		m.items.release(f.list)
		m.items.release(f.item)
	}
	delete(m.backfills.byJob, id)
	m.backfills.going = slices.DeleteFunc(m.backfills.going, func(other uint32) bool { return other == id })
}

// ageBackfills drops those that have been over for long enough.
func (m *Machine) ageBackfills(now int64) {
	for _, id := range slices.Sorted(maps.Keys(m.backfills.byJob)) {
		m.backfills.byJob[id] = slices.DeleteFunc(m.backfills.byJob[id], func(f *backfill) bool {
			old := f.over() && now-f.EndedAt.UnixMilli() > bus.BackfillShown.Milliseconds()
			if old {
				m.items.release(f.item)
			}
			return old
		})
		if len(m.backfills.byJob[id]) == 0 {
			delete(m.backfills.byJob, id)
		}
	}
}
