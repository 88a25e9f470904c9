package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Asker asks instances without waiting for their answers, which all come on one channel:
// with thousands of questions a second, waking somebody up for each answer costs more
// than all the rest. One goroutine uses it.
type Asker struct {
	nc     *nats.Conn
	sub    *nats.Subscription
	inbox  chan *nats.Msg
	prefix string // of the subjects of answers
	asked  uint64
}

// NewAsker returns an asker for at most room open questions at a time: answers beyond
// that are lost. The caller closes it.
func (c *Conn) NewAsker(room int) (*Asker, error) {
	a := &Asker{nc: c.NC, inbox: make(chan *nats.Msg, room), prefix: c.NC.NewInbox() + "."}
	var err error
	if a.sub, err = a.nc.ChanSubscribe(a.prefix+"*", a.inbox); err != nil {
		return nil, fmt.Errorf("subscribe to answers of instances: %w", Unavailable(err))
	}
	return a, nil
}

// Close ends the asker: no more answers come.
func (a *Asker) Close() { _ = a.sub.Unsubscribe() } // fails only when the connection is closed

// Ask sends a request to one instance, as [Conn.AskInstance] does. It returns the number
// of the question, never the same twice. There may be no answer: who asks has to give up
// some time.
func (a *Asker) Ask(to bus.Address, verb string, header nats.Header, body []byte) (question uint64, err error) {
	a.asked++
	m := bus.NewRequest(to, verb, header, body)
	m.Reply = a.prefix + strconv.FormatUint(a.asked, 36)
	if err := a.nc.PublishMsg(m); err != nil {
		return 0, fmt.Errorf("%w: send %q to instance %s: %w", job.ErrUnavailable, verb, to, err)
	}
	return a.asked, nil
}

// Inbox returns the channel on which answers arrive, each to be given to [Asker.Answer].
func (a *Asker) Inbox() <-chan *nats.Msg { return a.inbox }

// Answer returns which question m answers, and how. The error is [bus.ErrNobodyThere] when the
// instance is gone, and what it refused otherwise.
func (a *Asker) Answer(m *nats.Msg) (question uint64, reply *fleet.InstanceReply, err error) {
	number, ours := strings.CutPrefix(m.Subject, a.prefix)
	question, err = strconv.ParseUint(number, 36, 64)
	if err != nil || !ours {
		return 0, nil, &job.InvalidError{Field: "subject", Reason: fmt.Sprintf("%q answers no question", m.Subject)}
	}
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return question, nil, bus.ErrNobodyThere
	}
	reply, err = bus.DecodeInstanceReply(m)
	return question, reply, err
}

// Ask sends a request and reads the answer into value. The error is of one of
// package job's kinds: ErrUnavailable when nobody listens or no answer came in
// time, in which case it is not known whether the request had its effect.
func (c *Conn) Ask(ctx context.Context, subject string, request, value any, timeout time.Duration) error {
	return c.AskWith(ctx, subject, nil, request, value, timeout)
}

// AskWith is Ask with a header.
func (c *Conn) AskWith(ctx context.Context, subject string, header nats.Header, request, value any, timeout time.Duration) error {
	data, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request on %s: %w", subject, err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, err := c.NC.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Header: header, Data: data})
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: nobody answers on %s", job.ErrUnavailable, subject)
	}
	if err != nil {
		return fmt.Errorf("%w: no answer on %s: %w", job.ErrUnavailable, subject, err)
	}
	return bus.DecodeReply(m, subject, value)
}

// AskInstance sends a request to one instance: a message with the given header, which
// becomes part of it, and body. The error is [bus.ErrNobodyThere] at once when the instance is
// gone, another job.ErrUnavailable when no answer came in time, so that nobody knows
// whether it was heard, and what the instance refused otherwise.
func (c *Conn) AskInstance(ctx context.Context, to bus.Address, verb string, header nats.Header, body []byte, timeout time.Duration) (*fleet.InstanceReply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, err := c.NC.RequestMsgWithContext(ctx, bus.NewRequest(to, verb, header, body))
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, fmt.Errorf("%w at instance %s", bus.ErrNobodyThere, to)
	case err != nil:
		return nil, fmt.Errorf("%w: no answer to %q from instance %s: %w", job.ErrUnavailable, verb, to, err)
	}
	reply, err := bus.DecodeInstanceReply(m)
	if err != nil {
		return nil, fmt.Errorf("send %q to instance %s: %w", verb, to, err)
	}
	return reply, nil
}
