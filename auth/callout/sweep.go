package callout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// sweepEvery is how often connections are compared with credentials. Changes are
	// acted on at once; this is for what was missed: a NATS that was away, a connection
	// that another server admitted at the same moment.
	sweepEvery = 5 * time.Second
	// sweepAgain is how soon connections are compared again after a failure: one of them
	// may have to be closed.
	sweepAgain = time.Second
	// sweepSilence is how long to wait for another NATS server to answer.
	sweepSilence = 500 * time.Millisecond
	// sweepPage is how many connections a server lists at once.
	sweepPage = 1000
)

func (s *Service) sweepOften(ctx context.Context) {
	timer := time.NewTimer(sweepEvery)
	defer timer.Stop()
	failed := false
	for {
		err := s.sweep(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			s.log.WarnContext(ctx, "connections not compared with credentials", "error", err)
		}
		wait := sweepEvery
		if failed = err != nil; failed {
			wait = sweepAgain
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-s.users.Credentials().Changed():
		case <-timer.C:
		}
	}
}

// connections is what a NATS server answers to CONNZ.
type connections struct {
	Server struct {
		ID string `json:"id"`
	} `json:"server"`
	Data struct {
		Offset      int `json:"offset"`
		Connections []struct {
			CID     uint64    `json:"cid"`
			User    string    `json:"authorized_user"`
			Address string    `json:"ip"`
			Began   time.Time `json:"start"`
			Bytes   int64     `json:"in_bytes"`
			Msgs    int64     `json:"in_msgs"`
		} `json:"connections"`
	} `json:"data"`
}

// sweep closes the connections of executors whose credential has ended, and those beyond a
// group's limit. The number of servers is not known, so it ends when none has answered for a
// while.
func (s *Service) sweep(ctx context.Context) error {
	inbox := s.system.NewInbox()
	sub, err := s.system.SubscribeSync(inbox)
	if err != nil {
		return fmt.Errorf("subscribe to answers: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := s.list(inbox, "PING", 0); err != nil {
		return err
	}
	s.lookAtRoom(ctx)
	began, listed := time.Now(), map[connection]member{}
	for answers := 0; ; answers++ {
		m, err := next(ctx, sub)
		if errors.Is(err, context.DeadlineExceeded) && answers > 0 {
			s.budgets.forget(listed, time.Now())
			s.giveBacks.forget(time.Now())
			for conn, full := range s.crowds.listed(listed, began) {
				s.kick(ctx, conn, full.Error(), full.group)
			}
			s.sweepKept(ctx, listed)
			return nil
		}
		if err != nil {
			return fmt.Errorf("list connections: %w", err)
		}
		var page connections
		if err := json.Unmarshal(m.Data, &page); err != nil {
			return fmt.Errorf("decode connections: %w", err)
		}
		s.charge(ctx, &page, listed)
		s.cutOff(ctx, &page)
		if n := len(page.Data.Connections); n == sweepPage {
			if err := s.list(inbox, page.Server.ID, page.Data.Offset+n); err != nil {
				return err
			}
		}
	}
}

// next returns the next answer. The error is context.DeadlineExceeded after a silence.
func next(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepSilence)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

// list asks a server, or with PING all of them, for connections of executors.
func (s *Service) list(inbox, server string, offset int) error {
	ask, err := json.Marshal(struct {
		Users   bool   `json:"auth"`
		Account string `json:"acc"`
		Limit   int    `json:"limit"`
		Offset  int    `json:"offset"`
	}{true, accountExecutors, sweepPage, offset})
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	if err := s.system.PublishRequest("$SYS.REQ.SERVER."+server+".CONNZ", inbox, ask); err != nil {
		return fmt.Errorf("ask for connections: %w", err)
	}
	return nil
}

// charge takes in what the connections of a page have sent.
func (s *Service) charge(ctx context.Context, page *connections, listed map[connection]member) {
	now := time.Now()
	for _, c := range page.Data.Connections {
		if group, id, ours := holderOf(c.User); ours {
			key := connection{page.Server.ID, c.CID}
			listed[key] = member{group, id, c.Began}
			if over, until := s.budgets.charge(group, key, c.Bytes, c.Msgs, now); over {
				s.overspent(ctx, group, until)
			}
		}
	}
}

// cutOff closes those connections of a page whose credential has ended, or whose group is
// refused.
func (s *Service) cutOff(ctx context.Context, page *connections) {
	for _, c := range page.Data.Connections {
		group, id, ours := holderOf(c.User)
		if !ours {
			continue
		}
		reason := "its credential has ended"
		if served := s.users.Credentials().Served(group, id); len(served) > 0 {
			err := s.budgets.check(served, time.Now())
			if err == nil {
				continue
			}
			reason = err.Error()
		}
		s.kick(ctx, connection{page.Server.ID, c.CID}, reason, group, "credential", id, "address", c.Address)
	}
}

// kick closes a connection. Log lines about it have the attributes about.
func (s *Service) kick(ctx context.Context, conn connection, reason, group string, about ...any) {
	log := s.log.With(about...).With("executor_group", group)
	// Without somewhere to answer to, it is passed over. Whether it helped, the next sweep
	// sees.
	err := s.system.PublishRequest("$SYS.REQ.SERVER."+conn.server+".KICK", s.system.NewInbox(), fmt.Appendf(nil, `{"cid": %d}`, conn.cid))
	if err != nil {
		log.WarnContext(ctx, "executor not cut off", "error", err)
		return
	}
	s.metrics.cutOff.Inc()
	log.InfoContext(ctx, "executor cut off", "reason", reason)
}
