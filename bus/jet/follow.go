package jet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	followPage  = 500                    // messages asked for at once
	followBytes = pageBytes              // bytes asked for at once: far less than NATS lets wait for a connection
	followWait  = 5 * time.Second        // how long the server keeps an empty request
	followRetry = 250 * time.Millisecond // pause after trouble, in the mean
	followAPI   = 5 * time.Second        // for the server to make or delete a consumer
)

// Follow calls yield with every message of a stream on subjects that match one of filters, which must
// not overlap, from sequence from on, in order and without gap, until ctx is done; it returns nil
// then. It needs no durable consumer: where it was is its caller's to know. It lasts
// through restarts of the server and cuts of the connection.
func (c *Conn) Follow(ctx context.Context, stream string, filters []string, from uint64, yield func(*Stored)) error {
	f := &follower{conn: c, stream: stream, filters: filters, from: max(from, 1), yield: yield}
	f.run(ctx)
	return nil
}

// follower reads a stream through one consumer after another. A consumer acknowledges
// nothing, so the server sends each message once; the consumer's own numbers show
// whether one was lost on the way. Then, and when the connection breaks or the
// consumer is gone, another one takes up where it ended.
type follower struct {
	conn    *Conn
	stream  string
	filters []string
	deliver jetstream.DeliverPolicy // what the first consumer begins with, when from is 0
	from    uint64                  // sequence of the stream at which to go on
	yield   func(*Stored)
	caught  func() // if not nil, called when all that the stream's leader had when a consumer was made has been yielded
}

// run follows until ctx is done.
func (f *follower) run(ctx context.Context) {
	r, err := f.open(ctx)
	f.goOn(ctx, r, err)
}

// goOn is run with the first reader, or the error that there is none.
func (f *follower) goOn(ctx context.Context, r *reader, err error) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for ctx.Err() == nil {
		if err == nil {
			_ = r.read(ctx) // whatever it was, the next reader goes on where this one ended
			r.close()
		}
		// Not in step with all the others that have lost their consumers just now.
		pause.Reset(followRetry/2 + rand.N(followRetry)) //nolint:gosec // jitter is no secret
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		r, err = f.open(ctx)
	}
	if err == nil {
		r.close()
	}
}

// reader is a follower's present consumer.
type reader struct {
	*follower
	consumer string
	inbox    string
	sub      *nats.Subscription
	msgs     chan *nats.Msg
	broken   chan nats.Status
	behind   uint64 // messages that were there when the consumer was made, and have not come
	known    uint64 // a sequence that the stream's leader has had; a consumer that does not lag behind gives all up to it
	expect   uint64 // sequence of the consumer that comes next
	last     uint64 // of the stream, when its leader was first asked what has not come; 0 until then
	large    bool   // the next message has more bytes than a page
	awaited  uint64 // a sequence that the leader has and that may not have come; 0 is none
}

// open makes a consumer.
func (f *follower) open(ctx context.Context) (*reader, error) {
	ctx, cancel := context.WithTimeout(ctx, followAPI)
	defer cancel()
	cfg := jetstream.ConsumerConfig{
		Name:           nuid.Next(), // ours, so that it can be deleted though the answer is lost
		FilterSubjects: f.filters,
		DeliverPolicy:  f.deliver,
		AckPolicy:      jetstream.AckNonePolicy,
		MemoryStorage:  true,
		Replicas:       1,
		// The server forgets the consumer by itself when nobody asks it for messages.
		InactiveThreshold: time.Minute,
	}
	if f.from > 0 {
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, f.from
	}
	r := &reader{follower: f, inbox: f.conn.NC.NewInbox(), msgs: make(chan *nats.Msg, followPage+16), expect: 1}
	// Before the consumer is made, so that no break goes unnoticed.
	r.broken = f.conn.NC.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	var err error
	if r.sub, err = f.conn.NC.ChanSubscribe(r.inbox, r.msgs); err != nil {
		r.forget()
		return nil, fmt.Errorf("follow %s: %w", f.stream, Unavailable(err))
	}
	// Before the consumer is made, which may be on a replica that lags behind.
	if f.caught != nil {
		if r.known, err = f.lastSeq(ctx); err != nil {
			r.forget()
			return nil, err
		}
	}
	r.consumer = cfg.Name
	cons, err := f.conn.JS.CreateConsumer(ctx, f.stream, cfg)
	if err != nil {
		r.close() // the server may have made it all the same
		return nil, fmt.Errorf("follow %s: %w", f.stream, Unavailable(err))
	}
	r.behind = cons.CachedInfo().NumPending
	return r, nil
}

// lastSeq returns the sequence of the last message that is followed, or a later one, as
// the stream's leader knows it.
func (f *follower) lastSeq(ctx context.Context) (uint64, error) {
	if len(f.filters) > 1 {
		return f.conn.LastSeq(ctx, f.stream)
	}
	last, err := f.conn.Last(ctx, f.stream, f.filters[0])
	if errors.Is(err, ErrNoMessage) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return last.Seq, nil
}

// forget ends what the reader has on this side of the connection.
func (r *reader) forget() {
	r.conn.NC.RemoveStatusListener(r.broken)
	if r.sub != nil {
		_ = r.sub.Unsubscribe()
	}
}

// close deletes the consumer.
func (r *reader) close() {
	r.forget()
	// Nobody waits for an answer: if the request does not arrive, the server forgets
	// the consumer after the threshold.
	_ = r.conn.NC.Publish("$JS.API.CONSUMER.DELETE."+r.stream+"."+r.consumer, nil)
}

