package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// maxAsked bounds how many instances of a group are asked: those heard of last.
const maxAsked = 20000

// Ask sends a request to all instances of a group at once, and calls yield with each
// answer until yield returns false, all have answered, or wait is over. Who has been
// silent for up to [fleet.InstanceShown] is asked too: it may be there, and its heartbeats may
// not arrive. Refusals and instances that are gone are passed over. Having nobody to ask
// is no error; [job.ErrUnavailable] says that the instances are not known, or that ctx has
// ended.
func (is Instances) Ask(ctx context.Context, group, verb string, body []byte, wait time.Duration, yield func(*fleet.InstanceReply) bool) error {
	all, err := is.addresses(ctx, group)
	if err != nil || len(all) == 0 {
		return err
	}
	asker, err := is.conn.NewAsker(len(all))
	if err != nil {
		return err
	}
	defer asker.Close()
	for _, to := range all {
		if _, err := asker.Ask(to, verb, nil, body); err != nil {
			return err
		}
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	for range all {
		var m *nats.Msg
		select {
		case m = <-asker.Inbox():
		case <-over.C:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%w: await answers of group %s: %w", job.ErrUnavailable, group, context.Cause(ctx))
		}
		if _, reply, err := asker.Answer(m); err == nil && !yield(reply) {
			return nil
		}
	}
	return nil
}

// AskOwner is Ask of the owner of a job's shard, which first waits until it has heard of
// a revision of the job: who has just saved a version must not be answered by the one
// before it, or that there is no such job. Revision 0 waits for nothing.
func (ss Shards) AskOwner(ctx context.Context, name job.Name, verb string, revision uint64, request, value any, timeout time.Duration) error {
	var header nats.Header
	if revision > 0 {
		header = nats.Header{bus.HeaderJobsSeq: {strconv.FormatUint(revision, 10)}}
	}
	return ss.conn.AskWith(ctx, bus.SubjectCommand(name.Shard(ss.conn.cluster.Shards), verb), header, request, value, timeout)
}
