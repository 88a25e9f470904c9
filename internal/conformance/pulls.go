package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// onPull keeps a pull request, or says that there is no consumer.
func (s *stage) onPull(m *nats.Msg) {
	stream, consumer, _ := strings.Cut(strings.TrimPrefix(m.Subject, nextPrefix), ".")
	r := pullRequest{from: bus.Consumer{Stream: stream, Consumer: consumer}, reply: m.Reply, at: time.Now()}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		s.status(m.Reply, "400 Bad Request")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if s.noConsumer {
		s.status(m.Reply, "503")
		return
	}
	s.pulls = append(s.pulls, &pull{from: r.from, reply: m.Reply, left: max(r.Batch, 1), end: r.at.Add(r.Expires), beat: r.IdleHeartbeat, beatAt: r.at.Add(r.IdleHeartbeat)})
}

// serve sends idle heartbeats and ends pull requests until ctx is done.
func (s *stage) serve(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.mu.Lock()
			s.pulls = slices.DeleteFunc(s.pulls, func(p *pull) bool {
				switch {
				case !s.listens(p.reply):
					return true
				case p.end.After(p.beatAt.Add(-p.beat)) && now.After(p.end):
					s.status(p.reply, "408 Request Timeout")
					return true
				case p.beat > 0 && now.After(p.beatAt):
					s.status(p.reply, "100 Idle Heartbeat")
					p.beatAt = now.Add(p.beat)
				}
				return false
			})
			s.mu.Unlock()
		}
	}
}

// deliver gives a trigger to a pull request at a consumer that waits, as delivery number delivered
// of the message at a sequence of the stream. It returns the subject on which the executor answers; "" if no request
// waits.
func (s *stage) deliver(m *nats.Msg, from bus.Consumer, seq uint64, delivered int) (ack string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		if p.left == 0 || p.from != from || !s.listens(p.reply) {
			continue
		}
		p.left--
		s.seq++
		ack = s.ackSubject(from, delivered, seq, s.seq)
		out := &nats.Msg{Subject: p.reply, Reply: forStage(ack), Header: m.Header, Data: m.Data}
		if s.nc.PublishMsg(out) != nil {
			return ""
		}
		s.pulls = slices.DeleteFunc(s.pulls, func(p *pull) bool { return p.left == 0 })
		return ack
	}
	return ""
}

// waiting returns how many triggers the executor has asked for and not got.
func (s *stage) waiting() (n int) {
	for _, left := range s.waitingAt() {
		n += left
	}
	return n
}

// waitingAt returns the same for each consumer.
func (s *stage) waitingAt() map[bus.Consumer]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := map[bus.Consumer]int{}
	for _, p := range s.pulls {
		if s.listens(p.reply) {
			at[p.from] += p.left
		}
	}
	return at
}

// forStage returns how the stage must write an acknowledgement's subject; see proxy.
func forStage(ack string) string { return stagePrefix + strings.TrimPrefix(ack, ackPrefix) }

// ackSubject returns the subject on which a delivery is answered.
func (s *stage) ackSubject(from bus.Consumer, delivered int, seq, consumerSeq uint64) string {
	return fmt.Sprintf("$JS.ACK.%s.%s.%d.%d.%d.%d.0", from.Stream, from.Consumer, delivered, seq, consumerSeq, s.now().UnixNano())
}
