package jet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job"
)

// How long ConsumerInfo rests before it asks again.
const (
	infoRestMin = 25 * time.Millisecond
	infoRestMax = 250 * time.Millisecond
)

// ConsumerInfo returns how a consumer is, as its leader knows. A NATS server that is starting answers
// for a consumer with replicas before it has its state: it names no leader, and its numbers are zero.
// ConsumerInfo asks again then, for at most 2 s. Errors: [jetstream.ErrConsumerNotFound],
// job.ErrUnavailable.
func (c *Conn) ConsumerInfo(ctx context.Context, stream, consumer string) (*jetstream.ConsumerInfo, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(c.wait, BatchTimeout), errors.New("the NATS server that answers does not know its leader"))
	defer cancel()
	rest := time.NewTimer(0)
	defer rest.Stop()
	for wait := infoRestMin; ; wait = min(2*wait, infoRestMax) {
		cons, err := c.JS.Consumer(ctx, stream, consumer) // which asks for its state
		if err != nil {
			return nil, fmt.Errorf("look up consumer %s on %s: %w", consumer, stream, Unavailable(err))
		}
		if info := cons.CachedInfo(); info.Config.Replicas <= 1 || info.Cluster != nil && info.Cluster.Leader != "" {
			return info, nil
		}
		rest.Reset(wait)
		select {
		case <-rest.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: look up consumer %s on %s: %w", job.ErrUnavailable, consumer, stream, context.Cause(ctx))
		}
	}
}
