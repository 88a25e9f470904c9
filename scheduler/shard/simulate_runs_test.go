package shard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// life is what the stream has said about a run of a watched job, from the moment it
// was wanted.
type life struct {
	id       job.RunID
	job      job.Name
	attempt  int
	status   job.Status // queued, pending, or final
	order    int        // of runs that were queued, or lack an instance, which was first
	retry    bool       // queued for another attempt
	lacks    bool       // queued until an instance is online
	total    int        // pieces
	cause    job.Cause
	fire     int64
	version  int
	customer string // in the parameters, as JSON
	// Its job is forgotten. The owner does not follow it any more; but one that takes over
	// before that is stored does, if there is a new job of the name by then.
	forgotten bool
}

// attemptID names an attempt.
type attemptID struct {
	run     job.RunID
	attempt int
}

// lives follows the runs of watched jobs through what is stored.
type lives struct {
	w      *world
	byRun  map[job.RunID]*life
	queued int                 // runs that were queued so far
	before int                 // and before the batch that is looked at
	streak map[job.Name]int    // failures in a row
	edited map[job.Name]bool   // its policies have changed, or it was deleted, at some time
	pauses map[job.Name]int    // wishes to pause that were stored
	told   map[job.RunID]int   // letters left for children, by parent's run
	ended  map[job.RunID]int64 // when runs ended
	lines  map[job.RunID]bool  // runs of which a record has told
	stale  simStale
	keyed  map[job.Name]bool // has had an overlap key at some time
	// condemned has the attempts of runs whose end is to count as cancelled, as stored.
	condemned map[job.RunID]int
}

func newLives(w *world) *lives {
	return &lives{
		w: w, byRun: map[job.RunID]*life{}, streak: map[job.Name]int{}, edited: map[job.Name]bool{}, pauses: map[job.Name]int{},
		told: map[job.RunID]int{}, ended: map[job.RunID]int64{}, lines: map[job.RunID]bool{},
		keyed: map[job.Name]bool{}, stale: simStale{succeeded: map[job.Name]*life{}}, condemned: map[job.RunID]int{},
	}
}

// begins notes what was decided about a run when it was wanted.
func (ls *lives) begins(l journal.Decided, watched bool, customer string) {
	if !watched && l.Status == job.StatusPending {
		return
	}
	if l.Status != job.StatusPending && l.Status != job.StatusQueued {
		return
	}
	ls.queued++
	ls.byRun[l.RunID] = &life{id: l.RunID, job: l.Job, attempt: l.Attempt, status: l.Status, order: ls.queued, lacks: lacking(l), total: l.Total, cause: l.Cause, fire: l.FireTime.UnixMilli(), version: l.Version, customer: customer}
}

