package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// killWait is how long the instances of a group have to say whether they run something.
const killWait = time.Second

// unacknowledgedFor is how long after its end is stored an attempt's trigger may be there. Then it is
// delivered again, and whoever judges that finds the end. It includes what clocks may differ.
const unacknowledgedFor = 2 * time.Minute

// findTries is how often a run's triggers are looked for while ends of runs come in.
const findTries = 5

// condemnWait is how long the owner has to store that a run is cancelled.
const condemnWait = 5 * time.Second

// cancelRun ends a run. First it is stored that any end of it counts as cancelled. Then all
// instances of the group hear of it: the one that runs it ends it and reports so, and any that
// gets its trigger later reports it as cancelled without running it. If none runs it, its end is
// recorded here, and its trigger deleted. In this order a crash at any point leaves a run that
// still ends.
func (o *ownership) cancelRun(ctx context.Context, r bus.CancelRequest) (*bus.CancelReply, error) {
	if r.Job.Shard(o.s.conn.Cluster().Shards) != o.shard {
		return nil, &job.InvalidError{Field: "job", Reason: fmt.Sprintf("%q is not of shard %d", r.Job, o.shard)}
	}
	found, known, err := o.findTriggers(ctx, r)
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		if err = o.condemn(ctx, r, found, known); !errors.Is(err, errOvertaken) || tries == findTries {
			break
		}
		if found, known, err = o.findTriggers(ctx, r); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	waiting, err := o.kill(ctx, r, found)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if !slices.Contains(waiting, f) { // should its executor die now, nobody is to begin it again
			if err := o.noteCancelled(ctx, f.Trigger, r.Text()); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range waiting {
		if err := o.withdraw(ctx, r, w); err != nil {
			return nil, err
		}
	}
	if len(waiting) < len(found) {
		return &bus.CancelReply{RunID: r.RunID, Found: job.StatusRunning}, nil
	}
	return &bus.CancelReply{RunID: r.RunID, Found: job.StatusPending}, nil
}

// endOverdue ends an attempt that nobody has ended in time. Its end is stored first: what its
// executor reports later comes after it. Then who has it is told, and its trigger deleted.
func (o *ownership) endOverdue(ctx context.Context, r bus.CancelRequest) (*bus.CancelReply, error) {
	switch {
	case r.Status != job.StatusTimedOut:
		return nil, &job.InvalidError{Field: "status", Reason: fmt.Sprintf("%q must be timed_out, or absent", r.Status)}
	case r.Job.Shard(o.s.conn.Cluster().Shards) != o.shard:
		return nil, &job.InvalidError{Field: "job", Reason: fmt.Sprintf("%q is not of shard %d", r.Job, o.shard)}
	}
	found, _, err := o.findTriggers(ctx, r)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f cluster.StoredTrigger) bool { return f.Attempt != r.Attempt })
	for _, f := range found {
		if err := o.s.conn.Events().EndRun(ctx, f.Trigger, r.Status, r.Reason); err != nil {
			return nil, err
		}
	}
	if len(found) > 0 {
		if _, err := o.kill(ctx, r, found); err != nil {
			return nil, err
		}
	}
	for _, f := range found {
		if f.Seq == 0 {
			continue
		}
		if err := o.s.conn.Remove(ctx, o.s.conn.TrigOf(o.shard), f.Seq); err != nil {
			return nil, err
		}
	}
	return &bus.CancelReply{RunID: r.RunID, Found: job.StatusRunning}, nil
}

// errOvertaken is that the machine was told of events after those among which no end was found.
var errOvertaken = fmt.Errorf("%w: ends of runs came in while one was cancelled; retry", job.ErrUnavailable)

// condemn stores that the end of each attempt, if it is not a piece, counts as cancelled. No end of them is
// stored up to sequence known of EVT. The error is errOvertaken if the machine may have passed over one.
func (o *ownership) condemn(ctx context.Context, r bus.CancelRequest, found []cluster.StoredTrigger, known uint64) error {
	for _, f := range found {
		done := make(chan struct{})
		condemned, owned := askShard(ctx, o, func(sh *laneShard) (condemned struct{ is, overtaken bool }) {
			if condemned.overtaken = f.Seq != 0 && sh.machine.Events.Seq() > known; condemned.overtaken {
				return condemned
			}
			if condemned.is = sh.machine.Cancels.Condemn(f.Trigger, r.Text()); condemned.is {
				sh.condemning[r.RunID] = append(sh.condemning[r.RunID], done)
			}
			return condemned
		})
		switch {
		case !owned:
			return o.gone()
		case condemned.overtaken:
			return errOvertaken
		case !condemned.is:
			continue
		}
		limited, cancel := context.WithTimeout(ctx, condemnWait)
		select {
		case <-done:
			cancel()
		case <-limited.Done():
			cancel()
			return fmt.Errorf("%w: it was not stored within %s that run %s is cancelled; retry", job.ErrUnavailable, condemnWait, r.RunID)
		}
	}
	return nil
}

// noteCancelled notes for whoever judges the attempt that it was cancelled while an executor had it.
func (o *ownership) noteCancelled(ctx context.Context, t *bus.Trigger, why string) error {
	for {
		d, revision, err := o.s.conn.Attempts().Deaths(ctx, t)
		if err != nil {
			return err
		}
		d.Cancelled = why
		if _, err = o.s.conn.Attempts().PutDeaths(ctx, t, d, revision); !errors.Is(err, job.ErrConflict) {
			return err
		}
	}
}

