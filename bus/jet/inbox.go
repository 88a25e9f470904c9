package jet

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// inboxRoom is for what the server says beside the messages that were asked for.
const inboxRoom = 16

// inbox takes what comes for one request. The client library's SubscribeSync makes room for
// 65,536 messages, which is half a megabyte for each request, mostly for one message.
type inbox chan *nats.Msg

// listen subscribes to a subject on which at most n messages come for one request.
func listen(nc *nats.Conn, subject string, n int) (inbox, *nats.Subscription, error) {
	in := make(inbox, n+inboxRoom)
	sub, err := nc.ChanSubscribe(subject, in)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: subscribe: %w", job.ErrUnavailable, err)
	}
	return in, sub, nil
}

// next returns the next message. What has come is returned even when ctx is done.
func (in inbox) next(ctx context.Context) (*nats.Msg, error) {
	select {
	case m := <-in:
		return m, nil
	default:
	}
	select {
	case m := <-in:
		return m, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