// goesOn holds a line about a run that is known already against what may follow.
func (ls *lives) goesOn(l journal.Decided, now int64, ends map[attemptID]*storedEvent) {
	r := ls.byRun[l.RunID]
	switch {
	case r.forgotten:
	case !l.Status.Final() && l.Attempt != r.attempt && ls.isCondemned(r):
		fail("run %s of %s was cancelled in attempt %d, and is %s as attempt %d", l.RunID, l.Job, r.attempt, l.Status, l.Attempt)
	case r.status.Final():
		fail("run %s of %s is %s, and then %s", l.RunID, l.Job, r.status, l.Status)
	case l.Status == job.StatusQueued && l.Attempt == r.attempt && r.status == l.Status && !r.retry && !r.lacks && lacking(l):
		ls.queued++ // from now on it waits beside those that wait for an instance already
		r.lacks, r.order = true, ls.queued
	case l.Status == job.StatusPending && r.total == 0 && l.Total > 0 && l.Attempt == r.attempt+1:
		if e := ends[attemptID{r.id, r.attempt}]; e == nil || e.event.Status != job.StatusSucceeded || r.status != job.StatusPending {
			fail("run %s is split, but attempt %d is %s", l.RunID, r.attempt, r.status)
		}
		r.attempt, r.total = l.Attempt, l.Total
	case l.Status == job.StatusQueued && r.total > 0:
		if l.Attempt != r.attempt+1 || r.status != job.StatusPending || l.Total != r.total {
			fail("run %s waits for attempt %d, but attempt %d is %s", l.RunID, l.Attempt, r.attempt, r.status)
		}
		r.attempt, r.status, r.retry = l.Attempt, l.Status, true
	case l.Status == job.StatusQueued:
		e := ends[attemptID{r.id, r.attempt}]
		if l.Attempt != r.attempt+1 || r.status != job.StatusPending || e == nil {
			fail("run %s waits for attempt %d, but attempt %d is %s", l.RunID, l.Attempt, r.attempt, r.status)
		}
		r.attempt, r.status, r.retry = l.Attempt, l.Status, true
	case l.Status == job.StatusPending:
		if l.Attempt != r.attempt || r.status != job.StatusQueued {
			fail("attempt %d of run %s is triggered, but attempt %d is %s", l.Attempt, l.RunID, r.attempt, r.status)
		}
		if !r.retry && (!ls.keyed[r.job] || !ls.edited[r.job]) {
			for _, other := range ls.byRun {
				if other.job == r.job && other.status == job.StatusQueued && !other.retry && other.lacks == r.lacks && ls.sharesQueue(other, r) && ls.precedes(other, r) {
					fail("run %s overtakes run %s in the queue of %s", r.id, other.id, r.job)
				}
			}
		}
		r.status, r.lacks, r.total = l.Status, false, l.Total
	default:
		if l.Attempt != r.attempt {
			fail("attempt %d of run %s is %s, but it is at attempt %d", l.Attempt, l.RunID, l.Status, r.attempt)
		}
		r.status = l.Status
		ls.ended[r.id] = now
		if e := ends[attemptID{r.id, r.attempt}]; e != nil && (l.Status == e.event.Status || ls.isCondemned(r)) && (!ls.w.runs[r.id].trigger.Split || l.Status != job.StatusSucceeded) {
			ls.ended[r.id] = e.at
		}
	}
}

// sharesQueue reports whether two runs of a job wait in the same queue.
func (ls *lives) sharesQueue(a, b *life) bool {
	return !ls.keyed[a.job] || a.customer == b.customer
}

// precedes reports whether a run came into its queue before another one of its job. Within a batch,
// a record does not keep the order of fires, because it joins lines that several jobs share. There,
// only fires in time, of one version, are compared: by their fire times.
func (ls *lives) precedes(a, b *life) bool {
	if min(a.order, b.order) <= ls.before || !a.cause.Scheduled() || !b.cause.Scheduled() {
		return a.order < b.order
	}
	return a.cause == job.CauseSchedule && b.cause == job.CauseSchedule && a.version == b.version && a.fire < b.fire
}

// checkRuns holds what a batch says of watched runs against the rules.
func (ls *lives) checkRuns(b *stored, d delivery, lines []journal.Decided, stored []*storedEvent) {
	ends := map[attemptID]*storedEvent{}
	for _, e := range stored {
		if id := (attemptID{e.event.RunID, e.event.Attempt}); e.event.Total == 0 && ends[id] == nil {
			ends[id] = e
		}
	}
	watched := map[job.RunID]bool{}
	for _, t := range b.triggers {
		watched[t.RunID] = slices.ContainsFunc(b.deferred, func(d *journal.Deferred) bool {
			return d.Kind == journal.DeferredAlive && strings.Contains(string(d.Trigger), string(t.RunID))
		})
	}
	for _, d := range b.deferred {
		if d.Kind == journal.DeferredPieces {
			watched[runOfItem(d)] = true
		}
	}
	// The order of lines of one instant is lost, so runs go on first.
	ranks := map[job.RunID]int{}
	for _, l := range lines { // those about one run keep their order
		ranks[l.RunID] = max(ranks[l.RunID], ls.rank(l))
	}
	slices.SortStableFunc(lines, func(a, b journal.Decided) int { return ranks[a.RunID] - ranks[b.RunID] })
	ls.noteSuccesses(d, lines, ends)
	ls.before = ls.queued
	customers := customersOf(b)
	for _, l := range lines {
		ls.lines[l.RunID] = true
		ls.checkStale(d, l)
		if ls.byRun[l.RunID] != nil {
			ls.goesOn(l, d.now, ends)
		} else {
			ls.begins(l, watched[l.RunID] || l.Total > 0, customers[l.RunID])
		}
	}
	ls.noteQueued(b)
	ls.noteCondemned(b)
	ls.checkEnds(d, ends)
	ls.checkNoneStale(d)
	ls.checkChildren(b)
	ls.checkAlive(d)
	ls.checkLanes(d)
	ls.w.checkFilling()
}

