package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	// tailQueue is how many messages of a tail wait for a slow client. What overflows
	// is read from the store later.
	tailQueue = 512
	// linesPerEvent and textPerEvent, in bytes, bound one event of a tail.
	linesPerEvent = 500
	// linesPerLook is how many lines are read from the store at a time.
	linesPerLook = 1000
	textPerEvent = 256 << 10
	// look is how often a tail asks the store about what it may not have heard;
	// lookGap is the same while it knows of lines that it has not.
	look    = 2 * time.Second
	lookGap = 250 * time.Millisecond
)

// tail follows the log of a run for one client: of the newest attempt and those after
// it, or of one attempt or piece.
type tail struct {
	*Server
	followed
	fixed  bool        // there is nothing to follow after the attempt
	over   *runlog.Run // what is followed has ended, like this
	job    job.Name
	heard  chan *nats.Msg // log messages and events, from the bus
	reader *access.Lasting
	out    events
}

// Tail returns the handler of GET /runs/{run_id}/logs/tail. Streams get "bye"
// and end when ctx is done.
func (s *Server) Tail(ctx context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		t, err := s.newTail(c)
		if err != nil {
			return err
		}
		by := access.Of(c.UserContext())
		// c must not be touched once the handler has returned: Fiber gives it to the
		// next request. The connection stays ours until the stream ends.
		conn := c.Context().Conn()
		c.Set(fiber.HeaderContentType, "text/event-stream")
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set("X-Accel-Buffering", "no")
		if c.Method() == fiber.MethodHead {
			return nil
		}
		subs, err := t.subscribe()
		if err != nil {
			return err
		}
		if err := s.open.add(conn, by.Who); err != nil {
			subs.stop()
			return err
		}
		c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
			defer s.open.remove(conn)
			defer subs.stop()
			t.out = events{w, conn}
			following, _ := logstore.AcceptPartial(access.With(ctx, by)) // whatever there is
			err := t.follow(following)
			if errors.Is(err, access.ErrOthers) { // who comes again is told that there is no such run
				err = t.out.send("bye", "", struct{}{})
			}
			if err != nil {
				t.log.DebugContext(ctx, "tail interrupted", "run_id", t.id, "error", err)
			}
		})
		return nil
	}
}

// newTail reads from the request which log to follow, and from where.
func (s *Server) newTail(c *fiber.Ctx) (*tail, error) {
	id, err := job.ParseRunID(c.Params("run_id"))
	if err != nil {
		return nil, err
	}
	t := &tail{Server: s, followed: followed{id: id, attempt: c.QueryInt("attempt")}, job: job.Name(c.Query("job")), reader: access.NewLasting(c.UserContext(), s.users), heard: make(chan *nats.Msg, tailQueue)}
	if c.Query("broadcast_index") != "" {
		t.piece = runlog.PieceAt(c.QueryInt("broadcast_index"))
	}
	t.fixed = t.attempt > 0 || t.piece != runlog.Whole
	if t.job != "" {
		if _, err := job.ParseName(string(t.job)); err != nil {
			return nil, err
		}
	}
	resumed, seq, err := parseEventID(c.Get("Last-Event-ID"))
	if err != nil {
		return nil, err
	}
	attempts, err := s.store.Run(c.UserContext(), id)
	switch {
	case errors.Is(err, job.ErrNotFound) && t.job != "": // as new as that
		t.attempt = max(t.attempt, resumed, 1)
	case err != nil:
		return nil, problem.StoreAway(err)
	default:
		t.job = attempts[0].Job
		if t.attempt == 0 && resumed == 0 {
			if t.attempt, err = s.runs.NewestAttempt(c.UserContext(), string(id), t.piece); err != nil {
				return nil, err
			}
		}
		t.attempt = max(t.attempt, resumed)
	}
	if t.attempt == resumed {
		t.sent = seq
	}
	return t, nil
}

