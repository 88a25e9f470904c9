package runs

import (
	"cmp"
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// setTimes sets when a run that somebody wishes is due, and by when it must have begun. The error is an
// *InvalidError that names the field of the wish.
func setTimes(r *bus.TriggerRequest, wish *api.RunRequest, now time.Time) error {
	switch {
	case !wish.At.IsZero() && wish.In != 0:
		return job.Invalid("in", "does not go with at: give one of them")
	case wish.In < 0:
		return job.Invalid("in", "must not be negative")
	case wish.In > job.Duration(bus.MaxAhead):
		return job.Invalid("in", "must be at most %s", job.Duration(bus.MaxAhead))
	case wish.In > 0:
		r.Due = now.Add(wish.In.Std()).Truncate(time.Millisecond)
	case !wish.At.IsZero():
		r.Due = wish.At.UTC().Truncate(time.Millisecond)
	}
	switch {
	case r.Due.IsZero():
	case r.Cause == job.CauseTest:
		return job.Invalid(cmp.Or(fieldOf(wish.In), "at"), "does not go with cause test: a test runs now")
	case r.Due.Before(now.Add(-bus.MaxOverdue)):
		return job.Invalid("at", "must be at most %s in the past", job.Duration(bus.MaxOverdue))
	case r.Due.After(now.Add(bus.MaxAhead)):
		return job.Invalid("at", "must be at most %s ahead", job.Duration(bus.MaxAhead))
	}
	if wish.Expires == "" {
		return nil
	}
	due := r.Due
	if due.Before(now) {
		due = now
	}
	return setExpiry(r, wish.Expires, due, now)
}

// fieldOf names the field of a duration that is given.
func fieldOf(in job.Duration) string {
	if in != 0 {
		return "in"
	}
	return ""
}

// setExpiry sets by when a run that is due then must have begun.
func setExpiry(r *bus.TriggerRequest, text string, due, now time.Time) error {
	if after, err := job.ParseDuration(text); err == nil {
		if after <= 0 {
			return job.Invalid("expires", "must be more than 0s")
		}
		r.Expires = due.Add(after).Truncate(time.Millisecond)
	} else if r.Expires, err = time.Parse(time.RFC3339, text); err != nil {
		return job.Invalid("expires", "%.40q must be a duration such as 1h, or an instant such as 2026-03-01T12:00:00Z", text)
	}
	r.Expires = r.Expires.UTC().Truncate(time.Millisecond)
	switch {
	case r.Cause == job.CauseTest:
		return job.Invalid("expires", "does not go with cause test: a test runs now")
	case !r.Expires.After(now):
		return job.Invalid("expires", "must lie in the future")
	case !r.Expires.After(due):
		return job.Invalid("expires", "must lie after the time at which the run is due")
	case r.Expires.After(due.Add(bus.MaxAhead)):
		return job.Invalid("expires", "must lie at most %s after the time at which the run is due", job.Duration(bus.MaxAhead))
	}
	return nil
}

// isLater reports whether the run that is asked for has to wait.
func isLater(r *bus.TriggerRequest) bool { return r.Due.After(r.RunID.Time()) }

// asItIs returns a run that its owner has accepted, now or when the same request came before: then with what
// has become of it since, if the history knows.
func (rs *Runs) asItIs(ctx context.Context, request *bus.TriggerRequest, reply *bus.TriggerReply) api.RunAccepted {
	if reply.Existed {
		if known, found, err := rs.acceptedBefore(ctx, reply.RunID); err == nil && found {
			known.Existed = true
			return withDue(known, request)
		}
		if reply.Status == "" { // only the key tells of it
			return withDue(api.RunAccepted{RunID: reply.RunID, Job: request.Job, Version: reply.Version, Status: statusEnded, Existed: true}, request)
		}
	}
	a := withDue(rs.accepted(ctx, request, reply), request)
	a.Existed = reply.Existed
	return a
}

// withDue adds when the run is due, if that was asked for.
func withDue(a api.RunAccepted, request *bus.TriggerRequest) api.RunAccepted {
	if a.RunID != request.RunID { // it has an id of its own, of the instant at which it is due
		a.Due = a.RunID.Time()
	}
	return a
}

// withoutWaiting has a filter select runs that wait for a later instant, or else leave them out unless it says
// until when. The error is an *InvalidError.
func withoutWaiting(f *logstore.RunFilter, waiting bool) error {
	now := time.Now().UTC()
	switch {
	case waiting && len(f.Statuses) > 0:
		return job.Invalid("status", "leaves no room for waiting: runs that wait are queued")
	case waiting && !f.Sort.Default():
		return job.Invalid("sort", "leaves no room for waiting: runs that wait are listed by fire time")
	case waiting:
		f.Statuses = []job.Status{job.StatusQueued}
		if f.From.Before(now) {
			f.From = now
		}
	case f.To.IsZero() && f.Sort.Default():
		f.To = now.Add(logstore.ClocksApart)
	case f.To.IsZero():
		f.To = now
	}
	return nil
}
