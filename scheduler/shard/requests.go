package shard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
)

// Requests are the runs that people and programs ask for.
type Requests struct {
	cfg        *Config
	jobs       *jobs
	items      *items
	cluster    *Cluster
	runs       *runs
	waiting    *waitingRuns
	commands   []Command
	recoveries []bus.RecoverRequest
	tellings   []bus.WaitRequest
	holds      []bus.HoldRequest
	asked      map[job.RunID]bool // not committed yet
	recent     recentRuns
	keys       *Keys
}

// Command asks for a run of a job now.
type Command struct {
	bus.TriggerRequest
	body    body
	given   json.RawMessage // for a workflow
	version int32
	key     *runKey // nil: it has none
}

// Submit takes a request. What becomes of it is in the next batch of Step that has
// room; done is not nil when that is committed already. A request that comes again
// within [AskedFor], to this machine or to a successor, makes no second run. Errors:
// job.ErrNotFound, an *InvalidError, and job.ErrConflict for a run in the place of a
// fire that no version has wanted early within that time: those are asked for by versions,
// and here only what became of them. The same while there is no room for further runs of the group.
func (q *Requests) Submit(r bus.TriggerRequest) (done *Asked, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if asked, ok := q.recent.runs[r.RunID]; ok {
		return &asked, nil
	}
	if q.asked[r.RunID] {
		return nil, nil
	}
	id, ok := q.jobs.find(r.Job)
	if !ok {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	e := q.jobs.at(id)
	last := len(e.plans) - 1
	if e.plans[last].Deleted {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	if e.elsewhere() {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, refusal.RunsElsewhere.With(r.Job))
	}
	if !r.InsteadOf.IsZero() {
		return nil, fmt.Errorf("%w: no version of job %s has wanted its fire at %s early, as run %s, within the last %s",
			job.ErrConflict, r.Job, r.InsteadOf.UTC().Format(time.RFC3339), r.RunID, AskedFor)
	}
	if why := q.cluster.noRoom(r.Job.Group()); why != "" {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, why)
	}
	c := Command{TriggerRequest: r, version: e.plans[last].Version}
	of := e.bodies[last].Value()
	if len(r.Body) > 0 {
		c.version = int32(r.Version) //nolint:gosec // it is one of the job's
		var body journal.Body
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return nil, &job.InvalidError{Field: "body", Reason: fmt.Sprintf("is none of a version: %v", err)}
		}
		if err := checkWorkflow(body.Workflow); err != nil {
			return nil, err
		}
		if of, err = of.like(&body); err != nil {
			return nil, err
		}
	}
	if _, err = job.ParamsAt(r.Params, r.RunID.Time(), time.UTC); err != nil {
		return nil, err
	}
	if c.body, c.given, err = of.asked(&r); err != nil {
		return nil, err
	}
	if r.Pieces != nil && !c.body.inPieces {
		return nil, &job.InvalidError{Field: "pieces", Reason: fmt.Sprintf("version %d of the job is not done in pieces", c.version)}
	}
	if err := c.checkTaken(); err != nil {
		return nil, err
	}
	if !r.Due.IsZero() {
		if err := q.waiting.mayWait(r.Job, len(q.commands)); err != nil {
			return nil, err
		}
	}
	q.commands = append(q.commands, c)
	q.asked[r.RunID] = true
	return nil, nil
}

// checkTaken returns an *InvalidError if steps cannot be taken over.
func (c *Command) checkTaken() error {
	size := 0
	for _, s := range c.Taken {
		size += len(s.Result)
	}
	switch {
	case len(c.Taken) > 0 && !c.body.inSteps:
		return &job.InvalidError{Field: "taken", Reason: fmt.Sprintf("version %d of the job has no steps", c.version)}
	case size > maxResults:
		return &job.InvalidError{Field: "taken", Reason: refusal.StepResultsTooLarge.With(size, maxResults)}
	}
	return nil
}

// roomAsked is the most messages that a run on request takes: those of [runs.admit], and the note
// that it was made.
const roomAsked = 4

