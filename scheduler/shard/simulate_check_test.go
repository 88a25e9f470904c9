package shard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// check holds what a stored batch says against what was to be decided.
func (w *world) check(b *stored, d delivery) {
	lines := map[job.Name][]journal.Decided{}
	pending := map[attemptID]journal.Decided{}
	var all []journal.Decided
	seen, tried := map[job.RunID]bool{}, map[attemptID]bool{}
	if b.record != nil {
		if err := b.record.Each(func(l journal.Decided) {
			if l.Retry { // only the attempt has ended
				tried[attemptID{l.RunID, l.Attempt + 1}] = true
				return
			}
			if w.checkWaiting(l, d) {
				return
			}
			if again := l.Status == job.StatusQueued && l.Total > 0 && l.Attempt > 1; again != tried[attemptID{l.RunID, l.Attempt}] {
				fail("attempt %d of run %s of %s is %s; the record tells of the end of the one before: %v", l.Attempt, l.RunID, l.Job, l.Status, !again)
			}
			delete(tried, attemptID{l.RunID, l.Attempt})
			all = append(all, l)
			if w.lives.byRun[l.RunID] == nil && !seen[l.RunID] {
				lines[l.Job] = append(lines[l.Job], l)
			}
			seen[l.RunID] = true
			if l.Status == job.StatusPending && l.Total == 0 {
				pending[attemptID{l.RunID, l.Attempt}] = l
			}
			if l.Status.Final() {
				w.over[l.RunID] = d.now
			}
			if l.Reason == "" && (l.Total == 0 || l.Status != job.StatusSucceeded) && (l.Status != job.StatusPending || l.Cause == job.CauseMisfire && l.Attempt == 1) {
				fail("%s of %s without a reason", l.Status, l.Job)
			}
		}); err != nil {
			fail("record: %v", err)
		}
		if len(tried) > 0 {
			fail("nothing follows upon attempts that the record calls ended: %v", tried)
		}
	}
	b.pieces, b.triggers = split(b.triggers)
	var ends []*storedEvent
	if d.evt != nil { // else it is a claim, and the cursor stays where it is
		ends = w.ends(b, d.owner)
	}
	w.settleEnds(ends)
	if len(pending) != len(b.triggers) {
		twice := map[attemptID]bool{}
		for _, t := range b.triggers {
			id := attemptID{t.RunID, t.Attempt}
			if twice[id] {
				fail("attempt %d of run %s of %s is triggered twice: %+v", t.Attempt, t.RunID, t.Job, w.lives.byRun[t.RunID])
			}
			twice[id] = true
		}
		fail("%d triggers, but the record tells of %d", len(b.triggers), len(pending))
	}
	if d.evt == nil && b.cursor.EventSeq != b.before.EventSeq || d.evt == w.read && b.cursor.EventSeq < b.before.EventSeq || d.evt != nil && b.cursor.EventSeq > d.evt.last() {
		fail("event position %d after %d", b.cursor.EventSeq, b.before.EventSeq)
	}
	for _, t := range b.triggers {
		l, ok := pending[attemptID{t.RunID, t.Attempt}]
		if !ok || l.Job != t.Job || l.Version != t.Version || l.Cause != t.Cause || !l.FireTime.Equal(t.FireTime) {
			fail("trigger %+v, but the record says %+v", t, l)
		}
		if t.Task.Shell != "version "+strconv.Itoa(t.Version) {
			fail("trigger of version %d runs %q", t.Version, t.Task.Shell)
		}
		if r := w.runs[t.RunID]; r != nil && (t.Attempt != r.trigger.Attempt+1 || !r.settled) {
			fail("run %s of %s at %s is triggered twice: by version %d and %d", t.RunID, t.Job, t.FireTime, r.trigger.Version, t.Version)
		}
		r := &simRun{trigger: t, token: b.tokens[t]}
		w.runs[t.RunID] = r
		w.live = append(w.live, r)
	}
	w.noteAsked(b, d.now)
	w.checkWaitingItems()
	w.runKeys.check(b)
	w.checkBackfills(b)
	w.checkPieces(b, d, all)
	checkRoom(b, d, all)
	w.lives.checkRuns(b, d, all, ends)
	w.checkLetters(b, all)
	for _, name := range w.names {
		w.checkJob(b, d, name, lines[name])
		delete(lines, name)
	}
	for name := range lines {
		fail("the record tells of %s", name)
	}
	for _, l := range all {
		w.noteLine(l)
	}
}

