package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// How long a lease lasts, how often its holder renews it, and how much earlier than
// its end the holder stops to believe it.
const (
	LeaseTTL    = 5 * time.Second
	LeaseRenew  = 1500 * time.Millisecond
	LeaseMargin = 500 * time.Millisecond
)

// LeaseRecord is what a key of the LEASE bucket says: who holds it.
type LeaseRecord struct {
	Node string `json:"node"`
	// Since is when it was acquired, by its holder's clock. It is for people.
	Since time.Time `json:"since,omitzero"`
	// Info is for people: the node's address and version.
	Info json.RawMessage `json:"info,omitempty"`
	// Token is the holder's own: a process that comes back to life must not take
	// its successor of the same name for itself.
	Token string `json:"token"`
}

// Lease is a lease that this process holds. It is safe for concurrent use.
//
// A lease only avoids wasted work: what its holder does must be safe when another
// believes to hold it too.
type Lease struct {
	conn *Conn
	kv   jetstream.KeyValue
	key  string
	// Epoch grows with each holder of the key.
	Epoch uint64

	mu       sync.Mutex
	record   LeaseRecord
	revision uint64 // 0: released
	// until counts from before the request was sent. It is a time.Time, which has a
	// monotonic reading: a wall clock that steps must not make a lease last longer.
	until atomic.Value
}

// AcquireLease takes the lease on key for node, if nobody holds it. The error is
// job.ErrConflict when somebody does. It may take a moment longer than ctx: a lease
// that was acquired for nobody would keep others away until it ends.
func (c *Conn) AcquireLease(ctx context.Context, key, node string, info any) (*Lease, error) {
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), LeaseRenew)
	defer cancel()
	l, err := acquireLease(asking, c, key, node, info)
	if err == nil && ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), l.Release(asking))
	}
	return l, err
}

func acquireLease(ctx context.Context, c *Conn, key, node string, info any) (*Lease, error) {
	kv, err := c.Bucket(ctx, bus.BucketLease)
	if err != nil {
		return nil, err
	}
	extra, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("encode lease %s: %w", key, err)
	}
	record := LeaseRecord{Node: node, Since: time.Now().UTC().Truncate(time.Millisecond), Info: extra, Token: nuid.Next()}
	value, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encode lease %s: %w", key, err)
	}
	asked := time.Now()
	rev, err := kv.Create(ctx, key, value, jetstream.KeyTTL(LeaseTTL))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, fmt.Errorf("%w: lease %s is held", job.ErrConflict, key)
	}
	if err != nil {
		return nil, fmt.Errorf("acquire lease %s: %w", key, Unavailable(err))
	}
	l := &Lease{conn: c, kv: kv, key: key, record: record, Epoch: rev, revision: rev}
	l.until.Store(asked.Add(LeaseTTL - LeaseMargin))
	return l, nil
}

// Valid reports whether the holder may believe in the lease at now.
func (l *Lease) Valid(now time.Time) bool { return now.Before(l.Until()) }

// Until returns when the holder stops to believe in the lease.
func (l *Lease) Until() time.Time { return l.until.Load().(time.Time) } //nolint:forcetypeassert // nothing else is stored

// Renew makes the lease last from now on. Errors: job.ErrStale when somebody else
// has it, or it ended; anything else leaves it as it was, and Renew may be tried
// again while it is valid.
func (l *Lease) Renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revision == 0 {
		return fmt.Errorf("%w: lease %s was released", job.ErrStale, l.key)
	}
	err := l.renewLocked(ctx)
	if !LostRace(err) {
		return err
	}
	// Perhaps an earlier renewal did arrive, though its answer did not.
	if err := l.rereadLocked(ctx); err != nil {
		return err
	}
	return l.renewLocked(ctx)
}

func (l *Lease) renewLocked(ctx context.Context) error {
	value, err := json.Marshal(l.record)
	if err != nil {
		return fmt.Errorf("encode lease %s: %w", l.key, err)
	}
	asked := time.Now()
	// Update of the KV client would drop the TTL.
	m := nats.NewMsg("$KV." + bus.BucketLease + "." + l.key)
	m.Data = value
	m.Header.Set("Nats-TTL", LeaseTTL.String())
	m.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(l.revision, 10))
	ack, err := l.conn.JS.PublishMsg(ctx, m)
	if err != nil {
		return fmt.Errorf("renew lease %s: %w", l.key, Unavailable(err))
	}
	l.revision = ack.Sequence
	l.until.Store(asked.Add(LeaseTTL - LeaseMargin))
	return nil
}

// rereadLocked takes in the lease's revision, if it is still ours.
func (l *Lease) rereadLocked(ctx context.Context) error {
	e, err := l.conn.Entry(ctx, bus.BucketLease, l.key)
	if err == nil {
		var is LeaseRecord
		if json.Unmarshal(e.Value(), &is) == nil && is.Token == l.record.Token {
			l.revision = e.Revision()
			return nil
		}
	}
	if err == nil || errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("%w: lease %s was lost", job.ErrStale, l.key)
	}
	return fmt.Errorf("read lease %s: %w", l.key, err)
}

// SetInfo replaces what the lease says of its holder, from the next renewal on.
func (l *Lease) SetInfo(info any) error {
	extra, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("encode lease %s: %w", l.key, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record.Info = extra
	return nil
}

// Release gives the lease back, so that others need not wait for its end. It is not
// valid any more, even if that does not work out. Release does nothing when somebody
// else holds the lease.
func (l *Lease) Release(ctx context.Context) error {
	l.until.Store(time.Time{})
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.revision = 0 }()
	err := l.deleteLocked(ctx)
	if WrongLast(err) {
		if err = l.rereadLocked(ctx); err == nil {
			err = l.deleteLocked(ctx)
		}
	}
	if err == nil || WrongLast(err) || errors.Is(err, job.ErrStale) {
		return nil
	}
	return fmt.Errorf("release lease %s: %w", l.key, Unavailable(err))
}

func (l *Lease) deleteLocked(ctx context.Context) error {
	if l.revision == 0 {
		return nil
	}
	return AfterOthers(ctx, func(ctx context.Context) error { // a renewal that was given up may be in flight
		return l.kv.Delete(ctx, l.key, jetstream.LastRevision(l.revision))
	})
}

// WatchLeases follows all leases: what there is, a nil entry, then every change. The
// end of a lease may go untold when the connection is cut for a minute or more: what
// is not heard of for longer than LeaseTTL has ended.
func (c *Conn) WatchLeases(ctx context.Context) (jetstream.KeyWatcher, error) {
	return c.WatchAll(ctx, bus.BucketLease)
}
