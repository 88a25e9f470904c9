package shard

import (
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// book is what is known of a job's runs when a ping comes.
type book struct {
	job.WatchRule
	job   job.Name
	open  []*watchedRun // expected, or begun; in the order in which they were decided
	ended []keyedRun    // that have ended

	// fire is the newest fire for which the ping does not come too early, if there is one.
	known    bool
	fire     job.Fire
	version  int32  // of the job, that the fire belongs to
	excluded string // why the fire was skipped; "": it was not
	decided  bool   // it is no longer to come
	followed bool   // a later one is decided
	silent   int64  // the newest fire whose run has ended without a ping; 0: there is none
}

// match is which run a ping tells of.
type match struct {
	run  *watchedRun // nil: one of kind
	kind matchKind
	of   attempt // if it is late or again
	why  string
}

type matchKind int

const (
	own   matchKind = iota // a run of its own: no fire asked for it
	waits                  // that of the book's fire, which is to come
	late                   // one that had its outcome before
	again                  // the same, and a ping told of that
)

// match returns which run a ping tells of: by its key, by the order of runs that have begun, or by the fire that is
// the newest for it. The newest, because with the oldest one run that is not done would move all later pings to the
// fire before theirs, and nobody would notice.
func (k *book) match(p ping) match {
	for _, a := range k.open {
		if p.Key != "" && a.told.Key == p.Key {
			return match{run: a}
		}
	}
	for _, a := range k.ended {
		if p.Key == a.key {
			return match{kind: again, of: a.attempt, why: reason.PingAgain.String()}
		}
	}
	if a, several := k.firstBegun(p); a != nil {
		if several {
			return match{run: a, why: reason.PairedByOrder.String()}
		}
		return match{run: a}
	}
	if k.known && !k.decided {
		return match{kind: waits, why: reason.Unasked.String()}
	}
	if a := k.newestExpected(p); a != nil {
		return match{run: a}
	}
	inTime := k.known && p.begun() <= k.fire.At+k.Grace
	switch {
	case !k.known:
		return match{why: reason.Unasked.String()}
	case k.openOf(k.fire) != nil:
		if a := k.openOf(k.fire); p.Kind == bus.PingStart && p.Key == a.told.Key {
			return match{run: a} // it has begun again
		}
		return match{why: reason.Unasked.String()} // beside that one
	case k.excluded != "":
		return match{why: k.excluded}
	case k.silent == k.fire.At || k.followed:
		if inTime {
			return match{kind: late, of: k.run(), why: reason.ToldLate.String()}
		}
		return match{kind: late, of: k.run(), why: reason.CameLate.String()}
	case inTime:
		return match{kind: again, of: k.run(), why: reason.PingAgain.String()}
	}
	return match{why: reason.Unasked.String()}
}

// run returns the run of the book's fire.
func (k *book) run() attempt {
	return attempt{runID: job.FireRunID(k.job, k.fire.At, job.CauseSchedule), version: k.version, number: 1, cause: job.CauseSchedule, fireTime: k.fire.At}
}

// openOf returns the run of a fire, nil if it has ended.
func (k *book) openOf(fire job.Fire) *watchedRun {
	for _, a := range k.open {
		if a.cause.Scheduled() && a.fireTime == fire.At {
			return a
		}
	}
	return nil
}

// firstBegun returns which of the runs without a key that have begun is the one that an end without a key tells of,
// and whether there are several.
func (k *book) firstBegun(p ping) (first *watchedRun, several bool) {
	if p.Key != "" || p.Kind != bus.PingEnd {
		return nil, false
	}
	for _, a := range k.open {
		if a.told.Key != "" || !a.begun() || a.told.StartedAt.UnixMilli() > p.at {
			continue
		}
		several = first != nil
		if first == nil || a.told.StartedAt.Before(first.told.StartedAt) {
			first = a
		}
	}
	return first, several
}

// newestExpected returns the newest of the expected runs whose fire suits the ping: the newest fire there is, or an
// earlier one whose time is not over.
func (k *book) newestExpected(p ping) (found *watchedRun) {
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