// checkJob looks at one job: each fire that the cursor passed has its fate, and there
// is nothing else.
func (w *world) checkJob(b *stored, d delivery, name job.Name, lines []journal.Decided) {
	after, upto := position(b.before, name), position(b.cursor, name)
	if upto < after {
		fail("%s goes back from %s to %s", name, instant(after), instant(upto))
	}
	versions := w.versions(b, d.known, name)
	fates := w.oracle.expect(d.known, versions, d.now, func(heardVersion) (int64, int64) { return after, upto })
	for _, v := range versions {
		if v.rev > b.before.JobsSeq && v.after < after && v.rev <= b.cursor.JobsSeq { // it was heard of late
			// What it owes behind the position is judged by itself.
			fates = append(fates, w.oracle.expect(d.known, versions, d.now, func(other heardVersion) (int64, int64) {
				if other.rev != v.rev {
					return 0, 0
				}
				return -1 << 60, after
			})...)
		}
	}
	w.fires += len(fates)
	d.known.refuseFires(name, fates)
	delays := 0
	for _, l := range lines {
		switch {
		case l.Cause == job.CauseParent:
		case l.Cause == job.CauseManual, l.Cause == job.CauseAPI, l.Cause == job.CauseRerun:
			if _, ok := w.asked[l.RunID]; !ok && w.later[l.RunID] == nil {
				fail("run %s of %s, which nobody asked for", l.RunID, name)
			}
		case l.Cause == job.CauseBackfill:
			w.checkFill(l)
		case w.isDelay(d.known, l):
			if delays++; delays > 1 {
				fail("%s fires twice in one batch", name)
			}
			w.checkDelay(b, d, l)
		default:
			w.match(l, fates)
		}
	}
	for _, l := range lines {
		if l.Cause == job.CauseSchedule || l.Cause == job.CauseMisfire {
			w.last[name] = max(w.last[name], l.FireTime.UnixMilli(), l.Until.UnixMilli())
		}
	}
	w.checkEarly(name, lines)
	for _, f := range fates {
		if f.due > d.now {
			fail("%s@%d: the fire of %s, due %s, is decided at %s", name, f.version, instant(f.at), instant(f.due), instant(d.now))
		}
		if !f.seen {
			fail("%s@%d: the fire of %s, due %s, is %s (%s); nothing is recorded, and the cursor went from %s to %s",
				name, f.version, instant(f.at), instant(f.due), f.status, f.cause, instant(after), instant(upto))
		}
	}
	for i, item := range b.deferred {
		if item.Job == name && (item.Kind == journal.DeferredDelay || item.Kind == journal.DeferredEnd) {
			if first := versions[0]; w.items[name] == nil && len(lines) == 0 && len(versions) == 1 && first.Version.Version == 1 && !item.Since.Equal(first.EffectiveFrom) {
				fail("%s is new and waits since %s, but is owed fires since %s", name, item.Since, first.EffectiveFrom)
			}
			w.items[name] = &itemAt{Deferred: item, seq: b.items[i]}
		}
	}
}

// versions returns the versions of a job that k has, with the instants after which
// their fires count, by what was stored before b and by b.
func (w *world) versions(b *stored, k *knowledge, name job.Name) []heardVersion {
	versions := slices.Clone(k.jobs[name])
	at := position(b.before, name)
	began, after := uint64(0), int64(0) // with which revision a fixed delay began
	for i := range versions {
		v := &versions[i]
		if v.rev <= b.before.JobsSeq {
			v.after = w.begins[v.rev]
		} else {
			v.after = v.EffectiveFrom.UnixMilli()
			if v.after < at { // it was heard of late: what has run in its time stands
				v.after = max(v.after, w.last[name], after)
				if began != 0 && began <= b.before.JobsSeq {
					v.after = at // the delay may have fired up to here
				}
			}
			if v.rev <= b.cursor.JobsSeq {
				w.begins[v.rev] = v.after
			}
		}
		after = v.after
		switch {
		case v.Deleted || v.Schedule.Kind() != job.KindFixedDelay:
			began = 0
		case began == 0:
			began = v.rev
		}
	}
	return versions
}

