package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// PullRequest asks a consumer for messages. It speaks the protocol itself: the client library's
// Consume can stall, both it and Fetch look the consumer up first, which executors are not
// permitted, and Fetch bounds the size of what comes only without a bound of its number.
type PullRequest struct {
	Batch     int           `json:"batch"`
	MaxBytes  int           `json:"max_bytes,omitempty"` // a message that is larger comes by itself
	NoWait    bool          `json:"no_wait,omitempty"`
	Expires   time.Duration `json:"expires,omitempty"`        // nanoseconds
	Heartbeat time.Duration `json:"idle_heartbeat,omitempty"` // how often the server says that it still has the request
}

// send sends the request. Messages come on inbox, to which the caller has subscribed. It must
// not be an inbox of the client's own requests: messages keep their subject, and the server
// would go on delivering to a request that was given up.
func (r PullRequest) send(nc *nats.Conn, stream, consumer, inbox string) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode pull request: %w", err)
	}
	return nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+stream+"."+consumer, inbox, body)
}

// pullStatus is what a message that a pull request has brought means.
type pullStatus int

const (
	delivered pullStatus = iota // a message of the stream
	waiting                     // nothing yet: the server still has the request, or the messages are on their way
	over                        // no more; or the request has lasted its time
	refused                     // the consumer was deleted, moved, or has too many requests; JetStream is away
)

// pullStatusOf returns what m means, and why a request was refused.
func pullStatusOf(m *nats.Msg) (pullStatus, error) {
	status := m.Header.Get("Status")
	if status == "" || len(m.Data) > 0 || m.Reply != "" {
		return delivered, nil
	}
	switch status {
	case "100":
		return waiting, nil
	case "404", "408":
		return over, nil
	case "503":
		return refused, errors.New("there is no such consumer, or JetStream is away")
	}
	why := m.Header.Get("Description")
	if why == fulfilled {
		return waiting, nil
	}
	return refused, errors.New(why)
}

// fulfilled is how the server describes that it has handed out as many messages as a request asks for, although
// the request allows more bytes. It usually comes after all of these messages, when the next request is under way.
const fulfilled = "Batch Completed"

// tooLarge is how the server describes that the next message has more bytes than a request has left.
const tooLarge = "Message Size Exceeds MaxBytes"

// pullGrace is how much longer than a request lasts its end is awaited.
const pullGrace = 5 * time.Second

// Pull returns the messages that a consumer hands out for one request, in order. Having none
// is no error. The error is job.ErrUnavailable.
func (c *Conn) Pull(ctx context.Context, stream, consumer string, r PullRequest) ([]*nats.Msg, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Expires+pullGrace, errors.New("the pull request found no end"))
	defer cancel()
	inbox := c.NC.NewInbox()
	in, sub, err := listen(c.NC, inbox, r.Batch)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := r.send(c.NC, stream, consumer, inbox); err != nil {
		return nil, fmt.Errorf("pull from %s on %s: %w", consumer, stream, Unavailable(err))
	}
	var messages []*nats.Msg
	size := 0
	for handedOut := r.Batch; len(messages) < handedOut; {
		m, err := in.next(ctx)
		if err != nil && len(messages) > 0 {
			return messages, nil // what has come has come
		}
		if err != nil {
			return nil, fmt.Errorf("%w: pull from %s on %s: %w", job.ErrUnavailable, consumer, stream, err)
		}
		switch status, why := pullStatusOf(m); status {
		case delivered:
			messages = append(messages, m)
			if size += m.Size(); size == r.MaxBytes {
				handedOut = len(messages) // the server ends such a request without a message
			}
		case waiting:
		case over:
			handedOut = r.handedOut(m, len(messages))
		case refused: // mostly the portion is as large as it may be; else the next request will tell
			if handedOut = r.handedOut(m, len(messages)); handedOut == 0 {
				if why.Error() == tooLarge && r.MaxBytes > 0 {
					return c.Pull(ctx, stream, consumer, PullRequest{Batch: 1, NoWait: r.NoWait, Expires: r.Expires})
				}
				return nil, fmt.Errorf("%w: pull from %s on %s: %w", job.ErrUnavailable, consumer, stream, why)
			}
		}
	}
	return messages, nil
}

// handedOut returns how many messages to wait for after the server has ended the request with m,
// when so many have come. On a consumer with replicas, the end can overtake messages: each of
// them waits until the replicas confirm its delivery.
func (r PullRequest) handedOut(m *nats.Msg, come int) int {
	left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
	if err != nil {
		return come // it does not say
	}
	return min(max(come, r.Batch-left), r.Batch)
}
