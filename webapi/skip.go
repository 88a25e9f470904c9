package webapi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"carillon/bus"
	"carillon/job"
)

// skipAhead is how far ahead a fire must be for it to be called off: the owner of its
// shard has to hear of that first.
const skipAhead = time.Second

// SkipFire answers POST /jobs/{group}/{name}/skip.
func (h *handlers) SkipFire(ctx context.Context, r SkipFireRequestObject) (SkipFireResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entry, err := h.changeSkips(ctx, name, r.Body.FireTime, r.Body.Reason, func(v *job.Version, s job.Skip) error {
		if was := v.SkipOf(s.FireTime); was == nil {
			v.Skip(s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	item, err := h.jobItem(ctx, entry, shownFires, shownRuns)
	if err != nil {
		return nil, err
	}
	return SkipFire200JSONResponse{Body: item, Headers: SkipFire200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// UnskipFire answers POST /jobs/{group}/{name}/unskip.
func (h *handlers) UnskipFire(ctx context.Context, r UnskipFireRequestObject) (UnskipFireResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entry, err := h.changeSkips(ctx, name, r.Body.FireTime, r.Body.Reason, func(v *job.Version, s job.Skip) error {
		if was := v.SkipOf(s.FireTime); was != nil && was.RunID != "" {
			return fmt.Errorf("%w: the fire at %s ran early, as run %s; it would run twice", job.ErrConflict, s.FireTime.Format(time.RFC3339Nano), was.RunID)
		}
		v.TakeBack(s.FireTime)
		return nil
	})
	if err != nil {
		return nil, err
	}
	item, err := h.jobItem(ctx, entry, shownFires, shownRuns)
	if err != nil {
		return nil, err
	}
	return UnskipFire200JSONResponse{Body: item, Headers: UnskipFire200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// RunFireEarly answers POST /jobs/{group}/{name}/run-early. The fire is called off first:
// whatever breaks then, it does not run twice. Asked again, the same run is meant.
func (h *handlers) RunFireEarly(ctx context.Context, r RunFireEarlyRequestObject) (RunFireEarlyResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	fireTime := r.Body.FireTime.UTC().Truncate(time.Millisecond)
	id, again := job.NewRunID(time.Now()), false
	var was *job.Skip
	entry, err := h.changeSkips(ctx, name, fireTime, r.Body.Reason, func(v *job.Version, s job.Skip) error {
		if was = v.SkipOf(s.FireTime); was != nil && was.RunID != "" {
			id, again = was.RunID, true
			return nil
		}
		s.RunID = id
		v.Skip(s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if again {
		// The owner remembers what it was asked for a few minutes long, the history longer.
		known, found, err := h.acceptedBefore(ctx, id)
		if err != nil || found {
			return RunFireEarly202JSONResponse(known), err
		}
	}
	request := bus.TriggerRequest{RunID: id, Job: name, Cause: job.CauseManual, By: author(ctx), InsteadOf: fireTime}
	var reply bus.TriggerReply
	if err := h.ask(ctx, name, "trigger", entry.Revision, request, &reply); err != nil {
		if definite := !errors.Is(err, job.ErrUnavailable) && !errors.Is(err, job.ErrStale); definite && !again {
			_, undo := h.editJob(ctx, name, "it did not run early", "", func(v *job.Version) {
				switch s := v.SkipOf(fireTime); {
				case s == nil || s.RunID != id:
				case was != nil: // it was called off before, and stays so
					v.Skip(*was)
				default:
					v.TakeBack(fireTime)
				}
			})
			err = errors.Join(err, undo)
		}
		return nil, err
	}
	entryOfChange(ctx).Note = "run " + string(reply.RunID)
	return RunFireEarly202JSONResponse{RunID: reply.RunID, Job: name, Version: reply.Version, Status: reply.Status, Reason: reply.Reason}, nil
}

// acceptedBefore returns a run as it was accepted, if the history has it.
func (h *handlers) acceptedBefore(ctx context.Context, id job.RunID) (accepted RunAccepted, found bool, err error) {
	attempts, err := h.store.Run(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		return accepted, false, nil
	}
	if err != nil {
		return accepted, false, storeError(err)
	}
	newest := &attempts[0]
	return RunAccepted{RunID: id, Job: newest.Job, Version: newest.Version, Status: newest.RunStatus(), Reason: newest.Reason}, true, nil
}

// changeSkips changes which of a job's fires are called off: change is told of the one at
// an instant, which must be a fire of the job, and ahead.
func (h *handlers) changeSkips(ctx context.Context, name job.Name, fireTime time.Time, reason string, change func(*job.Version, job.Skip) error) (*bus.JobEntry, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	fireTime = fireTime.UTC().Truncate(time.Millisecond)
	if fireTime.Before(now.Add(skipAhead)) {
		return nil, invalid("fire_time", fmt.Sprintf("%s must be at least %s ahead", fireTime.Format(time.RFC3339Nano), skipAhead))
	}
	var refused error
	var before, after []job.Skip
	entry, err := h.editJob(ctx, name, skipNote(fireTime, reason), "", func(v *job.Version) {
		was := *v
		before = v.Skips
		if refused = v.CheckSkip(fireTime); refused == nil {
			refused = change(v, job.Skip{FireTime: fireTime, By: author(ctx), At: now, Reason: reason})
		}
		if refused == nil && len(v.Skips) > job.MaxSkips {
			refused = fmt.Errorf("%w: job %s has %d fires ahead that are called off, which is as many as are kept", job.ErrConflict, name, job.MaxSkips)
		}
		if refused != nil {
			*v = was
		}
		after = v.Skips
	})
	if err = errors.Join(err, refused); err != nil {
		return nil, err
	}
	return entry, describe(ctx, !reflect.DeepEqual(before, after), reason, map[string]any{"skips": before}, map[string]any{"skips": after})
}

func skipNote(fireTime time.Time, reason string) string {
	note := "the fire at " + fireTime.Format(time.RFC3339)
	if reason != "" {
		note += ": " + reason
	}
	return note
}
