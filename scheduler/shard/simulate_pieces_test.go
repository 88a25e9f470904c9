package shard

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/journal"
)

// simGroups are the executor groups of a world.
var simGroups = []string{"g0", "g1"}

// simPieces is what is stored of a run that is done in pieces.
type simPieces struct {
	total    int
	split    int // the attempt that listed them
	attempts []map[int]*simRun
	items    []json.RawMessage
	over     bool
	given    int // pieces that had succeeded in the run that this one does again
}

// lacking reports whether a run waits until somebody is there to do it.
func lacking(l journal.Decided) bool {
	return l.Status == job.StatusQueued && strings.Contains(l.Reason, "it waits until an instance")
}

// split tells pieces from other triggers.
func split(all []*bus.Trigger) (pieces, others []*bus.Trigger) {
	for _, t := range all {
		if t.Total > 0 {
			pieces = append(pieces, t)
		} else {
			others = append(others, t)
		}
	}
	return pieces, others
}

func runOfItem(d *journal.Deferred) job.RunID {
	t, err := bus.DecodeTrigger(nil, d.Trigger)
	if err != nil {
		fail("trigger in an item: %v", err)
	}
	return t.RunID
}

func instancesOf(names ...string) []*fleet.Instance {
	list := make([]*fleet.Instance, len(names))
	for i, name := range names {
		list[i] = &fleet.Instance{Instance: name, Kinds: []string{job.KindShell}, Labels: job.Labels{"half": string("xy"[i%2])}, Pack: 2 + i%3}
	}
	return list
}

// begun reports whether the stream has had a run, whole, in pieces, or replaced before
// any of those could be triggered.
func (w *world) begun(id job.RunID) bool {
	return w.runs[id] != nil || w.inPieces[id] != nil || w.lives.byRun[id] != nil
}

// comeAndGo lets instances of a group come and go.
func (w *world) comeAndGo() {
	names := []string{"a", "b", "c", "d", "e", "f"}
	group := simGroups[w.rng.IntN(2)]
	w.online[group] = instancesOf(names[:w.rng.IntN(len(names)+1)]...)
	for _, o := range append([]*owner{w.owner}, w.zombies...) {
		if o != nil && o.batch == nil {
			o.m.PutInstances(group, w.online[group])
		}
	}
	w.say("%d instances of %s are online", len(w.online[group]), group)
}

// govern has a group governed, or not any more.
func (w *world) govern() {
	group := simGroups[w.rng.IntN(2)]
	w.governed[group] = !w.governed[group]
	for _, o := range append([]*owner{w.owner}, w.zombies...) {
		if o != nil && o.batch == nil {
			o.m.Cluster.PutGroup(group, w.governed[group])
		}
	}
	w.say("%s is governed: %v", group, w.governed[group])
}

// checkSubject looks where a trigger was sent: by priority, as the owner knew the group,
// or else to whom its route says.
func checkSubject(m *Machine, t *bus.Trigger, subject string) {
	want := bus.SubjectTrigger(simShard, t.Job.Group())
	switch {
	case m.Cluster.governed[t.Job.Group()]:
		want = bus.SubjectPriority(simShard, t.Priority, t.Job.Group())
	case t.Routed():
		want = bus.SubjectRouted(simShard, t.Job.Group())
	}
	if subject != want {
		fail("a trigger of %s, with priority %s, is sent to %s, not %s", t.Job, t.Priority, subject, want)
	}
}

// pieces lets the runs of a random job be done in pieces, or not.
func (w *world) pieces(j *job.Job) {
	switch w.rng.IntN(8) {
	case 0:
		j.Route = job.RouteBroadcast
		if w.chance(30) {
			j.AtOnce = 1 + w.rng.IntN(3)
		}
		if w.chance(30) {
			j.Labels = job.Labels{"half": "x"}
		}
	case 1:
		j.Map = &job.Map{Pieces: 1 + w.rng.IntN(20)}
		if w.chance(10) {
			j.Map.Pieces = 1 + w.rng.IntN(800)
		}
	case 2:
		j.Map = &job.Map{Split: true}
	default:
		return
	}
	if j.Map != nil && w.chance(60) {
		j.Map.AtOnce = 1 + w.rng.IntN(6)
	}
	if w.chance(50) {
		j.SucceedsIf = job.Share(1 + w.rng.IntN(99))
	}
}

// list returns what a splitting attempt does.
func (w *world) list() json.RawMessage {
	if w.chance(10) {
		return json.RawMessage([]string{`[]`, `{"no":"list"}`, `null`, ``}[w.rng.IntN(4)])
	}
	items := make([]int, 1+w.rng.IntN(12))
	for i := range items {
		items[i] = 100 + i
	}
	data, err := json.Marshal(items)
	if err != nil {
		fail("encode list: %v", err)
	}
	return data
}

