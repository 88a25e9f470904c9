package callout

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
)

// subjectRefused is where servers tell each other which group is refused until when. It
// is a subject of the account CARILLON, which executors do not reach.
const subjectRefused = "sched.refused"

// subjectEnded is where NATS tells of connections that have ended. Sweeps do not see
// those that begin and end in between.
const subjectEnded = "$SYS.ACCOUNT." + accountExecutors + ".DISCONNECT"

// hearSpending takes in what other servers and NATS tell of what groups send, until stop
// is called.
func (s *Service) hearSpending(ctx context.Context) (stop func(), err error) {
	told, err := s.conn.NC.Subscribe(subjectRefused, func(m *nats.Msg) {
		var r cluster.Refusal
		if json.Unmarshal(m.Data, &r) == nil {
			s.budgets.refuse(r, time.Now())
		}
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe to refusals: %w", err)
	}
	ended, err := s.system.Subscribe(subjectEnded, func(m *nats.Msg) { s.hearEnd(ctx, m) })
	if err != nil {
		_ = told.Unsubscribe()
		return nil, fmt.Errorf("subscribe to ends of connections: %w", err)
	}
	subs := []*nats.Subscription{told, ended}
	stop = func() {
		for _, sub := range subs {
			_ = sub.Unsubscribe()
		}
	}
	for _, stream := range s.conn.Trigs() {
		given, err := s.conn.NC.Subscribe(bus.NakAdvisories(stream), func(m *nats.Msg) { s.hearGiveBack(ctx, m) })
		if err != nil {
			stop()
			return nil, fmt.Errorf("subscribe to triggers that are given back: %w", err)
		}
		subs = append(subs, given)
	}
	return stop, nil
}

// hearEnd takes in that a connection has ended.
func (s *Service) hearEnd(ctx context.Context, m *nats.Msg) {
	var e struct {
		Server struct {
			ID string `json:"id"`
		} `json:"server"`
		Client struct {
			User string `json:"user"`
			ID   uint64 `json:"id"`
		} `json:"client"`
		Sent struct {
			Msgs  int64 `json:"msgs"`
			Bytes int64 `json:"bytes"`
		} `json:"sent"`
	}
	if json.Unmarshal(m.Data, &e) != nil {
		return
	}
	group, _, ours := holderOf(e.Client.User)
	if !ours {
		return
	}
	conn := connection{e.Server.ID, e.Client.ID}
	s.crowds.ended(conn)
	if over, until := s.budgets.ended(group, conn, e.Sent.Bytes, e.Sent.Msgs, time.Now()); over {
		s.overspent(ctx, group, until)
	}
}

// overspent refuses a group that sends too much, on all servers. The sweep closes its connections.
func (s *Service) overspent(ctx context.Context, group string, until time.Time) {
	s.log.WarnContext(ctx, "group refused, as it sends more than its budget", "executor_group", group, "until", until)
	s.refuse(ctx, cluster.Refusal{Group: group, Until: until})
}

// refuse publishes the refusal of a group to all servers and alerters.
func (s *Service) refuse(ctx context.Context, r cluster.Refusal) {
	group, cause := r.Group, "budget"
	switch {
	case r.Kept != nil:
		cause = r.Kept.Bucket
	case r.GaveBack > 0:
		cause = "give_backs"
	}
	s.metrics.refused.WithLabelValues(group, cause).Inc()
	data, err := json.Marshal(r)
	if err == nil {
		err = s.conn.NC.Publish(subjectRefused, data)
	}
	if err != nil {
		s.log.WarnContext(ctx, "other servers not told that a group is refused", "executor_group", group, "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := s.conn.Refusals().Put(ctx, r); err != nil {
		s.log.WarnContext(ctx, "alerter not told that a group is refused", "executor_group", group, "error", err)
	}
}

// lookAtRoom adapts budgets to how full the fullest EVT is. One that does not answer counts as
// full as it was last.
func (s *Service) lookAtRoom(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepSilence)
	defer cancel()
	streams := s.conn.Evts()
	if s.evts == nil {
		s.evts = make([]*jetstream.StreamInfo, len(streams))
	}
	var asking sync.WaitGroup
	for i, stream := range streams {
		asking.Go(func() {
			info, err := s.conn.Info(ctx, stream)
			if err != nil {
				s.log.DebugContext(ctx, "room on EVT not known", "error", err)
				return
			}
			s.evts[i] = info
		})
	}
	asking.Wait()
	var used, limit uint64
	for _, info := range s.evts {
		if info == nil || info.Config.MaxBytes <= 0 {
			continue
		}
		u, l := info.State.Bytes, uint64(info.Config.MaxBytes)
		if limit == 0 || float64(u)*float64(limit) > float64(used)*float64(l) {
			used, limit = u, l
		}
	}
	s.budgets.room(used, limit)
}
