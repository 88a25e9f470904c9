package audit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/trail"
)

// prefix begins the keys of intents in ACCESS.
const prefix = "begun."

const (
	// settleEvery is how often Run looks for changes that nobody has ended, settleAfter
	// how old they are at least: older than any request gets.
	settleEvery = time.Minute
	settleAfter = 2 * time.Minute
)

// Log writes and finds entries. It is safe for concurrent use.
type Log struct {
	conn *cluster.Conn
	log  *slog.Logger

	counter atomic.Uint32 // of ids

	mu   sync.Mutex
	late []*trail.Entry // ended, and not stored yet
}

// New returns a log on conn. log may be nil.
func New(conn *cluster.Conn, log *slog.Logger) *Log {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Log{conn: conn, log: log}
}

// Begin makes sure that the change which e describes will have an entry. It gives e
// its id and instant. The error is job.ErrUnavailable when that cannot be made sure:
// then the change must not be made.
func (l *Log) Begin(ctx context.Context, e *trail.Entry) error {
	now := time.Now().UTC()
	e.ID, e.At = l.newID(now), now.Truncate(time.Millisecond)
	kv, err := l.bucket(ctx)
	if err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode audit entry: %w", err)
	}
	if _, err := kv.Create(ctx, prefix+e.ID, data); err != nil {
		return fmt.Errorf("begin audit entry: %w", jet.Unavailable(err))
	}
	return nil
}

// An id begins with its instant, in digits of this base.
const (
	idBase        = 32
	instantDigits = 13
)

// TimeOf returns the instant of the entry with an id. ok is false of what is no id.
func TimeOf(id string) (at time.Time, ok bool) {
	if len(id) < instantDigits {
		return at, false
	}
	ns, err := strconv.ParseInt(id[:instantDigits], idBase, 64)
	return time.Unix(0, ns).UTC().Truncate(time.Millisecond), err == nil
}

// newID returns an id that comes after those of earlier changes: entries of one
// millisecond are in their order by it.
func (l *Log) newID(now time.Time) string {
	n := int64(l.counter.Add(1) % (1 << 15))
	return fmt.Sprintf("%0*s%03s%s", instantDigits, strconv.FormatInt(now.UnixNano(), idBase), strconv.FormatInt(n, idBase), strings.ToLower(rand.Text()[:4]))
}

// Drop says that the change was not made, or changed nothing. Should that get lost,
// the entry will say that the outcome is not known.
func (l *Log) Drop(ctx context.Context, e *trail.Entry) {
	if err := l.forget(ctx, e.ID); err != nil {
		l.log.WarnContext(ctx, "audit entry not dropped", "id", e.ID, "error", err)
	}
}

// End stores the entry. Should the bus be away, Run does it later.
func (l *Log) End(ctx context.Context, e *trail.Entry) {
	if err := l.store(ctx, e); err != nil {
		l.log.WarnContext(ctx, "audit entry not stored yet", "id", e.ID, "error", err)
		l.mu.Lock()
		l.late = append(l.late, e)
		l.mu.Unlock()
	}
}