// checkPieces holds the pieces in a batch against the rules: each is triggered once an
// attempt, and again only after a bad end; no more are out than may be; and the run
// ends when all have, as its rule says.
func (w *world) checkPieces(b *stored, d delivery, lines []journal.Decided) {
	for _, item := range b.deferred {
		if item.Kind == journal.DeferredPieces && item.Pieces.States != "" {
			w.checkItem(item)
		}
	}
	together := func(ended func(job.Status) bool) {
		for _, l := range lines {
			if p := w.inPieces[l.RunID]; p != nil && l.Total > 0 && ended(l.Status) {
				w.checkTogether(d, l, p)
			}
		}
	}
	// A retry that is due at once is triggered with the batch that says so.
	together(func(s job.Status) bool { return s == job.StatusQueued })
	atOnce := map[*simPieces]int{}
	for _, t := range b.pieces {
		p := w.inPieces[t.RunID]
		if p == nil || p.over || p.total != t.Total {
			fail("piece %d of %d of run %s is triggered, which the stream has as %+v", t.Index, t.Total, t.RunID, p)
		}
		if t.Task.Shell != w.shellOf(t) || t.Retry.Limit != 0 {
			fail("piece %d of run %s has the task %q and retries %+v", t.Index, t.RunID, t.Task.Shell, t.Retry)
		}
		if len(p.items) > 0 && string(p.items[t.Index]) != string(t.Item) {
			fail("piece %d of run %s is about %s, not %s", t.Index, t.RunID, t.Item, p.items[t.Index])
		}
		p.trigger(w, t, b.tokens[t])
		if t.Map != nil && t.Map.AtOnce > 0 {
			atOnce[p] = t.Map.AtOnce
		}
		if t.AtOnce > 0 {
			atOnce[p] = t.AtOnce
		}
	}
	for p, most := range atOnce {
		out := 0
		for _, r := range p.attempts[len(p.attempts)-1] {
			// A piece that has not begun in time counts as ended.
			if r.trigger.StartBy.IsZero() && !r.settled {
				out++
			}
		}
		if out > most {
			fail("%d pieces are out, and %d may be", out, most)
		}
	}
	together(job.Status.Final)
}

// checkItem notes a run in pieces, and that it stays what it was.
func (w *world) checkItem(item *journal.Deferred) {
	id := runOfItem(item)
	p := w.inPieces[id]
	if p == nil {
		p = &simPieces{total: len(item.Pieces.States), items: item.Pieces.Items, split: item.Pieces.Split}
		w.inPieces[id] = p
		// What has succeeded before any piece was triggered, has so in another run.
		p.given = strings.Count(item.Pieces.States, string(bus.PieceSucceeded))
	}
	if p.total != len(item.Pieces.States) || p.split != item.Pieces.Split || p.over {
		fail("run %s goes from %+v to %+v", id, p, item.Pieces)
	}
}

// shellOf returns what the run of a piece is to do.
func (w *world) shellOf(t *bus.Trigger) string { return "version " + strconv.Itoa(t.Version) }

// trigger notes a piece's trigger.
func (p *simPieces) trigger(w *world, t *bus.Trigger, token string) {
	for len(p.attempts) < t.Attempt-p.split {
		p.attempts = append(p.attempts, map[int]*simRun{})
	}
	n := len(p.attempts)
	if t.Attempt-p.split != n {
		fail("piece %d of run %s is triggered for attempt %d, after attempt %d", t.Index, t.RunID, t.Attempt, n+p.split)
	}
	if p.attempts[n-1][t.Index] != nil {
		fail("attempt %d of piece %d of run %s is triggered twice", t.Attempt, t.Index, t.RunID)
	}
	if n > 1 {
		was := p.attempts[n-2][t.Index]
		if was == nil || !was.settled || was.status == job.StatusSucceeded {
			fail("attempt %d of piece %d of run %s follows on %+v", t.Attempt, t.Index, t.RunID, was)
		}
	}
	r := &simRun{trigger: t, token: token}
	p.attempts[n-1][t.Index] = r
	w.live = append(w.live, r)
}

// checkTogether looks at the end of a run in pieces, or of an attempt of it.
func (w *world) checkTogether(d delivery, l journal.Decided, p *simPieces) {
	good := map[int]bool{}
	touched := map[int]bool{}
	for _, attempt := range p.attempts {
		for i, r := range attempt {
			touched[i] = true
			if !r.settled && r.trigger.StartBy.IsZero() {
				fail("run %s is %s (%s), but piece %d is out: %+v, %+v", l.RunID, l.Status, l.Reason, i, r, r.trigger)
			}
			if r.settled && r.status == job.StatusSucceeded {
				good[i] = true
			}
		}
	}
	p.over = l.Status.Final()
	versions := d.known.jobs[l.Job]
	if len(versions) == 0 || w.lives.edited[l.Job] || l.Status == job.StatusCancelled {
		return
	}
	v := versions[len(versions)-1]
	if len(touched)+p.given != p.total && v.TotalTimeout == 0 {
		fail("run %s is %s (%s), but only %d of %d pieces were triggered", l.RunID, l.Status, l.Reason, len(touched), p.total)
	}
	if enough := len(good)+p.given >= v.SucceedsIf.Of(p.total); v.StartWithin == 0 && enough != (l.Status == job.StatusSucceeded) {
		fail("run %s is %s (%s), but %d of %d pieces have succeeded, and %s have to", l.RunID, l.Status, l.Reason, len(good), p.total, v.SucceedsIf)
	}
	if l.Status != job.StatusQueued && l.Status != job.StatusSucceeded && v.Retry.Limit >= l.Attempt-p.split && v.TotalTimeout == 0 && v.StartWithin == 0 && !v.Deleted {
		again := len(good) + p.given
		for _, r := range p.attempts[len(p.attempts)-1] {
			if slices.Contains(v.Retry.On, r.status) {
				again++
			}
		}
		if again >= v.SucceedsIf.Of(p.total) {
			fail("run %s is %s (%s) at attempt %d, though another could have saved it: %+v", l.RunID, l.Status, l.Reason, l.Attempt, v.Retry)
		}
	}
}
