package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// Pings are what is told of runs that are done elsewhere.
type Pings struct{ conn *Conn }

// PingsOf returns the pings of a cluster.
func PingsOf(conn *Conn) Pings { return Pings{conn} }

// Put stores a ping. Of pings of a job with the same repeat within the window of duplicates of JetStream,
// one is stored; an empty one is the ping's id. When Put returns nil, the owner of the job's shard will hear
// of the ping, even if there is no owner now. The output of a ping is left out if NATS takes no message as
// large. Errors: an *InvalidError, job.ErrUnavailable, others when there is no room.
func (ps Pings) Put(ctx context.Context, p *bus.Ping, repeat string) error {
	err := ps.put(ctx, p, repeat)
	if errors.Is(err, nats.ErrMaxPayload) && p.Output != "" {
		short := *p
		short.Output, short.OutputCut = "", p.OutputCut+len(p.Output)
		return ps.put(ctx, &short, repeat)
	}
	return err
}

func (ps Pings) put(ctx context.Context, p *bus.Ping, repeat string) error {
	m, err := ps.conn.tokens.ServerPing(p, cmp.Or(repeat, p.ID), ps.conn.cluster.Shards, time.Now())
	if err != nil {
		return err
	}
	if _, err := ps.conn.JS.PublishMsg(ctx, m); err != nil {
		return fmt.Errorf("store ping of job %s: %w", p.Job, jet.Unavailable(err))
	}
	return nil
}

// Heard returns jobs that have been pinged: all in the shards of the given ones, as far as the owners of these know.
// The error is job.ErrUnavailable.
func (ps Pings) Heard(ctx context.Context, near []job.Name) (heard []job.Name, err error) {
	shards := map[int]bool{}
	for _, name := range near {
		shards[name.Shard(ps.conn.cluster.Shards)] = true
	}
	for shard := range shards {
		err := ps.conn.Scan(ctx, ps.conn.TrigOf(shard), bus.SubjectDeferred(shard), func(m *jet.Stored) bool {
			if d, err := journal.DecodeDeferred(m.Header, m.Data); err == nil && d.Kind == journal.DeferredHeard {
				heard = append(heard, d.Job)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return heard, nil
}
