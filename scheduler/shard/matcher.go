package shard

import (
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// matcher finds the run that a ping reports, from what is known of the job's runs.
type matcher struct {
	job.WatchRule
	job   job.Name
	open  []*watchedRun // expected or begun, in the order of their decisions
	ended []keyedRun    // ended runs with keys

	// fire is the newest fire for which the ping is not too early, if known.
	known      bool
	fire       job.Fire
	version    int32  // of the job, that the fire belongs to
	excluded   string // why the fire was skipped; "": it was not
	decided    bool   // whether it is decided
	followed   bool   // whether a later one is
	unreported int64  // the newest fire whose run has ended without a ping; 0: there is none
}

// match is the run that a ping reports.
type match struct {
	run  *watchedRun // nil: one of kind
	kind matchKind
	of   attempt // if it is late or again
	why  string
}

type matchKind int

const (
	matchOwn   matchKind = iota // a run of its own, which no fire asked for
	matchEarly                  // that of the newest fire, which is not decided yet
	matchLate                   // one that had its outcome before
	matchAgain                  // the same, and a ping had reported its end
)

// match returns the run that a ping reports: the one with its key, the first that has begun if neither has a key, or that
// of the newest fire for which the ping is not too early. With the oldest fire in its place, one run that is not done
// would shift all later pings to the fire before theirs, and nobody would notice.
func (k *matcher) match(p ping) match {
	for _, a := range k.open {
		if p.Key != "" && a.reported.Key == p.Key {
			return match{run: a}
		}
	}
	for _, a := range k.ended {
		if p.Key == a.key {
			return match{kind: matchAgain, of: a.attempt, why: reason.PingAgain.String()}
		}
	}
	if a, several := k.firstBegun(p); a != nil {
		if several {
			return match{run: a, why: reason.PairedByOrder.String()}
		}
		return match{run: a}
	}
	if k.known && !k.decided {
		return match{kind: matchEarly, why: reason.Unasked.String()}
	}
	if a := k.newestExpected(p); a != nil {
		return match{run: a}
	}
	inTime := k.known && p.begun() <= k.fire.At+k.Grace
	switch {
	case !k.known:
		return match{why: reason.Unasked.String()}
	case k.openOf(k.fire) != nil:
		if a := k.openOf(k.fire); p.Kind == bus.PingStart && p.Key == a.reported.Key {
			return match{run: a} // a second start
		}
		return match{why: reason.Unasked.String()} // it runs beside that one
	case k.excluded != "":
		return match{why: k.excluded}
	case k.unreported == k.fire.At || k.followed:
		if inTime {
			return match{kind: matchLate, of: k.run(), why: reason.ToldLate.String()}
		}
		return match{kind: matchLate, of: k.run(), why: reason.CameLate.String()}
	case inTime:
		return match{kind: matchAgain, of: k.run(), why: reason.PingAgain.String()}
	}
	return match{why: reason.Unasked.String()}
}

// run returns the run of the newest fire.
func (k *matcher) run() attempt {
	return attempt{runID: job.FireRunID(k.job, k.fire.At, job.CauseSchedule), version: k.version, number: 1, cause: job.CauseSchedule, fireTime: k.fire.At}
}

// openOf returns the run of a fire, nil if it has ended.
func (k *matcher) openOf(fire job.Fire) *watchedRun {
	for _, a := range k.open {
		if a.cause.Scheduled() && a.fireTime == fire.At {
			return a
		}
	}
	return nil
}

// firstBegun returns the run that began first, of those without a key, for an end without a key. several reports whether
// there are others.
func (k *matcher) firstBegun(p ping) (first *watchedRun, several bool) {
	if p.Key != "" || p.Kind != bus.PingEnd {
		return nil, false
	}
	for _, a := range k.open {
		if a.reported.Key != "" || !a.begun() || a.reported.StartedAt.UnixMilli() > p.at {
			continue
		}
		several = first != nil
		if first == nil || a.reported.StartedAt.Before(first.reported.StartedAt) {
			first = a
		}
	}
	return first, several
}

// newestExpected returns the newest expected run for which the ping is not too early. If later fires are decided, the
// ping must also be within the grace of the run.
func (k *matcher) newestExpected(p ping) (found *watchedRun) {
	for _, a := range k.open {
		if !a.begun() && a.fireTime-k.Early <= p.begun() && (found == nil || a.fireTime >= found.fireTime) {
			found = a
		}
	}
	if found == nil || k.known && found.fireTime < k.fire.At && p.begun() > found.fireTime+k.Grace {
		return nil
	}
	return found
}