// withdraw records the end of a run, or a piece of one, that nobody has begun, and
// takes its trigger off the bus.
func (o *ownership) withdraw(ctx context.Context, r bus.CancelRequest, w cluster.StoredTrigger) error {
	if err := o.s.conn.Events().EndRun(ctx, w.Trigger, job.StatusCancelled, r.Text()); err != nil || w.Seq == 0 {
		return err
	}
	return o.s.conn.Remove(ctx, o.s.conn.TrigOf(o.shard), w.Seq)
}

// cancelWaiting ends a run that is queued or waits for its next attempt, and answers m
// once that is committed. It returns false when the run does not wait.
func (o *ownership) cancelWaiting(ctx context.Context, m *nats.Msg, r bus.CancelRequest) bool {
	found, _ := askShard(ctx, o, func(sh *laneShard) bool {
		found := sh.machine.Cancels.Add(r.RunID, r.Text(), r.Force)
		if found {
			sh.cancelling[r.RunID] = append(sh.cancelling[r.RunID], m)
		}
		return found
	})
	return found
}

// findTriggers returns the triggers of a live run: one, or those of its pieces that have no end on EVT up to
// sequence known. They are those of a leader that has the shard's cursor: one that was deposed may lack
// a trigger, and then an executor would begin what counts as cancelled.
// One in a pack gets a message of its own first.
func (o *ownership) findTriggers(ctx context.Context, r bus.CancelRequest) (found []cluster.StoredTrigger, known uint64, err error) {
	var unread error
	for again := true; again; {
		found, again = nil, false
		unread, err = o.s.conn.Bulk().Whereabouts().Triggers(ctx, o.shard, r.Job.Group(), jet.Reading{Known: o.cursor.Load()}, func(t cluster.StoredTrigger) bool {
			if t.RunID == r.RunID {
				found = append(found, t)
			}
			return len(found) == 0 || found[0].Total > 0
		})
		if err == nil && len(found) > 0 && found[0].Packed { // it is no death that nobody has it then
			again = true
			err = o.s.conn.Attempts().TakeApart(ctx, bus.Position{Stream: o.s.conn.TrigOf(o.shard), Seq: found[0].Seq}, true)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	if found, known, err = withoutEnds(ctx, o.s.conn, found); err != nil || len(found) > 0 {
		return found, known, err
	}
	// What the machine counts as alive can be ended, whatever became of its triggers.
	type aliveRun struct {
		out   []*bus.Trigger
		alive bool
	}
	run, owned := askShard(ctx, o, func(sh *laneShard) aliveRun {
		out, alive := sh.machine.Alive(r.RunID, r.Job)
		return aliveRun{out, alive}
	})
	switch {
	case !owned:
		return nil, 0, fmt.Errorf("%w: shard %d did not answer whether run %s is alive; retry", job.ErrUnavailable, o.shard, r.RunID)
	case run.alive:
		for _, t := range run.out {
			found = append(found, cluster.StoredTrigger{Trigger: t}) // its trigger has gone
		}
		return found, known, nil
	case unread != nil:
		return nil, 0, unread
	default:
		return nil, 0, fmt.Errorf("%w: %s", job.ErrNotFound, refusal.RunNotAlive.With(r.RunID, r.Job))
	}
}

// withoutEnds returns those of the triggers whose attempts, or pieces, have no end on EVT up to sequence
// known. An executor stores an end before it acknowledges the trigger. Of a run that nobody watches, the
// machine knows of none.
func withoutEnds(ctx context.Context, conn *cluster.Conn, found []cluster.StoredTrigger) (open []cluster.StoredTrigger, known uint64, err error) {
	if len(found) == 0 {
		return nil, 0, nil
	}
	triggers := make([]*bus.Trigger, len(found))
	for i, t := range found {
		triggers[i] = t.Trigger
	}
	ends, err := conn.Bulk().Whereabouts().AllEnds(ctx, triggers, time.Now().Add(-unacknowledgedFor))
	return slices.DeleteFunc(found, func(t cluster.StoredTrigger) bool { return ends.Ended[t.Ref()] }), ends.Known, err
}

// kill tells the group's instances that the run is to end, and returns those of its
// triggers that none of them has begun.
func (o *ownership) kill(ctx context.Context, r bus.CancelRequest, found []cluster.StoredTrigger) (waiting []cluster.StoredTrigger, err error) {
	waiting = found
	request, err := json.Marshal(bus.KillRequest{RunID: r.RunID, By: r.By, Reason: r.Reason})
	if err != nil {
		return nil, fmt.Errorf("encode kill of run %s: %w", r.RunID, err)
	}
	err = o.s.conn.Instances().Ask(ctx, r.Job.Group(), bus.VerbKill, request, killWait, func(reply *fleet.InstanceReply) bool {
		if reply.Answer == fleet.AnswerAccepted {
			waiting = slices.DeleteFunc(slices.Clone(waiting), func(w cluster.StoredTrigger) bool {
				return w.Total == 0 || slices.Contains(reply.Pieces, w.Index)
			})
		}
		return true // each is to hear of it, and to refuse what may yet come to it
	})
	return waiting, err
}