// obey makes the runs that were asked for.
func (q *Requests) obey(b *builder) {
	q.age(b.now.UnixMilli())
	for len(q.commands) > 0 && b.fits(roomAsked) {
		c := q.commands[0]
		q.commands = q.commands[1:]
		r := attempt{
			runID: c.RunID, version: c.version, number: 1, cause: c.Cause, fireTime: c.RunID.Time().UnixMilli(),
			parent: cmp.Or(c.RetryOf, c.Parent), depth: c.Depth, given: c.given, earlier: c.Pieces, taken: c.Taken, key: c.key,
		}
		if c.Parent != "" {
			r.fireTime = c.startedAt(b.now.UnixMilli())
			r.runID = job.LaterRunID(c.RunID, r.fireTime)
		}
		f := admission{status: job.StatusSkipped, reason: reason.JobDeleted.String()}
		id, ok := q.jobs.find(c.Job)
		switch now := b.now.UnixMilli(); {
		case !ok:
		case c.isLater(now) && !q.jobs.at(id).newest().Deleted:
			q.waiting.accept(b, id, &c)
			continue
		case !c.Expires.IsZero() && c.Expires.UnixMilli() <= now:
			f = admission{status: job.StatusMissed, reason: reason.Expired.With(c.Expires)}
		default:
			r.startBy = millis(c.Expires)
			q.keys.accept(b, c.key, r.runID, r.version, r.fireTime)
			f = q.runs.admit(b, id, r, c.body)
			if !c.Due.IsZero() {
				f.reason = reason.Join(overdue(c.Due.UnixMilli(), now), f.reason)
			}
		}
		if c.key != nil && c.key.RunID == "" { // it is remembered, too, that there is none
			q.keys.accept(b, c.key, r.runID, r.version, r.fireTime)
		}
		b.answer(c.RunID, c.Job, r, f, c.By)
	}
}

// startedAt returns the fire time of a run that the code of another starts now: later than that one's, by
// whatever clocks, as the run that a step calls has the same; see [isCalled].
func (c *Command) startedAt(now int64) int64 { return max(now, c.Parent.Time().UnixMilli()+1) }

// answer records the outcome of a run on request, for those who asked and for
// successors. The caller has found room for one more message.
func (b *builder) answer(request job.RunID, name job.Name, r attempt, f admission, by string) {
	r.total = f.total
	b.record.addRun(name, r, f.status, f.reason).By = by
	a := Asked{RunID: request, Version: int(r.version), Status: f.status, Reason: f.reason, key: r.key}
	if r.runID != request {
		a.Of = r.runID
	}
	b.note(a)
}

// note adds an outcome for those who asked. The caller has found room for one more message.
func (b *builder) note(a Asked) {
	if len(b.Asked) == 0 {
		b.room-- // for the item with them, which comes last
	}
	b.Asked = append(b.Asked, a)
}

// AskedFor is how long runs on request are remembered. Servers send no id whose time is older than five
// minutes, so no forgotten one comes again.
const AskedFor = 7 * time.Minute

// Asked is the outcome of a run on request.
type Asked struct {
	RunID   job.RunID
	Version int
	Status  job.Status // pending, queued, skipped or missed
	Reason  string
	Round   int // of a step that is retried or resolved; without a Status that is refused
	// Of is the run, where RunID names the request: the one that waits for its instant, that code has started,
	// or that has the step for which something is said.
	Of   job.RunID
	Step string
	// Differs lists the fields that were others when the key came first: the request is refused.
	Differs string
	key     *runKey // under which the run was made; nil: under none
}

// Reply returns what is answered to whoever asked.
func (a *Asked) Reply() bus.TriggerReply {
	return bus.TriggerReply{RunID: cmp.Or(a.Of, a.RunID), Version: a.Version, Status: a.Status, Reason: a.Reason, Step: a.Step, Round: a.Round, Differs: a.Differs}
}