// match finds the fires of which a line tells.
func (w *world) match(l journal.Decided, fates []*fate) {
	first := l.FireTime.UnixMilli()
	last := first
	if l.Count > 1 {
		last = l.Until.UnixMilli()
	}
	found := 0
	for _, f := range fates {
		if f.version != l.Version || f.at < first || f.at > last {
			continue
		}
		found++
		if f.seen || w.covered[coverage{l.Job, f.at}] {
			fail("%s@%d: the fire of %s has two fates", l.Job, f.version, instant(f.at))
		}
		f.seen = true
		w.covered[coverage{l.Job, f.at}] = true
		if f.status == job.StatusPending && overlapped(l) {
			continue
		}
		if f.status != l.Status || f.cause != l.Cause {
			fail("%s@%d: the fire of %s is %s (%s, %q), but should be %s (%s)", l.Job, f.version, instant(f.at), l.Status, l.Cause, l.Reason, f.status, f.cause)
		}
		if f.status == job.StatusMissed && !strings.Contains(l.Reason, f.reason) {
			fail("%s@%d: the fire of %s is missed since %q, but should be since %q", l.Job, f.version, instant(f.at), l.Reason, f.reason)
		}
		why, direction, moves := strings.Cut(l.Reason, "; shift ")
		if f.status == job.StatusSkipped && (moves != f.moves || moves && !strings.HasPrefix(direction, "next moves it to ") && !strings.HasPrefix(direction, "previous moves it to ")) {
			fail("%s@%d: the fire of %s is skipped since %q, and moves: %v", l.Job, f.version, instant(f.at), l.Reason, f.moves)
		}
		if f.status == job.StatusSkipped && f.reason != why && !strings.HasPrefix(f.reason, "calendar ") {
			fail("%s@%d: the fire of %s is skipped since %q, but should be since %q", l.Job, f.version, instant(f.at), l.Reason, f.reason)
		}
	}
	if found != l.Count && (l.Count < maxCount || found < l.Count) {
		fail("%s@%d: %d fires from %s to %s are %s, but %d were owed", l.Job, l.Version, l.Count, instant(first), instant(last), l.Status, found)
	}
}

// overlapped reports whether a run has not begun because of others of its job.
func overlapped(l journal.Decided) bool {
	return l.Status == job.StatusQueued && (strings.Contains(l.Reason, "it waits for") || lacking(l)) ||
		l.Status == job.StatusSkipped && (strings.Contains(l.Reason, "alive") || strings.Contains(l.Reason, "wait already"))
}

func (w *world) isDelay(k *knowledge, l journal.Decided) bool {
	for _, v := range k.jobs[l.Job] {
		if v.Version.Version == l.Version {
			return v.Schedule.Kind() == job.KindFixedDelay
		}
	}
	return false
}

// itemAt is a deferred item with its sequence, or one of the same batch.
type itemAt = simItem

// checkDelay looks at a fire of a fixed-delay job: it follows from the item that the
// stream has, and the run before has ended.
func (w *world) checkDelay(b *stored, d delivery, l journal.Decided) {
	versions := d.known.jobs[l.Job]
	v := versions[len(versions)-1]
	if v.Version.Version != l.Version || v.Deleted {
		fail("%s fires by version %d, but %d is known", l.Job, l.Version, v.Version.Version)
	}
	at := l.FireTime.UnixMilli()
	if at+v.offset() > d.now {
		fail("%s fires %d ms early", l.Job, at+v.offset()-d.now)
	}
	delay := v.Schedule.FixedDelay.Milliseconds()
	follows := func(since int64) bool {
		want := since + delay
		if v.Schedule.From != nil {
			want = max(want, v.Schedule.From.UnixMilli())
		}
		return at == want
	}
	ok := false
	for _, it := range b.deferred { // written and used in the same batch
		ok = ok || it.Job == l.Job && it.Kind == journal.DeferredDelay && follows(it.Since.UnixMilli())
	}
	last := w.items[l.Job]
	switch {
	case ok:
	case last == nil || w.trig.released[last.seq] && w.broke(versions, l.Job):
		ok = at >= w.start // its first fire
	case last.Kind == journal.DeferredDelay:
		ok = follows(last.Since.UnixMilli())
	default:
		fire := last.RunID.Time().UnixMilli()
		if at, over := w.over[last.RunID]; over {
			ok = follows(max(at, fire))
		}
		if r := w.runs[last.RunID]; r != nil && r.ended() {
			ok = ok || follows(max(r.at, fire))
		}
	}
	if !ok {
		fail("%s fires at %s, which does not follow from %+v", l.Job, instant(at), itemOf(last))
	}
	if v.Schedule.Until != nil && at > v.Schedule.Until.UnixMilli() {
		fail("%s fires after its end", l.Job)
	}
	if last != nil && last.Kind == journal.DeferredEnd && !w.broke(versions, l.Job) && !w.ended(last.RunID) {
		fail("%s fires while run %s is alive", l.Job, last.RunID)
	}
	excluded := d.known.exclude(v, at) != ""
	late := d.now-at-v.offset() > v.Misfire.Grace.Milliseconds()
	want := journal.Decided{Status: job.StatusPending, Cause: job.CauseSchedule}
	switch {
	case excluded:
		want.Status = job.StatusSkipped
	case late && v.Misfire.Policy == job.MisfireSkip, late && d.known.held(l.Job, d.now) != "":
		want.Status = job.StatusMissed
	case late:
		want.Cause = job.CauseMisfire
	}
	if want.Status == job.StatusPending && d.known.full(l.Job) {
		want.Status = job.StatusMissed
	}
	if want.Status == job.StatusPending && overlapped(l) {
		return
	}
	if l.Status != want.Status || l.Cause != want.Cause {
		fail("%s: the fire of %s is %s (%s), but should be %s (%s)", l.Job, instant(at), l.Status, l.Cause, want.Status, want.Cause)
	}
}