// noteQueued puts the runs that a batch leaves in a queue, or without an instance, in the order of
// their items. The lines may come in another one, because a record joins those that several jobs share.
func (ls *lives) noteQueued(b *stored) {
	ls.orderBy(b, journal.DeferredQueued, func(*life) bool { return true })
	ls.orderBy(b, journal.DeferredPieces, func(r *life) bool { return r.lacks })
}

// orderBy puts those of the runs that have an item of this kind in the batch in the order of the items.
func (ls *lives) orderBy(b *stored, kind journal.DeferredKind, those func(*life) bool) {
	var runs []*life
	var orders []int
	for _, d := range b.deferred {
		if d.Kind == kind {
			if r := ls.byRun[runOfItem(d)]; r != nil && those(r) {
				runs, orders = append(runs, r), append(orders, r.order)
			}
		}
	}
	slices.Sort(orders)
	for i, r := range runs {
		r.order = orders[i]
	}
}

// rank is 0 for lines about runs that leave the queue for good, 1 for those that are
// triggered, 2 for new ones.
func (ls *lives) rank(l journal.Decided) int {
	r := ls.byRun[l.RunID]
	switch {
	case r == nil:
		return ls.queued + 1
	case l.Status == job.StatusPending:
		return r.order
	default:
		return 0
	}
}

// checkEnds looks at the reactions to the ends that the batch has taken in.
func (ls *lives) checkEnds(d delivery, ends map[attemptID]*storedEvent) {
	for id, end := range ends {
		e, r := end.event, ls.byRun[id.run]
		if r == nil || r.attempt != id.attempt || r.status != job.StatusPending {
			continue // not watched, tried again, a second end, or one that came too late
		}
		versions := d.known.jobs[r.job]
		if len(versions) == 0 {
			continue
		}
		if ls.isCondemned(r) && e.Status != job.StatusCancelled {
			fail("run %s of %s was cancelled, and attempt %d is %s, of which no record says that it counts as cancelled", r.id, r.job, e.Attempt, e.Status)
		}
		v := versions[len(versions)-1]
		if v.Retry.Again(e.Attempt, e.Status, e.ExitCode) && !v.Deleted && ls.w.runs[r.id].trigger.EndBy.IsZero() {
			fail("attempt %d of run %s of %s was %s; there is no other, though its rule is %+v", e.Attempt, r.id, r.job, e.Status, v.Retry)
		}
		r.status = e.Status
		ls.ended[r.id] = end.at
	}
}

// checkChildren counts the letters that are left for children: for each final status at
// most once for each child.
func (ls *lives) checkChildren(b *stored) {
	for _, item := range b.deferred {
		if item.Kind == journal.DeferredPause {
			ls.pauses[item.Job]++
		}
		if item.Kind != journal.DeferredChild && item.Kind != journal.DeferredLetter || ls.w.letters.sent[item.Parent.RunID] != nil {
			continue
		}
		parent := ls.byRun[item.Parent.RunID]
		if parent == nil || !parent.status.Final() {
			fail("%s hears of the end of run %s of %s, which has not ended: %+v, %+v", item.Job, item.Parent.RunID, item.Parent.Job, item.Parent, parent)
		}
		if parent.status != item.Parent.Status && !parent.forgotten {
			fail("%s hears that run %s is %s, but it is %s", item.Job, parent.id, item.Parent.Status, parent.status)
		}
		key := parent.id + "/" + job.RunID(item.Job)
		if ls.told[key]++; ls.told[key] > 1 {
			fail("%s hears of the end of run %s twice", item.Job, parent.id)
		}
	}
}