// read yields messages until ctx is done or something goes wrong.
func (r *reader) read(ctx context.Context) error {
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	silence := time.NewTimer(0)
	defer silence.Stop()
	for ctx.Err() == nil {
		if err := r.ask(); err != nil {
			return err
		}
		silence.Reset(followWait + 2*time.Second)
		asked := r.expect
		if err := r.page(ctx, silence.C); err != nil {
			return err
		}
		if r.expect == asked && !r.large { // nothing came
			r.behind = 0                      // they may have been deleted
			r.known = max(r.known, r.awaited) // if it was not deleted, the consumer should have given it
		}
		r.awaited = 0
		if err := r.catchUp(ctx); err != nil {
			return err
		}
	}
	return nil
}

// catchUp calls caught, once the stream's leader has nothing more of what it had when it is asked here
// for the first time. That the consumer has nothing more is not enough: it may be on a replica that
// lags behind (then the error has another one made), and it counts a message as gone before it counts
// the one that has replaced it.
func (r *reader) catchUp(ctx context.Context) error {
	if r.caught == nil || r.behind > 0 || r.awaited > 0 && r.from <= r.awaited {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, followAPI)
	defer cancel()
	next, err := r.conn.NextSeq(ctx, r.stream, r.filters, max(r.from, 1), max(r.known, r.from-min(r.from, 1)))
	if err == nil && next != 0 && r.last == 0 {
		r.last, err = r.conn.LastSeq(ctx, r.stream)
		r.last = max(r.last, next) // another leader may have answered
	}
	switch {
	case err != nil:
		return err
	case next != 0 && next <= r.known:
		return errLags
	case next != 0 && next <= r.last:
		r.awaited = next
		return nil
	}
	r.caught()
	r.caught = nil
	return nil
}

// ask asks for a page.
func (r *reader) ask() error {
	page := PullRequest{Batch: followPage, MaxBytes: followBytes, Expires: followWait}
	if r.large {
		page.Batch, page.MaxBytes = 1, 0
	}
	return page.send(r.conn.NC, r.stream, r.consumer, r.inbox)
}

var (
	errSilent = errors.New("the server does not answer")
	errBroken = errors.New("the connection broke")
	errGap    = errors.New("a message was lost on the way")
	errLags   = errors.New("the consumer is on a replica that lags behind")
)

// page yields what comes until the page is full or the server says that it has ended.
func (r *reader) page(ctx context.Context, silence <-chan time.Time) error {
	came, size := 0, 0
	// The server ends a request without a message when it has handed out all messages, or exactly all bytes.
	for came < followPage && size < followBytes {
		select {
		case <-ctx.Done():
			return nil
		case <-silence:
			return errSilent
		case <-r.broken:
			return errBroken
		case m := <-r.msgs:
			switch status, why := pullStatusOf(m); status {
			case delivered:
			case waiting: // nobody asked to be told
				continue
			case over:
				return nil
			case refused:
				if why.Error() == tooLarge { // mostly the page has as many bytes as it may have
					r.large = came == 0
					return nil
				}
				return why
			}
			came, size = came+1, size+m.Size()
			if err := r.deliver(m); err != nil {
				return err
			}
			if err := r.catchUp(ctx); err != nil {
				return err
			}
			if r.large { // it has come by itself
				r.large = false
				return nil
			}
		}
	}
	return nil
}

// deliver yields one message.
func (r *reader) deliver(m *nats.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	if meta.Sequence.Consumer != r.expect {
		return errGap
	}
	r.expect++
	r.from = meta.Sequence.Stream + 1
	r.yield(&Stored{Subject: m.Subject, Seq: meta.Sequence.Stream, Header: m.Header, Data: m.Data, At: meta.Timestamp})
	if r.behind > 0 {
		if r.behind--; meta.NumPending == 0 {
			r.behind = 0
		}
	}
	return nil
}

// Info returns how a stream is, as its leader knows. Errors: job.ErrUnavailable.
func (c *Conn) Info(ctx context.Context, stream string) (*jetstream.StreamInfo, error) {
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("look up stream %s: %w", stream, Unavailable(err))
	}
	return s.CachedInfo(), nil
}

// CountBySubject returns how many messages a stream has on each subject that matches filter, as its leader
// knows. The error is job.ErrUnavailable.
func (c *Conn) CountBySubject(ctx context.Context, stream, filter string) (map[string]uint64, error) {
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("look up stream %s: %w", stream, Unavailable(err))
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, fmt.Errorf("count messages of stream %s: %w", stream, Unavailable(err))
	}
	return info.State.Subjects, nil
}

// LastSeq returns the last sequence of a stream, as its leader knows.
func (c *Conn) LastSeq(ctx context.Context, stream string) (uint64, error) {
	info, err := c.Info(ctx, stream)
	if err != nil {
		return 0, err
	}
	return info.State.LastSeq, nil
}

// SeqAt returns the sequence from which on the messages of a stream were stored at the
// given instant or later.
func (c *Conn) SeqAt(ctx context.Context, stream string, at time.Time) (uint64, error) {
	cons, err := c.JS.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &at,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return 0, fmt.Errorf("look up an instant of %s: %w", stream, Unavailable(err))
	}
	known := cons.CachedInfo()
	_ = c.JS.DeleteConsumer(ctx, stream, known.Name) // else it ends after a minute
	return known.Delivered.Stream + 1, nil
}
