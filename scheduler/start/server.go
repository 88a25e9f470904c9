package start

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// startsOfGroup is how many requests of a group a server answers at once. It refuses more, and they come again.
	startsOfGroup = 32
	// startTimeout is how long a request may take.
	startTimeout = 8 * time.Second
	// askTimeout is how long the owner of a shard may take to answer.
	askTimeout = 5 * time.Second
)

// Server answers requests for runs that the code of other runs starts.
type Server struct {
	conn *cluster.Conn
	log  *slog.Logger

	mu   sync.Mutex
	busy map[string]int // requests under way, by group
}

// New returns a server on a connection that is set up.
func New(conn *cluster.Conn, log *slog.Logger) *Server {
	return &Server{conn: conn, log: log.With("component", "start"), busy: map[string]int{}}
}

// Run answers requests until ctx is done. All servers share them.
func (s *Server) Run(ctx context.Context) error {
	requests := make(chan *nats.Msg, 1024)
	sub, err := s.conn.NC.ChanQueueSubscribe(bus.SubjectStart("*"), "servers", requests)
	if err != nil {
		return fmt.Errorf("subscribe to starts of runs: %w", jet.Unavailable(err))
	}
	defer func() { _ = sub.Unsubscribe() }()
	var work sync.WaitGroup
	defer work.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-requests:
			group := m.Subject[len(bus.SubjectStart("")):]
			if !s.begin(group) {
				s.answer(m, nil, fmt.Errorf("%w: %d starts of group %s are under way; retry", job.ErrUnavailable, startsOfGroup, group))
				continue
			}
			work.Go(func() {
				defer s.end(group)
				reply, err := s.start(ctx, group, m)
				s.answer(m, reply, err)
			})
		}
	}
}

func (s *Server) begin(group string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[group] == startsOfGroup {
		return false
	}
	s.busy[group]++
	return true
}

func (s *Server) end(group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[group]--; s.busy[group] == 0 {
		delete(s.busy, group)
	}
}

func (s *Server) answer(m *nats.Msg, reply *bus.StartReply, err error) {
	if err := bus.Respond(m, reply, err); err != nil {
		s.log.Debug("answer not sent", "subject", m.Subject, "error", err)
	}
}

// start starts a run for an executor of a group.
func (s *Server) start(ctx context.Context, group string, m *nats.Msg) (*bus.StartReply, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	r, err := bus.DecodeStart(m)
	if err != nil {
		return nil, err
	}
	parent, err := s.alive(ctx, group, m.Header)
	if err != nil {
		return nil, err
	}
	if err := s.permit(ctx, group, r.Job); err != nil {
		return nil, err
	}
	if parent.Depth >= bus.MaxStartDepth {
		return nil, fmt.Errorf("%w: run %s has %d runs above it; code may start runs with %d above them at most", job.ErrConflict, parent.RunID, parent.Depth, bus.MaxStartDepth)
	}
	id := job.StartID(parent.RunID, r.Job, digest(r.Params), r.Count)
	known, err := cluster.StartsOn(s.conn).Get(ctx, group, parent.RunID, id)
	if err != nil {
		return nil, err
	}
	if known != "" {
		return &bus.StartReply{RunID: known, Existed: true}, nil
	}
	return s.ask(ctx, parent, id, r)
}

// permit returns a job.ErrConflict unless handlers of a group may start a job.
func (s *Server) permit(ctx context.Context, group string, name job.Name) error {
	of := name.Group()
	if of == group {
		return nil
	}
	g, err := s.conn.Groups().Get(ctx, of)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	if !g.MayBeStartedBy(group) {
		return fmt.Errorf("%w: handlers of group %s may not start %s: add %s to started_by of group %s", job.ErrConflict, group, name, group, of)
	}
	return nil
}

// alive returns the trigger of the attempt that asks. The error is a job.ErrConflict if it has ended, and an
// *InvalidError if who asks does not have its token.
func (s *Server) alive(ctx context.Context, group string, header nats.Header) (*bus.Trigger, error) {
	at, err := bus.AckedTrigger(header.Get(bus.HeaderAck))
	if err != nil {
		return nil, err
	}
	stored, err := s.conn.At(ctx, at.Stream, at.Seq)
	if errors.Is(err, jet.ErrNoMessage) {
		return nil, fmt.Errorf("%w: the attempt has ended; only one that is running starts runs", job.ErrConflict)
	}
	if err != nil {
		return nil, err
	}
	all := []bus.PackedTrigger{{Token: stored.Header.Get(bus.HeaderToken), Data: stored.Data}}
	if bus.IsPack(stored.Header) {
		if all, err = bus.Unpack(stored.Data); err != nil {
			return nil, err
		}
	}
	token := []byte(header.Get(bus.HeaderToken))
	for _, p := range all {
		if p.Token != "" && subtle.ConstantTimeCompare(token, []byte(p.Token)) == 1 {
			return bus.DecodeTriggerFor(group, nil, p.Data) // only triggers have tokens
		}
	}
	return nil, job.Invalid(bus.HeaderToken, "is not that of the attempt's trigger")
}

// ask asks the owner of the job's shard for the run, and keeps which it is.
func (s *Server) ask(ctx context.Context, parent *bus.Trigger, id job.RunID, r *bus.StartRequest) (*bus.StartReply, error) {
	entry, err := s.conn.Jobs().Get(ctx, r.Job)
	if err != nil {
		return nil, err
	}
	request := bus.TriggerRequest{
		RunID: id, Job: r.Job, Cause: job.CauseParent, Labels: r.Labels, By: string(parent.Job), Parent: parent.RunID, Depth: parent.Depth + 1,
	}
	if request.Params, err = job.LiteralParams(r.Params); err != nil {
		return nil, err
	}
	if request.Due, request.Expires, err = r.Times(time.Now().UTC().Truncate(time.Millisecond)); err != nil {
		return nil, err
	}
	var reply bus.TriggerReply
	if err := s.conn.Shards().AskOwner(ctx, r.Job, "trigger", entry.Revision, request, &reply, askTimeout); err != nil {
		return nil, err
	}
	if given := (cluster.Overrides{Params: request.Params, Labels: request.Labels}); !given.Nothing() {
		if err := s.conn.Overrides().Put(ctx, r.Job.Group(), reply.RunID, given); err != nil {
			return nil, err
		}
	}
	if err := cluster.StartsOn(s.conn).Put(ctx, parent.Job.Group(), parent.RunID, id, reply.RunID); err != nil {
		return nil, err
	}
	return &bus.StartReply{RunID: reply.RunID, Existed: reply.Existed}, nil
}

// digest returns a name for parameters: for their text, since who asks counts its requests by that.
func digest(params json.RawMessage) string {
	sum := sha256.Sum256(params)
	return hex.EncodeToString(sum[:16])
}
