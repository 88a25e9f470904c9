package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/job"
	"carillon/job/fleet"
)

// maxAsked bounds how many instances of a group are asked: those heard of last.
const maxAsked = 20000

// AskGroup sends a request to all instances of a group at once, and calls yield with each
// answer until yield returns false, all have answered, or wait is over. Who has been
// silent for up to [InstanceShown] is asked too: it may be there, and its heartbeats may
// not arrive. Refusals and instances that are gone are passed over. Having nobody to ask
// is no error; [job.ErrUnavailable] says that the instances are not known, or that ctx has
// ended.
func (c *Conn) AskGroup(ctx context.Context, group, verb string, body []byte, wait time.Duration, yield func(*fleet.InstanceReply) bool) error {
	all, err := c.addresses(ctx, group)
	if err != nil || len(all) == 0 {
		return err
	}
	asker, err := c.NewAsker(len(all))
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

// addresses returns where the instances of a group take requests, as the leader of the
// bucket knows: one that was stored before the call is among them.
func (c *Conn) addresses(ctx context.Context, group string) ([]Address, error) {
	var all []Address
	err := c.Scan(ctx, streamInst, SubjectHeartbeat(group, "*"), func(s *Stored) bool {
		h, err := parseStored(s)
		if err != nil || h.ControlSecret == "" {
			return true // it has left, is not one of ours, or takes no requests
		}
		if all = append(all, h.Address()); len(all) > maxAsked {
			all = all[1:]
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list instances of group %s: %w", group, err)
	}
	return all, nil
}