// checkAlive holds the number of live runs against what may be alive.
func (ls *lives) checkAlive(d delivery) {
	alive := map[job.Name]int{}
	waiting := map[job.Name]int{}
	for _, r := range ls.byRun {
		switch {
		case ls.w.backfills.of[r.id] != nil: // those have limits of their own
		case r.status == job.StatusPending, r.status == job.StatusQueued && (r.retry || r.lacks):
			alive[r.job]++
		case r.status == job.StatusQueued:
			waiting[r.job]++
		}
	}
	for name, n := range alive {
		versions := d.known.jobs[name]
		if len(versions) == 0 || ls.edited[name] || ls.keyed[name] { // see checkLanes
			continue
		}
		if o := versions[len(versions)-1].Overlap; !o.Unlimited() && n > o.Limit {
			fail("%d runs of %s are alive, and %d may be: %s", n, name, o.Limit, ls.tell(name))
		}
	}
	for name, n := range waiting {
		versions := d.known.jobs[name]
		if len(versions) == 0 || ls.edited[name] || ls.keyed[name] {
			continue
		}
		o := versions[len(versions)-1].Overlap
		if o.Policy == job.OverlapQueue && n > o.Queue || o.Policy == job.OverlapReplace && n > 1 {
			fail("%d runs of %s wait, and the rule is %+v", n, name, o)
		}
	}
}

// forget stops following the runs of a job whose versions are gone.
func (ls *lives) forget(name job.Name) {
	for _, r := range ls.byRun {
		if r.job == name && !r.status.Final() {
			r.status, r.forgotten = job.StatusSkipped, true // which nobody is told of
		}
	}
	delete(ls.stale.succeeded, name)
}

// tell returns what is known of a job's runs that have not ended.
func (ls *lives) tell(name job.Name) string {
	var b strings.Builder
	for _, r := range ls.byRun {
		if r.job == name && !r.status.Final() {
			fmt.Fprintf(&b, "\n\trun %s attempt %d %s, retry %v", r.id, r.attempt, r.status, r.retry)
		}
	}
	return b.String()
}

// checkAtRest looks at the whole once everything has come to rest: every run has
// ended, and each end has been told to each child that waits for such an end.
func (ls *lives) checkAtRest() {
	for _, r := range ls.byRun {
		if !r.status.Final() {
			fail("run %s of %s is %s (attempt %d) in the end", r.id, r.job, r.status, r.attempt)
		}
		v := ls.w.newest[r.job]
		if v == nil || ls.edited[r.job] || r.status == job.StatusSkipped || r.status == job.StatusMissed || v.Deleted {
			continue
		}
		for _, c := range v.Children {
			// A child of the same shard may have run at once.
			here := slices.Contains(ls.w.names, c.Job)
			atOnce := here && ls.lines[job.ChildRunID(c.Job, r.id, ls.ended[r.id])]
			if c.Wants(r.status) && !atOnce && ls.told[r.id+"/"+job.RunID(c.Job)] != 1 {
				fail("%s was never told of the end of run %s of %s (%s)", c.Job, r.id, r.job, r.status)
			}
		}
	}
	for seq, d := range ls.w.trig.deferred {
		if (d.Kind == journal.DeferredChild || d.Kind == journal.DeferredLetter) && !ls.w.trig.released[seq] {
			fail("a letter for %s from run %s has had no effect", d.Job, d.Parent.RunID)
		}
	}
}
