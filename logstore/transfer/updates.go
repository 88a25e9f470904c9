package transfer

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// updatesOf returns what leads to a row with such a timeline: what the bus has said about an attempt,
// or a piece of it. Of several ends the one that counts comes first.
func updatesOf(r *runlog.Run, timeline []runlog.Change) []logstore.Update {
	own := slices.DeleteFunc(slices.Clone(timeline), func(c runlog.Change) bool { return c.Attempt != r.Attempt })
	counts := slices.IndexFunc(own, func(c runlog.Change) bool { return c.Kind == runlog.KindFinished })
	if counts < 0 {
		counts = slices.IndexFunc(own, func(c runlog.Change) bool { return c.Kind == runlog.KindLate })
	}
	var updates []logstore.Update
	if counts >= 0 {
		updates = append(updates, endOf(r, &own[counts]))
	}
	for i := range own {
		if i != counts {
			updates = append(updates, updateOf(r, &own[i]))
		}
	}
	return updates
}

func updateOf(r *runlog.Run, c *runlog.Change) logstore.Update {
	u := logstore.Update{
		Kind: c.Kind, RunID: r.RunID, Job: r.Job, Version: r.Version, Attempt: r.Attempt, Piece: r.Piece, Total: r.Total, Cause: r.Cause,
		At: c.At, Status: c.Status, CommittedAt: r.CommittedAt, Instance: c.Instance, Delivery: c.Delivery,
	}
	switch c.Kind {
	case runlog.KindRecorded:
		u.Reason, u.By, u.Parent, u.Step, u.Wait, u.Hold, u.Until, u.Count = string(c.Detail), r.By, r.Parent, r.Step, r.Wait, r.Hold, r.Until, r.Count
	case runlog.KindHeld:
		u.Reason = string(c.Detail)
	case runlog.KindStarted:
		u.Reason, u.StartedAt = string(c.Detail), c.At
		if c.Delivery == r.Delivery {
			u.StartedAt, u.DeliveredAt = r.StartedAt, r.DeliveredAt
		}
	case runlog.KindProgress:
		u.StartedAt, u.DeliveredAt = r.StartedAt, r.DeliveredAt
		u.Progress, u.ProgressText = c.Progress, string(c.Detail)
	case runlog.KindFinished, runlog.KindLate:
		u.Kind, u.FinishedAt, u.Message = runlog.KindFinished, c.At, string(c.Detail)
	case runlog.KindMarked:
		u.Mark, u.By, u.Reason = c.Mark, c.By, string(c.Detail)
	case runlog.KindOnHold, runlog.KindResumed:
		u.By, u.Reason = c.By, string(c.Detail)
	}
	return u
}

// endOf returns the end of an attempt. The row has details of it that the timeline
// lacks.
func endOf(r *runlog.Run, c *runlog.Change) logstore.Update {
	u := updateOf(r, c)
	u.Instance, u.Delivery, u.StartedAt, u.DeliveredAt = r.Instance, r.Delivery, r.StartedAt, r.DeliveredAt
	u.Retry, u.ExitCode, u.Message, u.Result, u.LogLines = r.Retrying, r.ExitCode, string(r.Message), r.Result, r.LogLines
	return u
}
