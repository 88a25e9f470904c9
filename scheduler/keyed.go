package scheduler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

const (
	// maxLookUps is how many keys of a shard are looked up at once.
	maxLookUps = 64
	// lookUpWithin is how long a look-up may take. It is less than how long a machine remembers what it has stored.
	lookUpWithin = 5 * time.Second
	// storesAtOnce is how many keys of a shard are stored at once.
	storesAtOnce = 16
)

// keyedRequests are requests with keys, which are looked up before the machine gets them.
type keyedRequests struct {
	requests *requests
	lookUps  errgroup.Group
}

// lookUp looks the key of a request up, and does something with it on the lane.
func (k *keyedRequests) lookUp(ctx context.Context, m *nats.Msg, r *bus.TriggerRequest, do func(*laneShard, shard.KeyLookup)) {
	q := k.requests
	if !k.lookUps.TryGo(func() error {
		look, err := q.lookUp(ctx, r)
		if err != nil {
			q.refuse(m, err)
			return nil
		}
		q.onLane(ctx, m, func(sh *laneShard) { do(sh, look) })
		return nil
	}) {
		q.refuse(m, fmt.Errorf("%w: shard %d looks %d keys up already", job.ErrUnavailable, q.shard, maxLookUps))
	}
}

// lookUp reads what the bucket KEY has for the key of a request.
func (o *ownership) lookUp(ctx context.Context, r *bus.TriggerRequest) (look shard.KeyLookup, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	look.Request = journal.KeyOf(r)
	keys := cluster.RunKeysOf(o.s.conn)
	if look.Stored, err = keys.Get(ctx, look.Request.Key); err != nil {
		return look, err
	}
	if look.Stored != nil && !look.Stored.Until.After(o.s.clock.wallOf(time.Now())) {
		look.Stored = nil
	}
	if look.Stored == nil {
		look.NoRoom = keys.CheckRoom(ctx, r.Job.Group())
	}
	return look, nil
}

// behind is a request with a key that another request has, which is not committed yet.
type behind struct {
	m    *nats.Msg
	r    bus.TriggerRequest
	look shard.KeyLookup
}

// submitKeyed gives a request with a key to the machine. The asker hears when the run for the key is committed.
func (sh *laneShard) submitKeyed(m *nats.Msg, r bus.TriggerRequest, look shard.KeyLookup) {
	done, other, err := sh.machine.Requests.SubmitKeyed(r, look)
	if other != "" && err == nil {
		sh.behind[other] = append(sh.behind[other], behind{m, r, look})
		return
	}
	sh.await(m, r.RunID, done, err)
}

// findKeyed answers which run of a job stands for a key.
func (sh *laneShard) findKeyed(m *nats.Msg, name job.Name, look shard.KeyLookup) {
	id, ok := sh.machine.Keys.RunOf(look)
	if !ok {
		sh.refuse(m, fmt.Errorf("%w: %s", job.ErrNotFound, refusal.NoRunOfKey.With(name)))
		return
	}
	sh.respond(m, bus.KeyReply{RunID: id}, nil)
}

// goOn gives the machine the requests that have waited for another with their key, which is committed.
func (sh *laneShard) goOn(id job.RunID) {
	all := sh.behind[id]
	delete(sh.behind, id)
	for _, b := range all {
		sh.submitKeyed(b.m, b.r, b.look)
	}
}

// storeKeys has the bucket KEY take the keys that it is to have.
func (sh *laneShard) storeKeys() {
	if keys := sh.machine.Keys.Unstored(); len(keys) > 0 && !sh.keys.busy {
		sh.keys.submit(sh, keys)
	}
}

// putKeys stores keys. Those for which that does not work out are tried again a second later.
func (o *ownership) putKeys(ctx context.Context, keys []journal.KeyedRun) (done func(*laneShard)) {
	var mu sync.Mutex
	stored := map[job.RunID]bool{}
	var g errgroup.Group
	g.SetLimit(storesAtOnce)
	for i := range keys {
		g.Go(func() error {
			if err := cluster.RunKeysOf(o.s.conn).Put(ctx, &keys[i]); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			stored[keys[i].RunID] = true
			return nil
		})
	}
	err := g.Wait()
	if err != nil {
		o.s.log.inSteps.WarnContext(ctx, "keys of runs not stored yet", "shard", o.shard, "error", err)
	}
	o.post(ctx, func(sh *laneShard) { sh.machine.Keys.Stored(stored, err != nil) })
	if wait := (pause.Backoff{Least: time.Second, Most: time.Second, Jitter: true}); err != nil && wait.Wait(ctx) != nil {
		return nil
	}
	return (*laneShard).storeKeys
}