// Run stores entries late, and settles what a server that died has begun, until ctx
// is done; then it returns nil.
func (l *Log) Run(ctx context.Context) error {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		if err := errors.Join(l.storeLate(ctx), l.settle(ctx, time.Now().Add(-settleAfter))); err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "audit not settled", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (l *Log) storeLate(ctx context.Context) error {
	l.mu.Lock()
	late := l.late
	l.late = nil
	l.mu.Unlock()
	for i, e := range late {
		if err := l.store(ctx, e); err != nil {
			l.mu.Lock()
			l.late = append(l.late, late[i:]...)
			l.mu.Unlock()
			return err
		}
	}
	return nil
}

// settle records the changes that were begun before the given instant and not ended.
func (l *Log) settle(ctx context.Context, before time.Time) error {
	var keys []string
	err := l.conn.Entries(ctx, bus.BucketAccess, prefix+">", false, func(e jetstream.KeyValueEntry) error {
		if e.Operation() == jetstream.KeyValuePut {
			keys = append(keys, e.Key())
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list audit entries: %w", err)
	}
	for _, key := range keys {
		entry, err := l.conn.Entry(ctx, bus.BucketAccess, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // ended meanwhile
		}
		if err != nil {
			return fmt.Errorf("read audit entry: %w", err)
		}
		var e trail.Entry
		if err := json.Unmarshal(entry.Value(), &e); err != nil {
			return fmt.Errorf("decode audit entry %s: %w", key, err)
		}
		if !e.At.Before(before) || l.isLate(e.ID) {
			continue
		}
		e.Result = trail.Unknown
		if err := l.store(ctx, &e); err != nil {
			return err
		}
	}
	return nil
}

// isLate reports whether this process knows better how the change ended.
func (l *Log) isLate(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.late {
		if e.ID == id {
			return true
		}
	}
	return false
}

// store puts an entry on the stream, where its id is taken once, and forgets the
// intent.
func (l *Log) store(ctx context.Context, e *trail.Entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode audit entry: %w", err)
	}
	m := bus.NewMessage(bus.SubjectAudit, bus.MessageAudit, data)
	m.Header.Set(nats.MsgIdHdr, e.ID)
	if _, err := l.conn.JS.PublishMsg(ctx, m); err != nil {
		return fmt.Errorf("store audit entry: %w", jet.Unavailable(err))
	}
	return l.forget(ctx, e.ID)
}

func (l *Log) forget(ctx context.Context, id string) error {
	if err := l.conn.Purge(ctx, bus.StreamAccess, "$KV."+bus.BucketAccess+"."+prefix+id); err != nil {
		return fmt.Errorf("forget audit intent: %w", err)
	}
	return nil
}

func (l *Log) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	return l.conn.Bucket(ctx, bus.BucketAccess)
}

// scanned bounds how many entries one search looks at.
const scanned = 20000

// Find returns entries that match, the newest first, at most limit of them, that were
// stored before the given sequence, zero for all. next is where to go on, zero at the
// end; a page may be short, and even empty, before that. Errors: job.ErrUnavailable.
func (l *Log) Find(ctx context.Context, f Filter, before uint64, limit int) (page []trail.Entry, next uint64, err error) {
	looked := 0
	var bad error
	err = l.conn.Read(ctx, jet.Reading{Stream: bus.StreamAudit, Filter: bus.SubjectAudit, NewestFirst: true, Before: before}, func(m *jet.Stored) bool {
		var e trail.Entry
		if err := json.Unmarshal(m.Data, &e); err != nil {
			bad = fmt.Errorf("decode audit entry %d: %w", m.Seq, err)
			return false
		}
		e.Seq = m.Seq
		if !f.From.IsZero() && e.At.Before(f.From.Add(-settleAfter-settleEvery)) {
			next = 0 // entries are stored in order, but for those that were settled
			return false
		}
		if looked++; f.selects(&e) {
			page = append(page, e)
		}
		next = m.Seq
		return len(page) < limit && looked < scanned
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, 0, err
	}
	if len(page) < limit && looked < scanned || next == 1 {
		next = 0
	}
	return page, next, nil
}

// Since returns the entries that match and were stored after the given sequence, the
// oldest first. Errors: job.ErrUnavailable.
func (l *Log) Since(ctx context.Context, f Filter, after uint64) (entries []trail.Entry, err error) {
	var bad error
	err = l.conn.Read(ctx, jet.Reading{Stream: bus.StreamAudit, Filter: bus.SubjectAudit, From: after + 1}, func(m *jet.Stored) bool {
		var e trail.Entry
		if err := json.Unmarshal(m.Data, &e); err != nil {
			bad = fmt.Errorf("decode audit entry %d: %w", m.Seq, err)
			return false
		}
		if e.Seq = m.Seq; f.selects(&e) {
			entries = append(entries, e)
		}
		return true
	})
	return entries, errors.Join(err, bad)
}
