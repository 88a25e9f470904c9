package scheduler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// serveBackfill takes a request to run fires of the past, and answers once it is
// committed.
func (q *requests) serveBackfill(ctx context.Context, m *nats.Msg) {
	var r journal.BackfillRequest
	if !q.decode(m, &r, &r.Job) {
		return
	}
	q.onLane(ctx, m, func(sh *laneShard) {
		switch done, err := sh.machine.Backfills.Ask(r); {
		case err != nil:
			sh.refuse(m, err)
		case done != nil:
			sh.respond(m, done, nil)
		default:
			sh.awaitBackfill(m, r.Job, r.ID)
		}
	})
}

// cancelBackfill has no further run of a backfill begin, and answers once that is
// committed.
func (q *requests) cancelBackfill(ctx context.Context, m *nats.Msg) {
	var r journal.BackfillCancel
	if !q.decode(m, &r, &r.Job) {
		return
	}
	q.onLane(ctx, m, func(sh *laneShard) {
		if err := sh.machine.Backfills.Cancel(r.Job, r.ID, bus.CancelRequest{By: r.By, Reason: r.Reason}.Text()); err != nil {
			sh.refuse(m, err)
			return
		}
		sh.awaitBackfill(m, r.Job, r.ID)
	})
}

// listBackfills answers with the backfills of a job.
func (q *requests) listBackfills(ctx context.Context, m *nats.Msg) {
	var r journal.BackfillsRequest
	if !q.decode(m, &r, &r.Job) {
		return
	}
	q.onLane(ctx, m, func(sh *laneShard) {
		list, err := sh.machine.Backfills.List(r)
		sh.respond(m, journal.BackfillList{Backfills: list}, err)
	})
}

// decode reads a request about a job of the shard. It returns false when that is not
// what came, and has said so.
func (q *requests) decode(m *nats.Msg, into any, name *job.Name) bool {
	if err := json.Unmarshal(m.Data, into); err != nil {
		q.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request on %s cannot be read: %v", m.Subject, err)})
		return false
	}
	if name.Shard(q.s.conn.Cluster().Shards) != q.shard {
		q.refuse(m, &job.InvalidError{Field: "job", Reason: fmt.Sprintf("%q is not of shard %d", *name, q.shard)})
		return false
	}
	return true
}

// onLane has the lane do what a request asks of the machine, if it still has the shard.
func (q *requests) onLane(ctx context.Context, m *nats.Msg, do func(*laneShard)) {
	o := q.ownership
	if !o.lane.post(ctx, func() {
		if sh := o.lane.of[o]; sh != nil {
			do(sh)
		} else {
			o.refuse(m, o.gone())
		}
	}) {
		o.refuse(m, o.gone())
	}
}

func (sh *laneShard) awaitBackfill(m *nats.Msg, name job.Name, id string) {
	key := shard.BackfillID{Job: name, ID: id}
	sh.filling[key] = append(sh.filling[key], m)
}

// answerBackfills tells askers what has been committed for them.
func (sh *laneShard) answerBackfills(b *shard.Batch) {
	for _, key := range b.Backfills {
		state, err := sh.machine.Backfills.State(key)
		sh.filling[key].reply(sh.s, state, err)
		delete(sh.filling, key)
	}
}