// parseEventID reads the id of an event of a tail. An empty one is that of no line.
func parseEventID(s string) (attempt int, seq int64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	a, n, _ := strings.Cut(s, ":")
	attempt, errA := strconv.Atoi(a)
	seq, errN := strconv.ParseInt(n, 10, 64)
	if errA != nil || errN != nil || attempt < 1 || seq < 0 {
		return 0, 0, job.Invalid("Last-Event-ID", "%q must be attempt:seq, as the stream gave it", s)
	}
	return attempt, seq, nil
}

// subscriptions are the ears of a tail, or of the news, on the bus.
type subscriptions []*nats.Subscription

func (s subscriptions) stop() {
	for _, sub := range s {
		_ = sub.Unsubscribe() // fails only on a closed connection, which has none
	}
}

// dropped returns how many messages came faster than they were taken up.
func (s subscriptions) dropped() int {
	n := 0
	for _, sub := range s {
		lost, _ := sub.Dropped() // fails only on a closed connection, which hears nothing
		n += lost
	}
	return n
}

// subscribe begins to hear. It comes before the store is read, so that a line is
// either stored by then or heard.
func (t *tail) subscribe() (subscriptions, error) {
	shard := t.job.Shard(t.conn.Cluster().Shards)
	var subs subscriptions
	ends := bus.SubjectEnds(t.conn.Cluster().Partitions.Of(shard), t.job.Group())
	for _, subject := range []string{bus.SubjectLog(t.job.Group(), t.id), bus.SubjectEvent(shard, t.job.Group()), ends} {
		sub, err := t.conn.NC.ChanSubscribe(subject, t.heard)
		if err != nil {
			subs.stop()
			return nil, fmt.Errorf("%w: subscribe to %s: %w", job.ErrUnavailable, subject, err)
		}
		subs = append(subs, sub)
	}
	return subs, nil
}

// follow sends lines until what is followed has ended, ctx is done or the client is
// gone. The error is access.ErrOthers once the reader may not see them any more.
func (t *tail) follow(ctx context.Context) error {
	if err := t.out.comment(); err != nil { // so that the client sees the stream open
		return err
	}
	// Subscriptions count from when the server has them.
	if err := t.conn.NC.FlushWithContext(ctx); err != nil && ctx.Err() == nil {
		t.log.DebugContext(ctx, "tail starts without the bus", "run_id", t.id, "error", err)
	}
	if err := t.lookUp(ctx); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	next := time.NewTimer(t.pause())
	defer next.Stop()
	for {
		if t.over == nil && t.done(time.Now()) {
			if err := t.endAttempt(ctx); err != nil {
				return err
			}
			next.Reset(t.pause())
		}
		if t.over != nil {
			if !t.allowed(ctx) {
				return access.ErrOthers
			}
			return t.out.send("end", "", api.LogEnd{Run: *t.over, Missing: t.lost})
		}
		select {
		case <-ctx.Done():
			return t.out.send("bye", "", struct{}{})
		case m := <-t.heard:
			knew := t.gap()
			if err := t.hear(ctx, m); err != nil {
				return err
			}
			if t.gap() && !knew {
				next.Reset(lookGap)
			}
		case <-next.C:
			if _, err := t.reader.Check(ctx); err != nil {
				return access.ErrOthers
			}
			if err := t.lookUp(ctx); err != nil {
				return err
			}
			next.Reset(t.pause())
		case <-t.reader.Changed():
			if !t.allowed(ctx) {
				return access.ErrOthers
			}
		case <-beat.C:
			if err := t.out.comment(); err != nil {
				return err
			}
		}
	}
}

// endAttempt sends the rest of an attempt that has ended, and continues with the next
// one, if one follows.
func (t *tail) endAttempt(ctx context.Context) error {
	if err := t.lines(ctx, t.rest()); err != nil {
		return err
	}
	if t.fixed || !t.end.Retrying {
		t.over = t.end
		return nil
	}
	t.followed = followed{id: t.id, attempt: t.attempt + 1, lost: t.lost}
	return t.lookUp(ctx)
}

// allowed reports whether the reader still has the permission: the session or token may
// have ended since, and the rights may have changed.
func (t *tail) allowed(ctx context.Context) bool {
	who, err := t.reader.Now(ctx)
	group := t.job.Group()
	return err == nil && who.Access.May(rights.Viewer, group) && who.Access.Sees(rights.Logs, group)
}

