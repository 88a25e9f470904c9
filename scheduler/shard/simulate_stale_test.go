package shard

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// simStale is what makes attempts stale.
type simStale struct {
	succeeded map[job.Name]*life // the run of the latest fire, while its job dropped stale retries
	all       []*life            // runs that have succeeded so, of any fire
	dropped   int                // runs that ended for it
}

// drops reports whether the owner of a batch knew a rule that drops a job's stale retries.
func (d *delivery) drops(name job.Name) bool {
	versions := d.known.jobs[name]
	return len(versions) > 0 && versions[len(versions)-1].Retry.DropStale
}

// outdatedBy returns the run of a later fire that has succeeded, or nil.
func (s *simStale) outdatedBy(r *life) *life {
	later := s.succeeded[r.job]
	if later == nil || r.forgotten || !r.cause.Scheduled() || r.fire >= later.fire {
		return nil
	}
	return later
}

// noteSuccesses notes which runs a batch ends well.
func (ls *lives) noteSuccesses(d delivery, lines []journal.Decided, ends map[attemptID]*storedEvent) {
	note := func(r *life) {
		if r.forgotten || !r.cause.Scheduled() || !d.drops(r.job) {
			return
		}
		ls.stale.all = append(ls.stale.all, r)
		if was := ls.stale.succeeded[r.job]; was == nil || was.fire < r.fire {
			ls.stale.succeeded[r.job] = r
		}
	}
	for _, l := range lines {
		if r := ls.byRun[l.RunID]; r != nil && l.Status == job.StatusSucceeded {
			note(r)
		}
	}
	for id, e := range ends {
		split := ls.w.runs[id.run] != nil && ls.w.runs[id.run].trigger.Split
		if r := ls.byRun[id.run]; r != nil && e.event.Status == job.StatusSucceeded && r.attempt == id.attempt && r.status == job.StatusPending && !split {
			note(r)
		}
	}
}

// checkStale holds a line about a run against what the job's later runs have come to.
func (ls *lives) checkStale(d delivery, l journal.Decided) {
	r := ls.byRun[l.RunID]
	if r == nil {
		return
	}
	switch {
	case d.drops(r.job) && l.Status == job.StatusPending && r.retry && r.status == job.StatusQueued && ls.stale.outdatedBy(r) != nil:
		fail("attempt %d of run %s of %s is triggered, though run %s of a later fire has succeeded", l.Attempt, r.id, r.job, ls.stale.outdatedBy(r).id)
	case !strings.Contains(l.Reason, "of a later fire has succeeded"):
	case l.Status != job.StatusCancelled || !d.drops(r.job) || !slices.ContainsFunc(ls.stale.all, func(later *life) bool {
		return later.job == r.job && later.fire > r.fire && strings.Contains(l.Reason, reason.StaleRetry.With(later.id))
	}):
		fail("run %s of %s is %s (%s), but no such run has succeeded", r.id, r.job, l.Status, l.Reason)
	default:
		ls.stale.dropped++
	}
}

// checkNoneStale sees that no stale attempt is waited for by an owner that has had room for
// all that it has heard of.
func (ls *lives) checkNoneStale(d delivery) {
	if len(d.m.Events.ends)+len(d.m.runs.wakes) > 0 {
		return
	}
	for _, r := range ls.byRun {
		if r.status == job.StatusQueued && r.retry && d.drops(r.job) && ls.stale.outdatedBy(r) != nil {
			fail("run %s of %s waits for attempt %d, though run %s of a later fire has succeeded", r.id, r.job, r.attempt, ls.stale.outdatedBy(r).id)
		}
	}
}

func TestRandomHistoriesDropStaleRetries(t *testing.T) {
	dropped := 0
	worlds := playedWorlds(t)
	for _, w := range worlds {
		dropped += w.lives.stale.dropped
	}
	if dropped < len(worlds)/3 {
		t.Errorf("only %d runs ended because a later one had succeeded", dropped)
	}
	t.Logf("%d runs", dropped)
}
