package scheduler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// serveBackfill takes a request to run fires of the past, and answers once it is
// committed.
func (o *ownership) serveBackfill(ctx context.Context, m *nats.Msg) {
	var r bus.BackfillRequest
	if !o.decode(m, &r, &r.Job) {
		return
	}
	o.onLane(ctx, m, func() {
		switch done, err := o.machine.Backfills.Ask(r); {
		case err != nil:
			o.refuse(m, err)
		case done != nil:
			o.respond(m, done, nil)
		default:
			o.awaitBackfill(m, r.Job, r.ID)
		}
	})
}

// cancelBackfill has no further run of a backfill begin, and answers once that is
// committed.
func (o *ownership) cancelBackfill(ctx context.Context, m *nats.Msg) {
	var r bus.BackfillCancel
	if !o.decode(m, &r, &r.Job) {
		return
	}
	o.onLane(ctx, m, func() {
		if err := o.machine.Backfills.Cancel(r.Job, r.ID, bus.CancelRequest{By: r.By, Reason: r.Reason}.Text()); err != nil {
			o.refuse(m, err)
			return
		}
		o.awaitBackfill(m, r.Job, r.ID)
	})
}

// listBackfills answers with the backfills of a job.
func (o *ownership) listBackfills(ctx context.Context, m *nats.Msg) {
	var r bus.BackfillsRequest
	if !o.decode(m, &r, &r.Job) {
		return
	}
	o.onLane(ctx, m, func() {
		list, err := o.machine.Backfills.List(r)
		o.respond(m, bus.BackfillList{Backfills: list}, err)
	})
}

// decode reads a request about a job of the shard. It returns false when that is not
// what came, and has said so.
func (o *ownership) decode(m *nats.Msg, into any, name *job.Name) bool {
	if err := json.Unmarshal(m.Data, into); err != nil {
		o.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request on %s cannot be read: %v", m.Subject, err)})
		return false
	}
	if name.Shard(o.s.conn.Cluster().Shards) != o.shard {
		o.refuse(m, &job.InvalidError{Field: "job", Reason: fmt.Sprintf("%q is not of shard %d", *name, o.shard)})
		return false
	}
	return true
}

// onLane has the lane do what a request asks of the machine, if it still has it.
func (o *ownership) onLane(ctx context.Context, m *nats.Msg, do func()) {
	if !o.lane.post(ctx, func() {
		if !o.ready.Load() {
			o.refuse(m, o.gone())
			return
		}
		do()
	}) {
		o.refuse(m, o.gone())
	}
}

func (o *ownership) awaitBackfill(m *nats.Msg, name job.Name, id string) {
	key := shard.BackfillID{Job: name, ID: id}
	o.filling[key] = append(o.filling[key], m)
}

// answerBackfills tells askers what has been committed for them.
func (o *ownership) answerBackfills(b *shard.Batch) {
	for _, key := range b.Backfills {
		state, err := o.machine.Backfills.State(key)
		o.filling[key].reply(o.s, state, err)
		delete(o.filling, key)
	}
}

// leaveBackfills tells those who wait that the shard is lost.
func (o *ownership) leaveBackfills() {
	for key, w := range o.filling {
		w.reply(o.s, nil, fmt.Errorf("%w: shard %d has a new owner, and the outcome of the request for backfill %s is unknown; retry with the same id", job.ErrUnavailable, o.shard, key.ID))
	}
	clear(o.filling)
}