// recentRuns are recent runs on request, so that a request that is repeated
// because its answer was lost makes no second run. The runs of one batch
// are in one deferred item, from which a successor restores them.
type recentRuns struct {
	runs   map[job.RunID]Asked
	notes  []askedNote // the oldest first
	kept   []askedNote // that are old, with keys that the bucket KEY may lack
	seen   int64       // the clock at the last step; 0: there was none
	passed int64       // milliseconds that have passed since the machine was made, see pass
}

// askedNote lists the runs on request of one batch.
type askedNote struct {
	item *item
	at   int64 // when, as recentRuns.passed; 0 for what an earlier owner has made
	runs []job.RunID
	keys []*runKey
}

// add remembers runs that are stored.
func (r *recentRuns) add(runs []Asked) {
	if r.runs == nil {
		r.runs = map[job.RunID]Asked{}
	}
	for _, a := range runs {
		r.runs[a.RunID] = a
	}
}

// committed remembers the runs of a batch that is stored.
func (q *Requests) committed(asked []Asked) {
	q.recent.add(asked)
	for _, a := range asked {
		delete(q.asked, a.RunID)
		q.keys.committed(&a)
	}
}

// note adds the item with the runs on request of the batch. There is room for it.
func (q *Requests) note(b *builder) {
	if len(b.Asked) == 0 {
		return
	}
	note := askedNote{at: q.recent.passed}
	d := &journal.Deferred{Kind: journal.DeferredAsked, Since: b.now}
	for _, a := range b.Asked {
		note.runs = append(note.runs, a.RunID)
		note.add(a.key)
		d.Asked = append(d.Asked, journal.Asked{ID: a.RunID, TriggerReply: a.Reply(), Key: a.key.mark()})
	}
	note.item = b.deferred(q.cfg.Shard, d)
	q.recent.notes = append(q.recent.notes, note)
}

// restore enters runs on request of an earlier owner.
func (q *Requests) restore(d *journal.Deferred, seq uint64) {
	note := askedNote{item: &item{seq: seq}}
	for _, r := range d.Asked {
		a := Asked{RunID: r.ID, Version: r.Version, Status: r.Status, Reason: r.Reason, Round: r.Round, Step: r.Step}
		if r.RunID != r.ID {
			a.Of = r.RunID
		}
		if k := q.keys.restore(r.Key, true); k != nil {
			k.status, k.reason = a.Status, a.Reason
			note.add(k)
		}
		note.runs = append(note.runs, a.RunID)
		q.recent.add([]Asked{a})
	}
	q.recent.notes = append(q.recent.notes, note)
}

// pass advances the time to now. A machine steps at least every [IdleAfter], so more than that
// between two steps is a clock that was set, and counts as no more: what was made a minute
// ago is not forgotten because a clock was wrong. One that goes back counts as nothing.
func (r *recentRuns) pass(now int64) {
	if r.seen != 0 {
		r.passed += min(max(now-r.seen, 0), IdleAfter)
	}
	r.seen = now
}

// age forgets runs on request after [AskedFor], and releases their notes once KEY has the keys in them.
func (q *Requests) age(now int64) {
	r := &q.recent
	r.pass(now)
	for len(r.notes) > 0 && r.notes[0].at+AskedFor.Milliseconds() <= r.passed {
		for _, id := range r.notes[0].runs {
			delete(r.runs, id)
		}
		r.kept = append(r.kept, r.notes[0])
		r.notes = r.notes[1:]
	}
	r.kept = slices.DeleteFunc(r.kept, func(n askedNote) bool {
		if !n.isSafe(r.passed) {
			return false
		}
		q.items.release(n.item)
		n.forget()
		return true
	})
}

// add has the note list a key.
func (n *askedNote) add(k *runKey) {
	if k != nil {
		k.notes++
		n.keys = append(n.keys, k)
	}
}

// isSafe reports whether KEY has all keys of the note for long enough.
func (n *askedNote) isSafe(passed int64) bool {
	return !slices.ContainsFunc(n.keys, func(k *runKey) bool { return !k.isSafe(passed) })
}

// forget notes that the note lists its keys no more.
func (n *askedNote) forget() {
	for _, k := range n.keys {
		k.notes--
		k.forget()
	}
}