// ended reports whether a run has come to its end.
func (w *world) ended(id job.RunID) bool {
	_, over := w.over[id]
	r := w.runs[id]
	return over || r != nil && r.ended()
}

// broke reports whether the job was ever of another kind, or deleted: then a cycle
// may begin anew while a run of the last one is alive.
func (w *world) broke(versions []heardVersion, name job.Name) bool {
	return w.broken[name] || slices.ContainsFunc(versions, func(v heardVersion) bool {
		return v.Deleted || v.Schedule.Kind() != job.KindFixedDelay
	})
}

// checkEnd looks at the whole, once everything has come to rest.
func (w *world) checkEnd() {
	for id, acknowledged := range w.asked {
		if acknowledged && !w.begun(id) {
			fail("run %s was acknowledged and never triggered", id)
		}
	}
	w.lives.checkAtRest()
	w.checkFinal()
	w.checkLettersEnd()
	for _, name := range w.names {
		if w.refuses(name) {
			fail("no edit of %s is taken, though all is decided", name)
		}
	}
	w.checkEarlyEnd()
	w.checkWaitingEnd()
	w.checkBackfillsEnd()
	all := w.knowAll()
	for _, name := range w.names {
		waiting := 0
		for seq, d := range w.trig.deferred {
			if d.Job == name && (d.Kind == journal.DeferredDelay || d.Kind == journal.DeferredEnd) && !w.trig.released[seq] {
				waiting++
			}
		}
		v := w.newest[name]
		want := 0
		if v != nil && !v.Deleted && v.Schedule.Kind() == job.KindFixedDelay {
			want = 1
		}
		if waiting != want {
			fail("%s has %d items at the end, and should have %d", name, waiting, want)
		}
		// However late their owners heard: all fires of each version have their fate, but
		// for those of an edit in whose time the version before it has fired.
		versions := slices.Clone(all.jobs[name])
		for i := range versions {
			v := &versions[i]
			if v.after = w.begins[v.rev]; v.after == 0 || v.after > v.EffectiveFrom.UnixMilli() && (w.punctual || v.Version.Version == 1) {
				fail("%s@%d begins at %s, but is effective from %s", name, v.Version.Version, instant(v.after), v.EffectiveFrom)
			}
		}
		owed := w.oracle.expect(all, versions, w.clock, func(heardVersion) (int64, int64) {
			return -1 << 60, position(w.trig.cursor, name)
		})
		for _, f := range owed {
			if !w.covered[coverage{name, f.at}] && !f.moved { // a calendar that came later would have moved it
				fail("%s@%d: the fire of %s has no fate", name, f.version, instant(f.at))
			}
		}
	}
}

// itemOf returns what an item says, for messages.
func itemOf(i *simItem) any {
	if i == nil {
		return nil
	}
	return *i.Deferred
}