func (t *tail) pause() time.Duration {
	if t.gap() {
		return lookGap
	}
	return look
}

// hear takes in a message from the bus. What cannot be read is of somebody else's
// making; ingest counts it.
func (t *tail) hear(ctx context.Context, m *nats.Msg) error {
	if strings.HasPrefix(m.Subject, "log.") {
		l, err := t.conn.Events().DecodeLog(m.Subject, m.Header, m.Data)
		if err != nil || l.RunID != t.id || l.Attempt != t.attempt || pieceIn(l.Piece) != t.piece {
			return nil //nolint:nilerr // see above
		}
		switch {
		case l.Last:
			t.endLate(time.Now())
		case !t.late.IsZero():
			t.expectLate(time.Now())
		}
		return t.lines(ctx, t.live(linesOf(l)))
	}
	if !bytes.Contains(m.Data, []byte(t.id)) {
		return nil // a pack of ends of other runs, most often
	}
	for e, err := range t.conn.Events().Decode(m.Subject, m.Header, m.Data, time.Now()) {
		if err == nil && e.Kind == bus.EventFinished && e.RunID == t.id {
			t.ended(runOf(e))
			if e.LogOpen && e.Attempt == t.attempt && pieceIn(e.Piece) == t.piece {
				t.expectLate(time.Now())
			}
		}
	}
	return nil
}

// lookUp asks the store for lines that did not come over the bus. If the store does not answer,
// the tail goes on, because the bus may still bring lines. The error is access.ErrOthers if the
// run is stored by now, in a group that the caller does not see.
func (t *tail) lookUp(ctx context.Context) error {
	for more := true; more; {
		stored, err := t.store.Lines(ctx, logstore.LineFilter{RunID: t.id, Job: t.job, Attempt: t.attempt, Piece: t.piece, FromSeq: t.sent + 1, Limit: linesPerLook})
		if err != nil {
			t.log.DebugContext(ctx, "tail without the log store", "run_id", t.id, "error", err)
			return nil
		}
		more = len(stored) == linesPerLook
		if err := t.lines(ctx, t.stored(stored)); err != nil {
			return err
		}
	}
	if t.end != nil {
		return nil
	}
	switch err := t.lookUpEnd(ctx); {
	case errors.Is(err, access.ErrOthers):
		return err
	case err != nil:
		t.log.DebugContext(ctx, "tail without the log store", "run_id", t.id, "error", err)
	}
	return nil
}

// lookUpEnd asks the store how what is followed has ended.
func (t *tail) lookUpEnd(ctx context.Context) error {
	attempts, err := t.store.Run(ctx, t.id)
	if err != nil {
		return err
	}
	newest := &attempts[0]
	if t.piece != runlog.Whole {
		r, err := t.runs.Piece(ctx, t.id, t.attempt, t.piece)
		switch {
		case err != nil:
			return err
		case r != nil:
			t.ended(r)
		}
	}
	for i := range attempts {
		r := attempts[i]
		if !t.fixed && r.Attempt < newest.Attempt { // another one follows it: there it is
			r.Retrying = true
		}
		t.ended(&r)
	}
	// The run may end without the attempt that was to follow, or without a piece of it.
	if t.end == nil && newest.RunStatus().Final() && (newest.Attempt < t.attempt || t.piece != runlog.Whole) {
		t.over = newest
	}
	return nil
}

// lines sends lines, some of them in each event. The error is access.ErrOthers once the reader
// may not see them any more.
func (t *tail) lines(ctx context.Context, lines []runlog.Line) error {
	for len(lines) > 0 {
		if !t.allowed(ctx) {
			return access.ErrOthers
		}
		n, text := 0, 0
		for n < min(len(lines), linesPerEvent) && text < textPerEvent {
			text += len(lines[n].Text)
			n++
		}
		id := strconv.Itoa(t.attempt) + ":" + strconv.FormatInt(lines[n-1].Seq, 10)
		if err := t.out.send("lines", id, lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}
